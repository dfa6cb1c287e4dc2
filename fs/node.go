//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"syscall"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

// mount has what all nodes of one mount share. Its fields do not change while the mount
// serves; some of them have a state of their own.
type mount struct {
	tree nodes.Tree
	root *node
	// xattrs is nil if there are none to show, edits if the mount is read-only.
	xattrs nodes.Xattrer
	edits  *edits
	// xattrAsker is for a mount with neither.
	xattrAsker xattrAsker
	// watched is nil if the tree doesn't change.
	watched  *watched
	uid, gid uint32
	umask    uint32
	usage    nodes.Usage
	counters counters
	errors   errorLog
	inodes   inodeList
	primer   primer
	nameOnly nameOnly
	// statefulDirs and byEntry make the mount work as on old kernels, for tests.
	statefulDirs, byEntry bool
}

// node is one inode that the kernel knows. It keeps only its place in the list of inodes,
// because there are many of them; everything else comes from the tree, by the ID that is
// its inode number.
type node struct {
	fusefs.Inode
	m *mount
	// older, newer and listed belong to inodeList.
	older, newer *node
	listed       bool
}

const (
	// The mode bits for reading, and those added for writing. The umask takes some away.
	dirMode   = 0o555
	fileMode  = 0o444
	linkMode  = 0o777 // never checked: the mode of the target counts
	writeMode = 0o222
	// blockSize is the unit of sizes in statfs(2).
	blockSize = 4096
	// nameMax is the longest name, in bytes.
	nameMax = 255
	// freeBytes is the free space in statfs(2) of a writable tree: enough for tools that
	// check. The tree does not know the real figure.
	freeBytes = 1 << 40
	freeNodes = 1 << 30
)

func typeOf(k nodes.Kind) uint32 {
	switch k {
	case nodes.Dir:
		return syscall.S_IFDIR
	case nodes.Link:
		return syscall.S_IFLNK
	}
	return syscall.S_IFREG
}

func (m *mount) mode(attr *nodes.Attr) uint32 {
	mode := typeOf(attr.Kind)
	switch attr.Kind {
	case nodes.Dir:
		mode |= dirMode
	case nodes.Link:
		return mode | linkMode
	default:
		mode |= fileMode
	}
	if attr.Writable && m.edits != nil {
		mode |= writeMode
	}
	return mode &^ m.umask
}

func (n *node) id() nodes.ID { return nodes.ID(n.StableAttr().Ino) }

// path returns the node's path for messages.
func (n *node) path() string {
	if _, parent := n.Parent(); parent == nil && !n.IsRoot() {
		return fmt.Sprintf("a removed file (inode %d)", n.id())
	}
	return "/" + n.Path(n.Root())
}

func (n *node) fail(op string, err error) syscall.Errno { return n.m.fail(op, n.path, err) }

// fill sets the attributes for stat(2). A directory has one link, which says that its links
// do not count subdirectories. With two, find(1) would assume that there are none.
func (m *mount) fill(out *fuse.Attr, id nodes.ID, attr *nodes.Attr) {
	out.Ino = uint64(id)
	out.Mode = m.mode(attr)
	out.Size = uint64(attr.Size)
	out.Nlink = 1
	if attr.Removed {
		out.Nlink = 0
	}
	setBlocks(out)
	out.Owner = fuse.Owner{Uid: m.uid, Gid: m.gid}
	sec, nsec := uint64(attr.ModTime.Unix()), uint32(attr.ModTime.Nanosecond())
	out.Mtime, out.Mtimensec = sec, nsec
	out.Ctime, out.Ctimensec = sec, nsec
	out.Atime, out.Atimensec = sec, nsec
}

// Lookup serves LOOKUP, and READDIRPLUS too. For the latter front has filled in out already
// from the listing, so that the tree need not search for the name again.
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
	if len(name) > nameMax {
		return syscall.ENAMETOOLONG
	}
	e, err := n.lookup(ctx, name)
	for err == nil && n.m.isOld(e.ID) {
		n.m.watched.notices.awaitInode(ctx.Done(), e.ID)
		if err = ctx.Err(); err == nil {
			e, err = n.lookup(ctx, name)
		}
	}
	if errors.Is(err, nodes.ErrNotExist) {
		return syscall.ENOENT
	}
	if err != nil {
		return n.m.fail("lookup", func() string { return path.Join(n.path(), name) }, err)
	}
	attr := entryAttr(&e)
	if attr.ModTime.IsZero() {
		dir, err := n.m.tree.Attr(ctx, n.id())
		if err != nil {
			return n.fail("getattr", err)
		}
		attr.ModTime = dir.ModTime
	}
	n.m.fill(&out.Attr, e.ID, &attr)
	return 0
}

// lookup returns an entry with its size.
func (n *node) lookup(ctx context.Context, name string) (nodes.Entry, error) {
	e, err := n.m.tree.Lookup(ctx, n.id(), name)
	if err == nil {
		err = checkEntry(&e)
	}
	if err != nil {
		return e, err
	}
	return nodes.WithSize(ctx, n.m.tree, e)
}

// entryAttr returns the attributes in an entry.
func entryAttr(e *nodes.Entry) nodes.Attr {
	return nodes.Attr{Kind: e.Kind, Size: e.Size, ModTime: e.ModTime, Writable: e.Writable}
}

// OnForget is called when the kernel has dropped the inode. A LOOKUP may have registered it
// again by then, while it was still on the list. So a node that is back in use is put back,
// and checked again as long as that changes.
func (n *node) OnForget() {
	for {
		n.m.inodes.remove(n)
		if n.gone() {
			if e := n.m.edits; e != nil && n.IsDir() {
				e.dead.forget(n.id())
			}
			return
		}
		n.m.inodes.add(n)
		if !n.gone() {
			return
		}
	}
}

// gone reports whether the kernel does not know the inode. A node that was forgotten while
// another took its place keeps a parent, but is no longer its child.
func (n *node) gone() bool {
	if n.Forgotten() { //nolint:staticcheck // NodeOnForgetter tells when, not whether
		return true
	}
	name, parent := n.Parent()
	if parent == nil { // removed, but perhaps still open
		return n.Forgotten() //nolint:staticcheck // as above
	}
	return parent.GetChild(name) != n.EmbeddedInode()
}

func (n *node) Getattr(ctx context.Context, _ fusefs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	attr, err := n.m.tree.Attr(ctx, n.id())
	for err == nil && attr.Kind == nodes.File && n.m.isOld(n.id()) {
		n.m.watched.notices.awaitInode(ctx.Done(), n.id())
		if err = ctx.Err(); err == nil {
			attr, err = n.m.tree.Attr(ctx, n.id())
		}
	}
	if err != nil {
		return n.fail("getattr", err)
	}
	n.m.fill(&out.Attr, n.id(), &attr)
	return 0
}

// isOld reports whether the kernel may still hold old content of a file. Until it has dropped that
// it must not learn the size of the new content: it would show zeros behind the old one, or cut it.
func (m *mount) isOld(file nodes.ID) bool { return m.watched != nil && m.watched.notices.isOld(file) }

// Readlink serves READLINK, which the kernel sends each time: targets may change.
func (n *node) Readlink(ctx context.Context) ([]byte, syscall.Errno) {
	target, err := nodes.Readlink(ctx, n.m.tree, n.id())
	if err != nil {
		return nil, n.fail("readlink", err)
	}
	return []byte(target), 0
}

const (
	// The kernel may keep what was read of a file, because it sees all changes or is told
	// of them. A file that was only read has nothing to flush.
	writeFlags = fuse.FOPEN_KEEP_CACHE
	readFlags  = fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH
)

// writes reports whether flags of open(2) ask for writing.
func writes(flags uint32) bool { return flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY }

// Open is answered ENOSYS once at a read-only mount: see Read. Otherwise it is sent for
// each open(2), though reading needs nothing from it.
func (n *node) Open(ctx context.Context, flags uint32) (fusefs.FileHandle, uint32, syscall.Errno) {
	if n.m.edits == nil {
		return nil, 0, syscall.ENOSYS
	}
	if !writes(flags) {
		return nil, readFlags, 0
	}
	ctx = context.WithoutCancel(ctx)
	h, err := n.openWrite(ctx)
	if err != nil {
		return nil, 0, n.failChange("open", n.path(), err)
	}
	if flags&syscall.O_TRUNC != 0 {
		n.m.edits.changes.begin()
		defer n.m.edits.changes.end()
		if err := h.w.Truncate(ctx, 0); err != nil {
			errno := h.fail("truncate", err)
			h.release()
			return nil, 0, errno
		}
	}
	return h, writeFlags, 0
}

// Flush reports to the program that closes a file whether the content fits. A file that was
// only read has nothing to report.
func (n *node) Flush(ctx context.Context, f fusefs.FileHandle) syscall.Errno {
	if n.m.edits == nil {
		return syscall.ENOSYS
	}
	if h, ok := f.(*handle); ok {
		return h.Flush(ctx)
	}
	return 0
}

// Fsync of a file that was opened for reading saves everything.
func (n *node) Fsync(ctx context.Context, f fusefs.FileHandle, flags uint32) syscall.Errno {
	if h, ok := f.(*handle); ok {
		return h.Fsync(ctx, flags)
	}
	if err := n.m.edits.tree.Sync(context.WithoutCancel(ctx)); err != nil {
		return n.failChange("fsync", n.path(), err)
	}
	return 0
}

// Access is only for front.lookup: the kernel's own requests end in front.
func (n *node) Access(context.Context, uint32) syscall.Errno {
	n.m.inodes.add(n)
	return 0
}

// Read needs no handle: a node and an offset are enough.
func (n *node) Read(ctx context.Context, _ fusefs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	since := n.m.now()
	c, err := n.m.tree.ReadAt(ctx, n.id(), dest, off)
	if c < len(dest) && (err == nil || isEnd(err)) && n.m.unchanged(since) {
		err = n.checkEnd(ctx, off+int64(c), since)
	}
	if err != nil && !isEnd(err) {
		var thread uint32
		if c, ok := fuse.FromContext(ctx); ok {
			thread = c.Pid
		}
		return nil, n.m.failFor(thread, "read", n.path, err)
	}
	n.m.counters.readBytes.Add(uint64(c))
	n.m.primer.sawRead(n.id())
	if _, dir := n.Parent(); off == 0 && dir != nil {
		n.m.primer.sawBeginning(nodes.ID(nodeID(dir)))
	}
	return fuse.ReadResultData(dest[:c]), 0
}

// checkEnd returns an error if a tree finds less than it promised, so that it is not taken
// for a short file. A file that grows meanwhile may be found short.
func (n *node) checkEnd(ctx context.Context, end int64, since uint64) error {
	attr, err := n.m.tree.Attr(ctx, n.id())
	if err == nil && end < attr.Size && n.m.unchanged(since) {
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
	if n.m.edits != nil {
		out.Bfree, out.Bavail, out.Ffree = freeBytes/blockSize, freeBytes/blockSize, freeNodes
		out.Blocks += out.Bfree
		out.Files += out.Ffree
	}
	return 0
}
