//go:build linux

package fs_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/nodes"
)

// empty is what go-fuse's node API makes of a tree's names in the simplest way: an inode for
// each from the beginning, of which nothing is ever dropped, and files without content.
type empty struct {
	fusefs.Inode
	size uint64
}

func (e *empty) Getattr(_ context.Context, _ fusefs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Size, out.Mode = e.size, 0o444
	if e.IsDir() {
		out.Mode = 0o555
	}
	return 0
}

// addTo adds the names below a directory of a tree.
func addTo(t testing.TB, parent *fusefs.Inode, tree nodes.Tree, dir nodes.ID) {
	t.Helper()
	for e, err := range tree.ReadDir(t.Context(), dir, 0) {
		if err != nil {
			t.Error(err)
			return
		}
		one := &empty{size: uint64(max(e.Size, 0))}
		mode := uint32(syscall.S_IFREG)
		if e.Kind == nodes.Dir {
			mode = syscall.S_IFDIR
		}
		child := parent.NewPersistentInode(context.Background(), one, fusefs.StableAttr{Mode: mode, Ino: uint64(e.ID)})
		parent.AddChild(e.Name, child, false)
		if e.Kind == nodes.Dir {
			addTo(t, child, tree, e.ID)
		}
	}
}

// mountEmpty mounts an empty tree with the names of another one.
func mountEmpty(t testing.TB, tree nodes.Tree) (dir string, unmount func()) {
	t.Helper()
	fusetest.Require(t)
	root, hour := &empty{}, time.Hour
	dir = t.TempDir()
	server, err := fusefs.Mount(dir, root, &fusefs.Options{
		EntryTimeout: &hour, AttrTimeout: &hour,
		OnAdd: func(context.Context) { addTo(t, root.EmbeddedInode(), tree, nodes.Root) },
		MountOptions: fuse.MountOptions{
			Name: "empty", DisableXAttrs: true, DirectMount: true,
			DirectMountFlags: unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV, Options: []string{"ro"},
		},
	})
	if err != nil {
		fusetest.Failed(t, err)
	}
	unmount = func() {
		if err := server.Unmount(); err != nil {
			t.Errorf("unmount: %v", err)
			_ = fs.Detach(dir)
		}
	}
	return dir, unmount
}
