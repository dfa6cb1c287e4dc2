// Package leave lets callers of a tree leave as soon as their contexts end, although what is
// below the tree reads its source without a context, as formats do that are mostly read from
// this machine. Such a tree must not keep anybody waiting for a server that sends nothing.
//
// Each call is made in a goroutine of its own. Who leaves a call lets it go on alone. When the
// last one has left who waited for anything, the reads of the source are ended, and with them
// the calls that were left.
package leave

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"

	"lorefs/internal/flight"
	"lorefs/nodes"
)

const (
	// maxEntries is how many entries of a directory are gathered at once.
	maxEntries = 1 << 10
	// maxTries is how often a call is made that was ended for somebody else.
	maxTries = 4
)

// Tree is a tree that callers can leave.
type Tree struct {
	under nodes.Tree
	end   func()
	caps  nodes.Caps
	calls flight.Group[uint64, any]

	mu sync.Mutex // guards the rest; never held while a call is made
	// number counts the calls.
	number uint64
	// waiting is how many callers wait, and left how many calls nobody waits for any more.
	waiting, left int
}

var (
	_ nodes.Xattrer  = (*Tree)(nil)
	_ nodes.Linker   = (*Tree)(nil)
	_ nodes.Streamer = (*Tree)(nil)
	_ nodes.Changing = (*Tree)(nil)
	_ nodes.Capable  = (*Tree)(nil)
)

// New returns the read-only part of a tree. end ends the reads of its source that are going on,
// with errors that match [context.Canceled], and none that begin later.
func New(under nodes.Tree, end func()) *Tree {
	t := &Tree{under: under, end: end}
	if _, ok := nodes.Xattrs(under); ok {
		t.caps |= nodes.CapXattr
	}
	if _, ok := nodes.Links(under); ok {
		t.caps |= nodes.CapLink
	}
	if _, ok := nodes.Changes(under); ok {
		t.caps |= nodes.CapChange
	}
	return t
}

// Caps implements [nodes.Capable].
func (t *Tree) Caps() nodes.Caps { return t.caps }

// Watch implements [nodes.Changing].
func (t *Tree) Watch(f func(nodes.Change)) {
	if c, ok := nodes.Changes(t.under); ok {
		c.Watch(f)
	}
}

// Usage implements [nodes.Tree].
func (t *Tree) Usage() nodes.Usage { return t.under.Usage() }

// call makes a call, and leaves it when ctx ends.
func call[T any](ctx context.Context, t *Tree, work func(context.Context) (T, error)) (value T, err error) {
	for range maxTries {
		value, err = callOnce(ctx, t, work)
		if ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			break // or else it shared a read that was ended for one who left
		}
	}
	return value, err
}

func callOnce[T any](ctx context.Context, t *Tree, work func(context.Context) (T, error)) (T, error) {
	number := t.enter()
	state := new(progress)
	defer t.exit(state) // also if the call panics
	got, err := t.calls.Do(ctx, number, func(ctx context.Context) (any, error) {
		if !t.begin(state) {
			return nil, context.Canceled
		}
		defer t.finish(state)
		return work(ctx)
	})
	value, _ := got.(T) // nothing if the caller has left
	return value, err
}

// enter counts a caller.
func (t *Tree) enter() (number uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting++
	t.number++
	return t.number
}

// progress is how far a call has come. The tree's mutex guards it.
type progress int

const (
	unbegun progress = iota
	begun
	left
	finished
)

// begin notes that a call begins, unless its caller has left.
func (t *Tree) begin(p *progress) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if *p != unbegun {
		return false
	}
	*p = begun
	return true
}

// finish notes that a call has ended.
func (t *Tree) finish(p *progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if *p == left {
		t.left--
	}
	*p = finished
}

// exit notes that a caller has got what it waited for, or that it has left.
func (t *Tree) exit(p *progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting--
	switch *p {
	case unbegun:
		*p = finished
	case begun:
		*p = left
		t.left++
	}
	if t.waiting == 0 && t.left > 0 {
		t.end()
	}
}

// Attr implements [nodes.Tree].
func (t *Tree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	return call(ctx, t, func(ctx context.Context) (nodes.Attr, error) { return t.under.Attr(ctx, id) })
}

// Lookup implements [nodes.Tree].
func (t *Tree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	return call(ctx, t, func(ctx context.Context) (nodes.Entry, error) { return t.under.Lookup(ctx, dir, name) })
}

// ReadDir implements [nodes.Tree].
func (t *Tree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		for at := cursor; ; {
			some, err := call(ctx, t, func(ctx context.Context) ([]nodes.Entry, error) { return t.gather(ctx, dir, at) })
			for _, e := range some {
				if !yield(e, nil) {
					return
				}
				at = e.Next
			}
			if err != nil {
				yield(nodes.Entry{}, err)
			}
			if err != nil || len(some) < maxEntries {
				return
			}
		}
	}
}

// gather returns entries of a directory.
func (t *Tree) gather(ctx context.Context, dir nodes.ID, cursor uint64) (some []nodes.Entry, err error) {
	for e, err := range t.under.ReadDir(ctx, dir, cursor) {
		if err != nil {
			return some, err
		}
		if some = append(some, e); len(some) == maxEntries {
			break
		}
	}
	return some, nil
}

// ReadAt implements [nodes.Tree]. The buffer is copied, since a call that was left may go on
// writing to it.
func (t *Tree) ReadAt(ctx context.Context, file nodes.ID, p []byte, off int64) (int, error) {
	size := len(p)
	got, err := call(ctx, t, func(ctx context.Context) ([]byte, error) {
		buf := make([]byte, size)
		n, err := t.under.ReadAt(ctx, file, buf, off)
		return buf[:n], err
	})
	return copy(p, got), err
}

// Xattr implements [nodes.Xattrer].
func (t *Tree) Xattr(ctx context.Context, id nodes.ID, name string) ([]byte, error) {
	x, ok := nodes.Xattrs(t.under)
	if !ok {
		return nil, nodes.ErrNoXattr
	}
	return call(ctx, t, func(ctx context.Context) ([]byte, error) { return x.Xattr(ctx, id, name) })
}

// Xattrs implements [nodes.Xattrer].
func (t *Tree) Xattrs(ctx context.Context, id nodes.ID) ([]string, error) {
	x, ok := nodes.Xattrs(t.under)
	if !ok {
		return nil, nil
	}
	return call(ctx, t, func(ctx context.Context) ([]string, error) { return x.Xattrs(ctx, id) })
}

// Readlink implements [nodes.Linker].
func (t *Tree) Readlink(ctx context.Context, link nodes.ID) (string, error) {
	return call(ctx, t, func(ctx context.Context) (string, error) { return nodes.Readlink(ctx, t.under, link) })
}

// Stream implements [nodes.Streamer]. It can't be left, since it might go on writing to w:
// only commands stream, whose reads end with the command.
func (t *Tree) Stream(ctx context.Context, file nodes.ID, w io.Writer) (n int64, ok bool, err error) {
	s, can := t.under.(nodes.Streamer)
	if !can {
		return 0, false, nil
	}
	return s.Stream(ctx, file, w)
}
