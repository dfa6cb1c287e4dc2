//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"syscall"
	"time"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

// mount is what all nodes of one mount share. It does not change once the mount
// serves, but for what its parts do for themselves.
type mount struct {
	tree nodes.Tree
	// xattrs is nil if there are none to show.
	xattrs   nodes.Xattrer
	uid, gid uint32
	usage    nodes.Usage
	counters counters
	errors   errorLog
	inodes   inodeList
	primer   primer
	nameOnly nameOnly
	// statefulDirs and byEntry make the mount work as on kernels that lack what
	// spares it that: for tests.
	statefulDirs, byEntry bool
}

// node is one inode that the kernel knows of. Everything about it is asked of
// the tree, by the ID that is its inode number; nothing is kept but its place in
// the list of inodes, because there are many of them.
type node struct {
	fusefs.Inode
	m *mount
	// older, newer and listed belong to inodeList.
	older, newer *node
	listed       bool
}

const (
	dirMode  = syscall.S_IFDIR | 0o555
	fileMode = syscall.S_IFREG | 0o444
	// blockSize is what sizes are told in by statfs(2).
	blockSize = 4096
	// nameMax is the longest name, in bytes.
	nameMax = 255
)

func modeOf(k nodes.Kind) uint32 {
	if k == nodes.Dir {
		return dirMode
	}
	return fileMode
}

func (n *node) id() nodes.ID { return nodes.ID(n.StableAttr().Ino) }

// path is what the node is called in messages.
func (n *node) path() string { return "/" + n.Path(n.Root()) }

func (n *node) fail(op string, err error) syscall.Errno { return n.m.fail(op, n.path, err) }

// fill sets what stat(2) shows. A directory has one link, which says that its
// links do not count subdirectories: find(1) would take two as "none below".
func (m *mount) fill(out *fuse.Attr, id nodes.ID, kind nodes.Kind, size int64, mtime time.Time) {
	out.Ino = uint64(id)
	out.Mode = modeOf(kind)
	out.Size = uint64(size)
	out.Nlink = 1
	out.Owner = fuse.Owner{Uid: m.uid, Gid: m.gid}
	sec, nsec := uint64(mtime.Unix()), uint32(mtime.Nanosecond())
	out.Mtime, out.Mtimensec = sec, nsec
	out.Ctime, out.Ctimensec = sec, nsec
	out.Atime, out.Atimensec = sec, nsec
}

// Lookup serves LOOKUP, and READDIRPLUS too: there front has filled in out
// already, from the listing, and the tree need not search for the name again.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	if out.Ino == 0 {
		if errno := n.find(ctx, name, out); errno != 0 {
			return nil, errno
		}
	}
	if old := n.GetChild(name); old != nil && old.StableAttr().Ino == out.Ino {
		return old, 0
	}
	return n.NewInode(ctx, &node{m: n.m}, fusefs.StableAttr{Mode: out.Mode & syscall.S_IFMT, Ino: out.Ino}), 0
}

func (n *node) find(ctx context.Context, name string, out *fuse.EntryOut) syscall.Errno {
	e, err := n.m.tree.Lookup(ctx, n.id(), name)
	if err == nil {
		err = checkEntry(&e)
	}
	if errors.Is(err, nodes.ErrNotExist) {
		return syscall.ENOENT
	}
	if err != nil {
		return n.m.fail("lookup", func() string { return path.Join(n.path(), name) }, err)
	}
	mtime := e.ModTime
	if mtime.IsZero() {
		attr, err := n.m.tree.Attr(ctx, n.id())
		if err != nil {
			return n.fail("getattr", err)
		}
		mtime = attr.ModTime
	}
	n.m.fill(&out.Attr, e.ID, e.Kind, e.Size, mtime)
	return 0
}

// OnForget is told when the kernel has dropped the inode. By then a LOOKUP may
// have registered it anew, and found it listed still; so what is back in use is
// put back, and that looked at again as long as it changes.
func (n *node) OnForget() {
	for {
		n.m.inodes.remove(n)
		if n.gone() {
			return
		}
		n.m.inodes.add(n)
		if !n.gone() {
			return
		}
	}
}

// gone tells that the kernel does not know the inode. A node that was forgotten
// while another took its place keeps a parent, but is no longer its child.
func (n *node) gone() bool {
	if n.Forgotten() { //nolint:staticcheck // NodeOnForgetter tells when, not whether
		return true
	}
	name, parent := n.Parent()
	return parent == nil || parent.GetChild(name) != n.EmbeddedInode()
}

func (n *node) Getattr(ctx context.Context, _ fusefs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	attr, err := n.m.tree.Attr(ctx, n.id())
	if err != nil {
		return n.fail("getattr", err)
	}
	n.m.fill(&out.Attr, n.id(), attr.Kind, attr.Size, attr.ModTime)
	return 0
}

// Open is answered once and never asked again: see Read.
func (n *node) Open(context.Context, uint32) (fusefs.FileHandle, uint32, syscall.Errno) {
	return nil, 0, syscall.ENOSYS
}

// Flush is answered once and never asked again: there is nothing to write back.
func (n *node) Flush(context.Context, fusefs.FileHandle) syscall.Errno { return syscall.ENOSYS }

// Access is for front alone, see front.lookup: the kernel's requests end there.
func (n *node) Access(context.Context, uint32) syscall.Errno {
	n.m.inodes.add(n)
	return 0
}

// Read needs no handle: a node and an offset say it all.
func (n *node) Read(ctx context.Context, _ fusefs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	c, err := n.m.tree.ReadAt(ctx, n.id(), dest, off)
	if c < len(dest) && (err == nil || isEnd(err)) {
		err = n.checkEnd(ctx, off+int64(c))
	}
	if err != nil && !isEnd(err) {
		return nil, n.fail("read", err)
	}
	n.m.counters.readBytes.Add(uint64(c))
	n.m.primer.sawRead()
	return fuse.ReadResultData(dest[:c]), 0
}

// checkEnd sees to it that a tree which finds less than it promised is not taken
// for a short file.
func (n *node) checkEnd(ctx context.Context, end int64) error {
	attr, err := n.m.tree.Attr(ctx, n.id())
	if err == nil && end < attr.Size {
		return fmt.Errorf("%w: the file ends at %d instead of %d", io.ErrUnexpectedEOF, end, attr.Size)
	}
	return err
}

func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	u := n.m.usage
	out.Bsize, out.Frsize = blockSize, blockSize
	out.Blocks = uint64(u.Bytes+blockSize-1) / blockSize
	out.Files = uint64(u.Nodes)
	out.NameLen = nameMax
	return 0
}

// xattrPrefix is what the names of all attributes that a tree has begin with.
const xattrPrefix = "user.lorefs."

// Getxattr asks the tree for its own attributes only. Everything outside user.*
// is "not supported" rather than "not there", because ls(1) takes that as an
// answer for the whole mount and stops asking file by file.
func (n *node) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	switch {
	case n.m.xattrs == nil || !strings.HasPrefix(name, "user."):
		return 0, syscall.ENOTSUP
	case !strings.HasPrefix(name, xattrPrefix):
		return 0, syscall.Errno(fuse.ENOATTR)
	}
	value, err := n.m.xattrs.Xattr(ctx, n.id(), name)
	if err != nil {
		return 0, n.fail("getxattr", fmt.Errorf("%s: %w", name, err))
	}
	if len(value) > len(dest) {
		return uint32(len(value)), syscall.ERANGE
	}
	return uint32(copy(dest, value)), 0
}

func (n *node) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	if n.m.xattrs == nil {
		return 0, 0
	}
	names, err := n.m.xattrs.Xattrs(ctx, n.id())
	if err != nil {
		return 0, n.fail("listxattr", err)
	}
	size := 0
	for _, name := range names {
		size += len(name) + 1
	}
	if size > len(dest) {
		return uint32(size), syscall.ERANGE
	}
	for _, name := range names {
		dest = dest[copy(dest, name):]
		dest[0] = 0
		dest = dest[1:]
	}
	return uint32(size), 0
}
