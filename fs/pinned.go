//go:build linux || darwin || freebsd

package fs

import (
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

const (
	// pinnedMost is how many files are remembered as changed. Above it all files count as changed.
	pinnedMost = 1 << 20
	// pinnedBytes is the most memory of all pinned contents. A file for which there is no room is
	// read as it is at each READ.
	pinnedBytes = 256 << 20
	// pinnedHandle marks the handles of files that are open for reading and pinned. go-fuse counts
	// its own from 0 on.
	pinnedHandle = 1 << 63
)

// pinned has the files that the tree has changed, otherwise than by writes to them. Such a file is
// read around the kernel's cache, which would mix what it has of several contents: who opens one
// gets the content as it is at the first READ, to the end, however often the file is changed
// meanwhile. Only after the end it is read anew.
//
// A program that had the file open before its first change reads by the cache still. It may get
// the beginning of the old content and the end of the new one, as in any file system, but no size
// that belongs to neither: see mount.isOld.
type pinned struct {
	mu      sync.Mutex
	changed map[nodes.ID]struct{}
	// all is set if too many files were changed.
	all bool
	// opens counts the handles that were given.
	opens   uint64
	handles map[uint64]*pin
	bytes   int64
}

// pin is a file that is open for reading.
type pin struct {
	mu sync.Mutex // held while the content is read
	// content is nil before the first READ, and if there is no room for it.
	content []byte
	tried   bool
	// ended is set when a program has seen the end. If it reads on, it waits for what comes.
	ended bool
}

func (p *pinned) init() {
	p.changed, p.handles = map[nodes.ID]struct{}{}, map[uint64]*pin{}
}

// add records a file as changed.
func (p *pinned) add(file nodes.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all {
		return
	}
	p.changed[file] = struct{}{}
	if p.all = len(p.changed) > pinnedMost; p.all {
		p.changed = nil
	}
}

// has reports whether a file was changed.
func (p *pinned) has(file nodes.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, changed := p.changed[file]
	return changed || p.all
}

// open returns a new handle.
func (p *pinned) open() (handle uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opens++
	handle = pinnedHandle | p.opens
	p.handles[handle] = &pin{}
	return handle
}

func (p *pinned) of(handle uint64) *pin {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.handles[handle]
}

func (p *pinned) release(handle uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.handles[handle]; x != nil {
		p.bytes -= int64(len(x.content))
		delete(p.handles, handle)
	}
}

// room takes memory for a content, if there is some.
func (p *pinned) room(size int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if size > pinnedBytes-p.bytes {
		return false
	}
	p.bytes += size
	return true
}

func isPinned(handle uint64) bool { return handle&pinnedHandle != 0 }

// handleOf returns the handle that go-fuse knows: none for a pinned file.
func (f *front) handleOf(handle uint64) uint64 {
	if isPinned(handle) {
		return 0
	}
	return handle
}

// readPinned answers a READ that goes around the kernel's cache. (One for the cache, such as for a
// file that is mapped, must get what the file holds now, since others share the cache.)
func (f *front) readPinned(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	p := f.m.edits.pinned.of(in.Fh)
	if p == nil {
		return nil, fuse.EBADF
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.tried || p.ended {
		if err := f.pin(p, &fuse.Context{Caller: in.Caller, Cancel: cancel}, nodes.ID(in.NodeId)); err != nil {
			return nil, fuse.Status(f.fail(in.NodeId, "read", err))
		}
	}
	if p.content == nil {
		in.Fh = 0
		return f.RawFileSystem.Read(cancel, in, buf)
	}
	n, _ := nodes.ReadContent(p.content, buf, int64(in.Offset))
	p.ended = n == 0
	f.m.counters.readBytes.Add(uint64(n))
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

// pin reads the content of a file by one call, so that it is one content. The file may change
// before the call or after it, so that the content has another size than the file.
func (f *front) pin(p *pin, ctx *fuse.Context, file nodes.ID) error {
	const tries, spare = 8, 512
	f.m.edits.pinned.room(-int64(len(p.content)))
	p.content = nil
	for range tries {
		attr, err := f.m.tree.Attr(ctx, file)
		if err != nil {
			return err
		}
		size := attr.Size + spare
		if !f.m.edits.pinned.room(size) {
			break
		}
		content := make([]byte, size)
		n, err := f.m.tree.ReadAt(ctx, file, content, 0)
		if err == nil || isEnd(err) {
			attr, err = f.m.tree.Attr(ctx, file)
		}
		switch {
		case err != nil:
			f.m.edits.pinned.room(-size)
			return err
		case int64(n) == attr.Size:
			f.m.edits.pinned.room(int64(n) - size)
			p.content, p.tried = content[:n], true
			return nil
		}
		f.m.edits.pinned.room(-size)
	}
	p.tried = true
	return nil
}
