//go:build linux || darwin || freebsd

package fs

import "github.com/hanwen/go-fuse/v2/fuse"

// Here is everything that would change something. The kernel stops almost all of
// it at a mount that is read-only; what comes through must not be left to go-fuse,
// which takes a node that cannot remove for one that need not do anything.

func (f *front) readOnly() fuse.Status {
	f.m.counters.others.Add(1)
	return fuse.EROFS
}

func (f *front) SetAttr(<-chan struct{}, *fuse.SetAttrIn, *fuse.AttrOut) fuse.Status {
	return f.readOnly()
}

func (f *front) Mknod(<-chan struct{}, *fuse.MknodIn, string, *fuse.EntryOut) fuse.Status {
	return f.readOnly()
}

func (f *front) Mkdir(<-chan struct{}, *fuse.MkdirIn, string, *fuse.EntryOut) fuse.Status {
	return f.readOnly()
}

func (f *front) Unlink(<-chan struct{}, *fuse.InHeader, string) fuse.Status { return f.readOnly() }

func (f *front) Rmdir(<-chan struct{}, *fuse.InHeader, string) fuse.Status { return f.readOnly() }

func (f *front) Rename(<-chan struct{}, *fuse.RenameIn, string, string) fuse.Status {
	return f.readOnly()
}

func (f *front) Link(<-chan struct{}, *fuse.LinkIn, string, *fuse.EntryOut) fuse.Status {
	return f.readOnly()
}

func (f *front) Symlink(<-chan struct{}, *fuse.InHeader, string, string, *fuse.EntryOut) fuse.Status {
	return f.readOnly()
}

func (f *front) SetXAttr(<-chan struct{}, *fuse.SetXAttrIn, string, []byte) fuse.Status {
	return f.readOnly()
}

func (f *front) RemoveXAttr(<-chan struct{}, *fuse.InHeader, string) fuse.Status {
	return f.readOnly()
}

func (f *front) Create(<-chan struct{}, *fuse.CreateIn, string, *fuse.CreateOut) fuse.Status {
	return f.readOnly()
}

func (f *front) Tmpfile(<-chan struct{}, *fuse.CreateIn, *fuse.CreateOut) fuse.Status {
	return f.readOnly()
}

func (f *front) Write(<-chan struct{}, *fuse.WriteIn, []byte) (uint32, fuse.Status) {
	return 0, f.readOnly()
}

func (f *front) Writev(<-chan struct{}, *fuse.WriteIn, [][]byte) (uint32, fuse.Status) {
	return 0, f.readOnly()
}

func (f *front) CopyFileRange(<-chan struct{}, *fuse.CopyFileRangeIn) (uint32, fuse.Status) {
	return 0, f.readOnly()
}

func (f *front) Fallocate(<-chan struct{}, *fuse.FallocateIn) fuse.Status { return f.readOnly() }

// The rest is go-fuse's to answer, and counted.

func (f *front) Readlink(cancel <-chan struct{}, header *fuse.InHeader) ([]byte, fuse.Status) {
	f.m.counters.others.Add(1)
	return f.RawFileSystem.Readlink(cancel, header)
}

func (f *front) Ioctl(cancel <-chan struct{}, in *fuse.IoctlIn, inbuf []byte, out *fuse.IoctlOut, outbuf []byte) fuse.Status {
	f.m.counters.others.Add(1)
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

func (f *front) Release(cancel <-chan struct{}, in *fuse.ReleaseIn) {
	f.m.counters.others.Add(1)
	f.RawFileSystem.Release(cancel, in)
}
