//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"sync/atomic"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

// This file has all requests that change something. At a read-only mount the kernel stops
// nearly all of them. The rest must not reach go-fuse, which would answer OK for a node
// that can't remove.
//
// At a writable mount, each of these counts as a change from before its node sees it until
// after: see [changes].

// edit runs do, if the mount is writable.
func (f *front) edit(counter *atomic.Uint64, do func() fuse.Status) fuse.Status {
	counter.Add(1)
	e := f.m.edits
	if e == nil {
		return fuse.EROFS
	}
	e.changes.begin()
	defer e.changes.end()
	return do()
}

// settled is edit for requests that may change something elsewhere too, as renaming a sheet
// changes nodes. It returns when the kernel has been told of that. Until then the kernel holds
// the directories dirs.
func (f *front) settled(counter *atomic.Uint64, do func() fuse.Status, dirs ...uint64) fuse.Status {
	e := f.m.edits
	if e == nil {
		return f.edit(counter, do)
	}
	var held [2]nodes.ID
	for i, dir := range dirs {
		held[i] = nodes.ID(dir)
	}
	r := e.notices.begin(held)
	defer e.notices.end(r)
	return f.edit(counter, do)
}

// renamed is settled for requests that change names in the directories dirs, whose listings the
// kernel then drops. It sees itself that they are old, but checks that only at the beginning of a
// listing: without this it would go on, in the middle of a new listing, with what another program
// began to list before the edit and has listed to the end since.
func (f *front) renamed(counter *atomic.Uint64, do func() fuse.Status, dirs ...uint64) fuse.Status {
	return f.settled(counter, func() fuse.Status {
		st := do()
		if e := f.m.edits; e != nil && st.Ok() {
			for _, dir := range dirs {
				e.notices.add(nodes.Change{ID: nodes.ID(dir)})
			}
		}
		return st
	}, dirs...)
}

// refuse answers requests that no tree can serve.
func (f *front) refuse(errno fuse.Status) fuse.Status {
	return f.edit(&f.m.counters.others, func() fuse.Status { return errno })
}

// made puts a new inode on the list, see front.lookup.
func (f *front) made(cancel <-chan struct{}, in *fuse.InHeader, st fuse.Status, out *fuse.EntryOut) fuse.Status {
	if !st.Ok() {
		return st
	}
	return f.listNode(cancel, in, out)
}

func (f *front) SetAttr(cancel <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	return f.settled(&f.m.counters.setattrs, func() fuse.Status { return f.RawFileSystem.SetAttr(cancel, in, out) })
}

func (f *front) Mknod(cancel <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.renamed(&f.m.counters.creates, func() fuse.Status {
		return f.made(cancel, &in.InHeader, f.RawFileSystem.Mknod(cancel, in, name, out), out)
	}, in.NodeId)
}

func (f *front) Mkdir(cancel <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.renamed(&f.m.counters.creates, func() fuse.Status {
		return f.made(cancel, &in.InHeader, f.RawFileSystem.Mkdir(cancel, in, name, out), out)
	}, in.NodeId)
}

func (f *front) Create(cancel <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return f.renamed(&f.m.counters.creates, func() fuse.Status {
		return f.made(cancel, &in.InHeader, f.RawFileSystem.Create(cancel, in, name, out), &out.EntryOut)
	}, in.NodeId)
}

func (f *front) Unlink(cancel <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return f.renamed(&f.m.counters.removes, func() fuse.Status { return f.RawFileSystem.Unlink(cancel, in, name) }, in.NodeId)
}

func (f *front) Rmdir(cancel <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return f.renamed(&f.m.counters.removes, func() fuse.Status { return f.RawFileSystem.Rmdir(cancel, in, name) }, in.NodeId)
}

func (f *front) Rename(cancel <-chan struct{}, in *fuse.RenameIn, name, newName string) fuse.Status {
	return f.renamed(&f.m.counters.renames, func() fuse.Status { return f.RawFileSystem.Rename(cancel, in, name, newName) }, in.NodeId, in.Newdir)
}

func (f *front) Link(<-chan struct{}, *fuse.LinkIn, string, *fuse.EntryOut) fuse.Status {
	return f.refuse(fuse.EPERM)
}

func (f *front) Symlink(<-chan struct{}, *fuse.InHeader, string, string, *fuse.EntryOut) fuse.Status {
	return f.refuse(fuse.EPERM)
}

func (f *front) SetXAttr(cancel <-chan struct{}, in *fuse.SetXAttrIn, attr string, data []byte) fuse.Status {
	return f.settled(&f.m.counters.xattrs, func() fuse.Status { return f.RawFileSystem.SetXAttr(cancel, in, attr, data) }, in.NodeId)
}

func (f *front) RemoveXAttr(cancel <-chan struct{}, in *fuse.InHeader, attr string) fuse.Status {
	return f.settled(&f.m.counters.xattrs, func() fuse.Status { return f.RawFileSystem.RemoveXAttr(cancel, in, attr) }, in.NodeId)
}

// atEnd has what is appended written at the end that the file has. The kernel gives the end that
// it knew last: when it is told that the file was changed elsewhere it forgets the size for
// stat(2), but not for this.
func (f *front) atEnd(in *fuse.WriteIn) {
	if in.Flags&syscall.O_APPEND == 0 {
		return
	}
	id := nodes.ID(in.NodeId)
	attr, err := f.m.tree.Attr(context.Background(), id)
	if err != nil || uint64(attr.Size) == in.Offset {
		return // the write tells the error
	}
	in.Offset = uint64(attr.Size)
	f.m.edits.notice(nodes.Change{ID: id}) // the kernel has the bytes in another place
}

func (f *front) Write(cancel <-chan struct{}, in *fuse.WriteIn, data []byte) (n uint32, st fuse.Status) {
	st = f.edit(&f.m.counters.writes, func() (st fuse.Status) {
		f.atEnd(in)
		n, st = f.RawFileSystem.Write(cancel, in, data)
		return st
	})
	return n, st
}

func (f *front) Writev(cancel <-chan struct{}, in *fuse.WriteIn, data [][]byte) (n uint32, st fuse.Status) {
	st = f.edit(&f.m.counters.writes, func() (st fuse.Status) {
		f.atEnd(in)
		n, st = f.RawFileSystem.Writev(cancel, in, data)
		return st
	})
	return n, st
}

// Flush is answered ENOSYS once, unless the mount is writable. Closing a file commits its
// content, so the answer waits until the kernel knows what else that has changed.
func (f *front) Flush(cancel <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	if f.m.edits == nil {
		return f.never()
	}
	return f.settled(&f.m.counters.flushes, func() fuse.Status { return f.RawFileSystem.Flush(cancel, in) })
}

// Fsync and FsyncDir are answered ENOSYS once, too, unless there is something to save.
func (f *front) Fsync(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if f.m.edits == nil {
		return f.never()
	}
	in.Fh = f.handleOf(in.Fh)
	return f.settled(&f.m.counters.syncs, func() fuse.Status { return f.RawFileSystem.Fsync(cancel, in) })
}

// FsyncDir is also sent for sync(1) of the mount point.
func (f *front) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if f.m.edits == nil {
		return f.never()
	}
	f.m.counters.syncs.Add(1)
	if err := f.m.edits.tree.Sync(context.Background()); err != nil {
		return fuse.Status(f.fail(in.NodeId, "sync", err))
	}
	return fuse.OK
}

func (f *front) Release(cancel <-chan struct{}, in *fuse.ReleaseIn) {
	if isPinned(in.Fh) {
		f.m.counters.releases.Add(1)
		f.m.edits.pinned.release(in.Fh)
		return
	}
	_ = f.edit(&f.m.counters.releases, func() fuse.Status {
		f.RawFileSystem.Release(cancel, in)
		return fuse.OK
	})
}

// After ENOSYS these are never sent again, and the kernel returns ENOTSUP to callers, or
// copies by itself.

func (f *front) Tmpfile(<-chan struct{}, *fuse.CreateIn, *fuse.CreateOut) fuse.Status {
	return f.refuse(fuse.ENOSYS)
}

func (f *front) CopyFileRange(<-chan struct{}, *fuse.CopyFileRangeIn) (uint32, fuse.Status) {
	return 0, f.refuse(fuse.ENOSYS)
}

func (f *front) Fallocate(<-chan struct{}, *fuse.FallocateIn) fuse.Status {
	return f.refuse(fuse.ENOSYS)
}

// These are counted, and answered by go-fuse.

func (f *front) Readlink(cancel <-chan struct{}, header *fuse.InHeader) ([]byte, fuse.Status) {
	f.m.counters.others.Add(1)
	return f.RawFileSystem.Readlink(cancel, header)
}

func (f *front) Ioctl(cancel <-chan struct{}, in *fuse.IoctlIn, inbuf []byte, out *fuse.IoctlOut, outbuf []byte) fuse.Status {
	f.m.counters.others.Add(1)
	in.Fh = f.handleOf(in.Fh)
	return f.RawFileSystem.Ioctl(cancel, in, inbuf, out, outbuf)
}

func (f *front) GetLk(cancel <-chan struct{}, in *fuse.LkIn, out *fuse.LkOut) fuse.Status {
	f.m.counters.others.Add(1)
	return f.RawFileSystem.GetLk(cancel, in, out)
}

func (f *front) SetLk(cancel <-chan struct{}, in *fuse.LkIn) fuse.Status {
	f.m.counters.others.Add(1)
	return f.RawFileSystem.SetLk(cancel, in)
}

func (f *front) SetLkw(cancel <-chan struct{}, in *fuse.LkIn) fuse.Status {
	f.m.counters.others.Add(1)
	return f.RawFileSystem.SetLkw(cancel, in)
}
