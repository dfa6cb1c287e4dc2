//go:build linux

package fs_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"lorefs/fs"
	"lorefs/fs/fusetest"
	"lorefs/nodes"
)

// floor is the least that a go-fuse server of a tree can do: its numbers are the kernel's,
// nothing is kept or bounded, every answer is cached for good. The adapter is measured
// relative to it.
type floor struct {
	fuse.RawFileSystem
	tree nodes.Tree
}

// mountFloor mounts a floor with the options that the adapter uses.
func mountFloor(t testing.TB, tree nodes.Tree) (dir string, unmount func()) {
	t.Helper()
	fusetest.Require(t)
	f := &floor{RawFileSystem: fuse.NewDefaultRawFileSystem(), tree: tree}
	dir = t.TempDir()
	server, err := fuse.NewServer(f, dir, &fuse.MountOptions{
		Name: "floor", MaxWrite: 1 << 20, DisableXAttrs: true, ExplicitDataCacheControl: true,
		ExtraCapabilities: fuse.CAP_NO_OPENDIR_SUPPORT, DirectMount: true,
		DirectMountFlags: unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV, Options: []string{"ro"},
	})
	if err != nil {
		fusetest.Failed(t, err)
	}
	go server.Serve()
	unmount = sync.OnceFunc(func() {
		if err := server.Unmount(); err != nil {
			t.Errorf("unmount: %v", err)
			_ = fs.Detach(dir)
		}
	})
	t.Cleanup(unmount)
	return dir, unmount
}

func fillAttr(id nodes.ID, kind nodes.Kind, size int64, out *fuse.Attr) {
	out.Ino, out.Nlink = uint64(id), 1
	if kind == nodes.Dir {
		out.Mode = syscall.S_IFDIR | 0o555
		return
	}
	out.Mode, out.Size = syscall.S_IFREG|0o444, uint64(size)
}

func fillEntry(e nodes.Entry, out *fuse.EntryOut) {
	out.NodeId, out.Generation = uint64(e.ID), 1
	out.SetEntryTimeout(time.Hour)
	out.SetAttrTimeout(time.Hour)
	fillAttr(e.ID, e.Kind, e.Size, &out.Attr)
}

func (f *floor) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	e, err := f.tree.Lookup(context.Background(), nodes.ID(in.NodeId), name)
	if err != nil {
		return fuse.ENOENT
	}
	fillEntry(e, out)
	return fuse.OK
}

func (f *floor) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	a, err := f.tree.Attr(context.Background(), nodes.ID(in.NodeId))
	if err != nil {
		return fuse.EIO
	}
	out.SetTimeout(time.Hour)
	fillAttr(nodes.ID(in.NodeId), a.Kind, a.Size, &out.Attr)
	return fuse.OK
}

func (f *floor) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (f *floor) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (f *floor) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

func (f *floor) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.ENOSYS }

func (f *floor) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	n, err := f.tree.ReadAt(context.Background(), nodes.ID(in.NodeId), buf, int64(in.Offset))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fuse.EIO
	}
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

func (f *floor) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	for e, err := range f.tree.ReadDir(context.Background(), nodes.ID(in.NodeId), in.Offset) {
		if err != nil {
			return fuse.EIO
		}
		mode := uint32(syscall.S_IFREG)
		if e.Kind == nodes.Dir {
			mode = syscall.S_IFDIR
		}
		eo := out.AddDirLookupEntry(fuse.DirEntry{Name: e.Name, Ino: uint64(e.ID), Mode: mode, Off: e.Next})
		if eo == nil {
			break
		}
		fillEntry(e, eo)
	}
	return fuse.OK
}
