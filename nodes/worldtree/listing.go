package worldtree

import (
	"context"
	"sync"
	"sync/atomic"

	"lorefs/internal/cores"
	"lorefs/nodes"
)

// listing finds out sizes, and what is needed to list squares, before they are asked for. A program
// that lists a directory asks for one after the other, and waits for each, so only one core would be
// used.
type listing struct {
	// last is the source whose size was asked for last, nil before the first. inOrder says
	// whether that was what a program asks for that lists a directory.
	last    atomic.Pointer[source]
	inOrder atomic.Bool
	// ahead counts what runs in the background. Nothing more begins under the lock.
	mu    sync.Mutex
	ahead sync.WaitGroup
}

// wait waits for what runs in the background.
func (l *listing) wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ahead.Wait()
}

// listed reports whether a program that lists a directory asks for the size of a view of s: of the
// first source, of another view of the one that it asked for last, or of the first behind that
// whose size was not known. It does not ask for those that are. The first source alone is not
// enough to fetch others.
func (t *Tree) listed(s *source, v view) bool {
	last := t.listing.last.Swap(s)
	if last != s {
		first := t.firstOfKind(s) && !t.opts.Fetched
		t.listing.inOrder.Store(first || last != nil && t.allKnown(last.index+1, s.index, v))
	}
	return t.listing.inOrder.Load()
}

func (t *Tree) firstOfKind(s *source) bool {
	return s.index == 0 || t.sources[s.index-1].kind != s.kind
}

// allKnown reports whether the sizes of a view of the sources from one place to another are known.
// It is false if the places are in the other order.
func (t *Tree) allKnown(from, to int, v view) bool {
	if from > to {
		return false
	}
	for _, s := range t.sources[from:to] {
		if forms[v].of != s.kind || t.knownSize(s.now(), v) == nodes.UnknownSize {
			return false
		}
	}
	return true
}

// measureNext begins to find out the sizes of a view of the sources behind s, one for each core
// that is free, if somebody lists a directory.
func (t *Tree) measureNext(s *version, v view) {
	if !t.listed(s.source, v) {
		return
	}
	t.listing.mu.Lock()
	defer t.listing.mu.Unlock()
	behind := t.sources[s.index+1:]
	for _, next := range behind[:min(len(behind), max(1, cores.Count()-1))] {
		if next.kind == s.kind {
			t.measureAhead(next.now(), v)
		}
	}
}

// measureAhead begins to find out a size, once. The caller holds listing.mu.
func (t *Tree) measureAhead(s *version, v view) {
	if v != zoneSquares && t.knownSize(s, v) != nodes.UnknownSize || !s.made.views[v].begun.CompareAndSwap(false, true) {
		return
	}
	t.listing.ahead.Go(func() {
		// A failure is kept for whoever asks for this size.
		if err := t.findOut(context.Background(), s, v); err != nil {
			s.made.views[v].begun.Store(false)
		}
	})
}

// findOut finds out the size of a view, or for the directory of a zone's squares those of all of
// them.
func (t *Tree) findOut(ctx context.Context, s *version, v view) (err error) {
	if v == zoneSquares {
		_, err = t.offsets(ctx, s, v)
	} else {
		_, err = t.size(ctx, s, v)
	}
	return err
}
