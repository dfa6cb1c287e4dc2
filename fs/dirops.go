//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"errors"
	"path"
	"syscall"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

// Requests that create, remove and rename entries. Meanwhile the kernel holds a lock on the
// directories, so that nobody looks up names in them or lists them. go-fuse moves its nodes
// afterwards.

// failName is failChange for a name in the directory n.
func (n *node) failName(op, name string, err error) syscall.Errno {
	return n.failChange(op, path.Join(n.path(), name), err)
}

// adopt makes the inode of a newly created entry.
func (n *node) adopt(ctx context.Context, e nodes.Entry, out *fuse.Attr) (*node, error) {
	attr, err := n.m.tree.Attr(ctx, e.ID)
	if err == nil {
		err = checkEntry(&e)
	}
	if err != nil {
		return nil, err
	}
	n.m.fill(out, e.ID, &attr)
	child := &node{m: n.m}
	n.NewInode(ctx, child, fusefs.StableAttr{Mode: out.Mode & syscall.S_IFMT, Ino: out.Ino})
	return child, nil
}

// Mkdir implements fusefs.NodeMkdirer.
func (n *node) Mkdir(ctx context.Context, name string, _ uint32, out *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	ctx = context.WithoutCancel(ctx)
	e, err := n.m.edits.tree.Mkdir(ctx, n.id(), name)
	if err != nil {
		return nil, n.failName("mkdir", name, err)
	}
	child, err := n.adopt(ctx, e, &out.Attr)
	if err != nil {
		return nil, n.failName("mkdir", name, err)
	}
	return child.EmbeddedInode(), 0
}

// Mknod implements fusefs.NodeMknoder. There are no devices, pipes or sockets.
func (n *node) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	if kind := mode & syscall.S_IFMT; kind != 0 && kind != syscall.S_IFREG {
		return nil, syscall.EPERM
	}
	ctx = context.WithoutCancel(ctx)
	e, err := n.m.edits.tree.Create(ctx, n.id(), name)
	if err != nil {
		return nil, n.failName("create", name, err)
	}
	child, err := n.adopt(ctx, e, &out.Attr)
	if err != nil {
		return nil, n.failName("create", name, err)
	}
	return child.EmbeddedInode(), 0
}

// Create implements fusefs.NodeCreater: it makes a file and opens it. If the name has been
// created since the kernel looked, and the caller accepts an existing file, Create returns
// ESTALE, on which the kernel looks again and opens the file.
func (n *node) Create(
	ctx context.Context, name string, flags, _ uint32, out *fuse.EntryOut,
) (*fusefs.Inode, fusefs.FileHandle, uint32, syscall.Errno) {
	ctx = context.WithoutCancel(ctx)
	e, err := n.m.edits.tree.Create(ctx, n.id(), name)
	if errors.Is(err, nodes.ErrExist) && flags&syscall.O_EXCL == 0 {
		// Otherwise the tree refuses the name for another reason, and would do so again.
		if _, err := n.m.tree.Lookup(ctx, n.id(), name); err == nil {
			return nil, nil, 0, syscall.ESTALE
		}
	}
	if err != nil {
		return nil, nil, 0, n.failName("create", name, err)
	}
	child, err := n.adopt(ctx, e, &out.Attr)
	if err != nil {
		return nil, nil, 0, n.failName("create", name, err)
	}
	if !writes(flags &^ syscall.O_TRUNC) {
		return child.EmbeddedInode(), nil, readFlags, 0
	}
	h, err := child.openWrite(ctx)
	if err != nil { // it was not made at all
		err = errors.Join(err, n.m.edits.tree.Remove(ctx, n.id(), name, nodes.File))
		return nil, nil, 0, n.failName("create", name, err)
	}
	return child.EmbeddedInode(), h, writeFlags, 0
}

// Unlink implements fusefs.NodeUnlinker.
func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	return n.remove(ctx, "remove", name, nodes.File)
}

// Rmdir implements fusefs.NodeRmdirer.
func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	return n.remove(ctx, "rmdir", name, nodes.Dir)
}

func (n *node) remove(ctx context.Context, op, name string, kind nodes.Kind) syscall.Errno {
	err := n.m.edits.tree.Remove(context.WithoutCancel(ctx), n.id(), name, kind)
	if err != nil {
		return n.failName(op, name, err)
	}
	n.died(name)
	return 0
}

// died records that the kernel removes what has a name, if it is a directory.
func (n *node) died(name string) {
	if child := n.GetChild(name); child != nil && child.IsDir() {
		n.m.edits.dead.add(child.Operations().(*node))
	}
}

const (
	renameNoReplace = 1
	renameExchange  = fusefs.RENAME_EXCHANGE
)

// Rename implements fusefs.NodeRenamer.
func (n *node) Rename(ctx context.Context, name string, to fusefs.InodeEmbedder, toName string, flags uint32) syscall.Errno {
	toDir, ok := to.(*node)
	mode, known := renameModes[flags]
	if !ok || !known {
		return syscall.EINVAL
	}
	err := n.m.edits.tree.Rename(context.WithoutCancel(ctx), n.id(), name, toDir.id(), toName, mode)
	if err != nil {
		return toDir.failName("rename", toName, err)
	}
	if mode == nodes.RenameReplace {
		toDir.died(toName)
	}
	return 0
}

var renameModes = map[uint32]nodes.RenameMode{
	0: nodes.RenameReplace, renameNoReplace: nodes.RenameKeep, renameExchange: nodes.RenameExchange,
}
