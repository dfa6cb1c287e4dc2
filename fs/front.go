//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

// front stands between the kernel and go-fuse's node API. It counts requests and answers
// listings. Everything else goes through to the nodes.
//
// Listings are answered here because the node API ties them to a handle. That costs an
// OPENDIR and a RELEASEDIR for each directory, and makes the kernel list directories again
// that it has cached. With the tree's cursors as offsets no handle is needed: OPENDIR is
// answered ENOSYS once, and a second listing of a directory takes no request.
type front struct {
	fuse.RawFileSystem
	m *mount
	// statelessDirs says that the kernel accepts ENOSYS as answer to OPENDIR. Init sets it,
	// before the first other request.
	statelessDirs bool
	// life is done when the mount is gone; background ends after it.
	life       context.Context
	end        context.CancelFunc
	background sync.WaitGroup
}

// nodeID returns the kernel's number of an inode. It is its ID, see
// [fusefs.Options.ExternalNodeID], and always 1 for the root, like [nodes.Root].
func nodeID(n *fusefs.Inode) uint64 { return n.StableAttr().Ino }

// Init is called with the server when the kernel has sent its capabilities.
func (f *front) Init(s *fuse.Server) {
	f.RawFileSystem.Init(s)
	f.statelessDirs = !f.m.statefulDirs && hasNoOpendir(s.KernelSettings())
	f.background.Go(func() { f.m.prune(f.life, s) })
	f.background.Go(func() { f.m.primer.run(f.life, f.m, s) })
	if f.m.watched != nil {
		f.m.watched.notices.serve(true)
		f.background.Go(func() { f.m.notify(f.life, s) })
	}
}

// OnUnmount is called after the last request.
func (f *front) OnUnmount() {
	f.end()
	f.background.Wait()
	f.RawFileSystem.OnUnmount()
}

func (f *front) Lookup(cancel <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	f.m.counters.lookups.Add(1)
	since := f.m.now()
	st := f.lookup(cancel, header, name, out)
	for !f.m.unchanged(since) && st.Ok() && f.isGone(out.NodeId) {
		// It was removed before the kernel knew it, and can't be read any more.
		f.forget(out.NodeId, 1)
		*out = fuse.EntryOut{}
		since = f.m.now()
		st = f.lookup(cancel, header, name, out)
	}
	if !f.m.unchanged(since) {
		out.SetEntryTimeout(0)
		out.SetAttrTimeout(0)
	}
	if st.Ok() && out.Mode&syscall.S_IFMT == syscall.S_IFREG {
		f.m.nameOnly.sawLookup()
	}
	return st
}

// lookup registers a node and then puts it on the list of inodes. The order matters: nodes
// on the list must be known to the kernel, and if two nodes race to be registered one is
// dropped. go-fuse has no way from a number to its node but a request, so lookup sends an
// ACCESS, because the kernel's own ACCESS requests end in front.
func (f *front) lookup(cancel <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	st := f.RawFileSystem.Lookup(cancel, header, name, out)
	if !st.Ok() || out.NodeId == 0 { // the name may not exist
		return st
	}
	return f.listNode(cancel, header, out)
}

// isGone reports whether a node was removed.
func (f *front) isGone(id uint64) bool {
	if f.m.edits == nil || id == 0 {
		return false
	}
	attr, err := f.m.tree.Attr(f.life, nodes.ID(id))
	return errors.Is(err, nodes.ErrNotExist) || err == nil && attr.Removed
}

// listNode puts the node of an answer on the list of inodes.
func (f *front) listNode(cancel <-chan struct{}, header *fuse.InHeader, out *fuse.EntryOut) fuse.Status {
	if e := f.m.edits; e != nil {
		e.refs.add(nodes.ID(out.NodeId))
		out.Generation += e.dead.generation(nodes.ID(out.NodeId))
	}
	in := fuse.AccessIn{InHeader: *header}
	in.NodeId = out.NodeId
	return f.RawFileSystem.Access(cancel, &in)
}

func (f *front) Forget(nodeid, nlookup uint64) {
	f.m.counters.forgets.Add(1)
	f.forget(nodeid, nlookup)
}

func (f *front) forget(nodeid, nlookup uint64) {
	f.RawFileSystem.Forget(nodeid, nlookup)
	if e := f.m.edits; e != nil {
		e.refs.drop(nodes.ID(nodeid), nlookup, e.tree.Forget)
	}
}

func (f *front) GetAttr(cancel <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	f.m.counters.getattrs.Add(1)
	if isPinned(in.Fh()) {
		in.Flags_ &^= fuse.FUSE_GETATTR_FH
	}
	return f.RawFileSystem.GetAttr(cancel, in, out)
}

func (f *front) Open(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	f.m.counters.opens.Add(1)
	if e := f.m.edits; e != nil && !writes(in.Flags) && e.pinned.has(nodes.ID(in.NodeId)) {
		out.Fh = e.pinned.open()
		out.OpenFlags = fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH
		return fuse.OK
	}
	return f.RawFileSystem.Open(cancel, in, out)
}

func (f *front) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	f.m.counters.reads.Add(1)
	if isPinned(in.Fh) && in.ReadFlags&fuse.READ_LOCKOWNER != 0 {
		return f.readPinned(cancel, in, buf)
	}
	in.Fh = f.handleOf(in.Fh)
	return f.RawFileSystem.Read(cancel, in, buf)
}

func (f *front) GetXAttr(cancel <-chan struct{}, header *fuse.InHeader, attr string, dest []byte) (uint32, fuse.Status) {
	f.m.counters.xattrs.Add(1)
	if f.m.xattrs == nil && f.m.xattrAsker.asksForEach(header.Pid) {
		return 0, fuse.ENOSYS
	}
	return f.RawFileSystem.GetXAttr(cancel, header, attr, dest)
}

func (f *front) ListXAttr(cancel <-chan struct{}, header *fuse.InHeader, dest []byte) (uint32, fuse.Status) {
	f.m.counters.xattrs.Add(1)
	if f.m.xattrs == nil {
		return 0, fuse.ENOSYS
	}
	return f.RawFileSystem.ListXAttr(cancel, header, dest)
}

func (f *front) StatFs(cancel <-chan struct{}, in *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	f.m.counters.others.Add(1)
	return f.RawFileSystem.StatFs(cancel, in, out)
}

func (f *front) OpenDir(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	f.m.counters.opendirs.Add(1)
	if f.statelessDirs {
		return fuse.ENOSYS
	}
	out.OpenFlags = fuse.FOPEN_CACHE_DIR | fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

// ReleaseDir does nothing. The node API must not see it, because it has no handle.
func (f *front) ReleaseDir(*fuse.ReleaseIn) { f.m.counters.others.Add(1) }

// These requests are answered ENOSYS once and then never sent again: no file has holes,
// statx has nothing to add to GETATTR, and the kernel admits only the mounting user or
// checks the modes itself ([Options.AllowOther]).

func (f *front) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return f.never() }

func (f *front) Lseek(<-chan struct{}, *fuse.LseekIn, *fuse.LseekOut) fuse.Status { return f.never() }

func (f *front) Statx(<-chan struct{}, *fuse.StatxIn, *fuse.StatxOut) fuse.Status { return f.never() }

func (f *front) never() fuse.Status {
	f.m.counters.others.Add(1)
	return fuse.ENOSYS
}

func (f *front) ReadDir(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.list(cancel, in, func(_ *nodes.Entry, de fuse.DirEntry) bool { return out.AddDirEntry(de) })
}

// ReadDirPlus lists entries with their attributes, and so creates an inode for each. For an
// entry without attributes the kernel gets only the name.
func (f *front) ReadDirPlus(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	f.m.inodes.throttle()
	crowded := f.m.inodes.crowded()
	dirTime := sync.OnceValues(func() (time.Time, bool) { return f.modTime(cancel, in) })
	since := f.m.now()
	var full []*fuse.EntryOut // answers with attributes, if they may change
	st := f.list(cancel, in, func(e *nodes.Entry, de fuse.DirEntry) bool {
		eo := out.AddDirLookupEntry(de)
		if eo == nil {
			return false
		}
		if e.Size == nodes.UnknownSize || e.Kind == nodes.File && (f.m.isOld(e.ID) || f.m.nameOnly.next(crowded)) {
			f.m.counters.nameOnly.Add(1)
			return true
		}
		attr := entryAttr(e)
		if attr.ModTime.IsZero() {
			var ok bool
			if attr.ModTime, ok = dirTime(); !ok {
				f.m.counters.nameOnly.Add(1)
				return true
			}
		}
		f.m.fill(&eo.Attr, e.ID, &attr)
		if f.lookup(cancel, &in.InHeader, e.Name, eo).Ok() {
			full = append(full, eo)
		} else {
			*eo = fuse.EntryOut{}
		}
		return true
	})
	if !f.m.unchanged(since) {
		for _, eo := range full {
			eo.SetEntryTimeout(0)
			eo.SetAttrTimeout(0)
		}
	}
	return st
}

// modTime returns the time of the directory that is being listed.
func (f *front) modTime(cancel <-chan struct{}, in *fuse.ReadIn) (mtime time.Time, ok bool) {
	attr, err := f.m.tree.Attr(&fuse.Context{Caller: in.Caller, Cancel: cancel}, nodes.ID(in.NodeId))
	if err != nil {
		_ = f.fail(in.NodeId, "getattr", err) // the names can be listed all the same
	}
	return attr.ModTime, err == nil
}

// list calls add with the entries from in.Offset on, until it takes no more. An error
// behind the first entry is left to the next request, which starts there.
func (f *front) list(cancel <-chan struct{}, in *fuse.ReadIn, add func(*nodes.Entry, fuse.DirEntry) bool) fuse.Status {
	f.m.counters.readdirs.Add(1)
	ctx := &fuse.Context{Caller: in.Caller, Cancel: cancel}
	n := 0
	for e, err := range f.m.tree.ReadDir(ctx, nodes.ID(in.NodeId), in.Offset) {
		if err == nil {
			err = errors.Join(checkEntry(&e), checkNext(&e))
		}
		if err != nil {
			if n > 0 {
				return fuse.OK
			}
			return fuse.Status(f.fail(in.NodeId, "readdir", err))
		}
		n++
		if !add(&e, fuse.DirEntry{Name: e.Name, Ino: uint64(e.ID), Mode: typeOf(e.Kind), Off: e.Next}) {
			return fuse.OK
		}
	}
	if n == 0 && in.Offset != 0 {
		// Only now does the kernel surely know everything that was listed.
		f.m.primer.sawListing(nodes.ID(in.NodeId))
	}
	return fuse.OK
}

// checkEntry refuses entries for which the kernel would reject the whole listing, or on
// which go-fuse would panic. No tree should have them, listed or looked up.
func checkEntry(e *nodes.Entry) error {
	switch {
	case e.Name == "" || e.Name == "." || e.Name == ".." || len(e.Name) > nameMax || strings.ContainsAny(e.Name, "/\x00"):
		return fmt.Errorf("internal error: %q is no name for a file", e.Name)
	case e.ID <= nodes.Root || e.ID > nodes.MaxID:
		return fmt.Errorf("internal error: %q has the number %d", e.Name, e.ID)
	}
	return nil
}

// checkNext checks the field that only listings have.
func checkNext(e *nodes.Entry) error {
	if e.Next == 0 || e.Next > maxOffset {
		return fmt.Errorf("internal error: the cursor behind %q is %d", e.Name, e.Next)
	}
	return nil
}

// maxOffset is the highest offset in a directory, because the kernel uses a signed number.
const maxOffset = 1<<63 - 1

// fail is node.fail if only the node's number is known.
func (f *front) fail(id uint64, op string, err error) syscall.Errno {
	return f.m.fail(op, func() string {
		if n := f.m.inodes.find(id); n != nil {
			return n.path()
		}
		return "/"
	}, err)
}
