//go:build linux || darwin || freebsd

package fs

import (
	"context"
	"math"
	"slices"
	"sync"
	"syscall"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"lorefs/nodes"
)

// handle is a file that is open for writing. Reading needs no handle.
//
// A signal to the caller does not interrupt a change, since it would be unknown how much of
// it has happened. So the tree gets a context that is never canceled.
type handle struct {
	n *node
	w nodes.Writer
	// mu is held for reading while a request other than this handle's uses w, which it may
	// unless released is set.
	mu       sync.RWMutex
	released bool
}

// openFiles has the handles of each file. Whoever changes a file is registered here before
// he begins and until he is done. That keeps the primer away from the file.
type openFiles struct {
	mu      sync.Mutex
	handles map[nodes.ID][]*handle
}

func (o *openFiles) init() { o.handles = map[nodes.ID][]*handle{} }

func (o *openFiles) add(h *handle) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.handles[h.n.id()] = append(o.handles[h.n.id()], h)
}

func (o *openFiles) remove(h *handle) {
	o.mu.Lock()
	defer o.mu.Unlock()
	id := h.n.id()
	rest := slices.DeleteFunc(o.handles[id], func(other *handle) bool { return other == h })
	if o.handles[id] = rest; len(rest) == 0 {
		delete(o.handles, id)
	}
}

// of returns the handles of a file.
func (o *openFiles) of(id nodes.ID) []*handle {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.handles[id])
}

// len returns how many handles there are.
func (o *openFiles) len() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, handles := range o.handles {
		n += len(handles)
	}
	return n
}

// unlessOpen calls f if nobody has the file open for writing. Opening it for writing waits
// until f is done.
func (o *openFiles) unlessOpen(id nodes.ID, f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.handles[id]) == 0 {
		f()
	}
}

// openWrite opens the node for writing.
func (n *node) openWrite(ctx context.Context) (*handle, error) {
	w, err := n.m.edits.tree.OpenWrite(ctx, n.id())
	if err != nil {
		return nil, err
	}
	h := &handle{n: n, w: w}
	n.m.edits.open.add(h)
	return h, nil
}

// fail is node.fail for a change after which the kernel's cache of the file may be wrong,
// because a tree that refuses a value shows the one before.
func (h *handle) fail(op string, err error) syscall.Errno {
	h.n.m.edits.notice(nodes.Change{ID: h.n.id()})
	return h.n.failChange(op, h.n.path(), err)
}

// Write implements fusefs.FileWriter.
func (h *handle) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	c, err := h.w.WriteAt(context.WithoutCancel(ctx), data, off)
	if err != nil && c == 0 {
		return 0, h.fail("write", err)
	}
	return uint32(c), 0
}

// Writev implements fusefs.FileWritever, for data in pieces.
func (h *handle) Writev(ctx context.Context, data [][]byte, off int64) (uint32, syscall.Errno) {
	total := uint32(0)
	for _, p := range data {
		c, errno := h.Write(ctx, p, off+int64(total))
		total += c
		if errno != 0 && total == 0 {
			return 0, errno
		}
		if int(c) < len(p) {
			break
		}
	}
	return total, 0
}

// Flush implements fusefs.FileFlusher, for close(2).
func (h *handle) Flush(ctx context.Context) syscall.Errno {
	if err := h.w.Flush(context.WithoutCancel(ctx)); err != nil {
		return h.fail("close", err)
	}
	return 0
}

// Fsync implements fusefs.FileFsyncer.
func (h *handle) Fsync(ctx context.Context, _ uint32) syscall.Errno {
	if err := h.w.Sync(context.WithoutCancel(ctx)); err != nil {
		return h.fail("fsync", err)
	}
	return 0
}

// Release implements fusefs.FileReleaser. Nobody waits for it.
func (h *handle) Release(context.Context) syscall.Errno {
	h.release()
	return 0
}

func (h *handle) release() {
	h.mu.Lock()
	h.released = true
	h.mu.Unlock()
	if err := h.w.Release(); err != nil {
		_ = h.fail("close", err) // for status; the program has gone on
	}
	h.n.m.edits.open.remove(h)
}

// truncate cuts the file by this handle, unless that was released meanwhile.
func (h *handle) truncate(ctx context.Context, size int64) (done bool, err error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.released {
		return false, nil
	}
	return true, h.w.Truncate(ctx, size)
}

// truncate cuts or extends a file. by is nil for truncate(2) of a path.
//
// Without CAP_ATOMIC_O_TRUNC open(2) truncates by the same request, without its handle.
// Then any handle will do, since all change the same content and the next write comes by
// one of them. Without any handle the new content is flushed at once, so that the caller
// gets the error. The empty write before tells the tree that no other write will come.
func (n *node) truncate(ctx context.Context, by *handle, size uint64) syscall.Errno {
	if size > math.MaxInt64 {
		return syscall.EFBIG
	}
	others := n.m.edits.open.of(n.id())
	if by != nil {
		others = []*handle{by}
	}
	for _, h := range others {
		if done, err := h.truncate(ctx, int64(size)); done && err != nil {
			return h.fail("truncate", err)
		} else if done {
			return 0
		}
	}
	h, err := n.openWrite(ctx)
	if err != nil {
		return n.failChange("truncate", n.path(), err)
	}
	defer h.release()
	if _, err = h.truncate(ctx, int64(size)); err == nil {
		_, err = h.w.WriteAt(ctx, nil, int64(size))
	}
	if err == nil {
		err = h.w.Flush(ctx)
	}
	if err != nil {
		return h.fail("truncate", err)
	}
	return 0
}

// Setattr sets size and time. It accepts modes and owners and ignores them, because tools
// copy them and would only fail.
func (n *node) Setattr(ctx context.Context, f fusefs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	ctx = context.WithoutCancel(ctx)
	if size, ok := in.GetSize(); ok {
		h, _ := f.(*handle)
		if errno := n.truncate(ctx, h, size); errno != 0 {
			return errno
		}
	} else if mtime, ok := in.GetMTime(); ok {
		if err := n.m.edits.tree.SetModTime(ctx, n.id(), mtime); err != nil {
			return n.failChange("set the time", n.path(), err)
		}
	}
	errno := n.Getattr(ctx, nil, out)
	out.SetTimeout(cacheTimeout) // go-fuse does not, and the kernel would ask again
	return errno
}
