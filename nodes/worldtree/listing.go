package worldtree

import (
	"context"
	"sync"
	"sync/atomic"

	"lorefs/nodes"
)

// listing finds out sizes before they are asked for. A program that lists a directory asks for
// one size after the other, and waits for each, so only one core would be used.
type listing struct {
	// last is the source whose size was asked for last, nil before the first.
	last atomic.Pointer[source]
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

// measureNext begins to find out the size of a view of the next source if the size of the one
// before s was asked for right before that of s.
func (t *Tree) measureNext(s *version, v view) {
	last := t.listing.last.Swap(s.source)
	if last == nil || last.index != s.index-1 || s.index+1 == len(t.sources) {
		return
	}
	next := t.sources[s.index+1]
	if next.kind != s.kind || t.knownSize(next.now(), v) != nodes.UnknownSize {
		return
	}
	t.listing.mu.Lock()
	defer t.listing.mu.Unlock()
	t.listing.ahead.Go(func() {
		// An error is kept for whoever asks for this size.
		_, _ = t.size(context.Background(), next.now(), v)
	})
}
