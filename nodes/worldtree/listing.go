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
	// last is the index of the source whose size was asked for last.
	last atomic.Int64
	// ahead counts what runs in the background.
	ahead sync.WaitGroup
}

// measureNext begins to find out the size of a view of the next source if the size of the one
// before s was asked for right before that of s.
func (t *Tree) measureNext(s *version, v view) {
	if t.listing.last.Swap(int64(s.index)) != int64(s.index)-1 || s.index+1 == len(t.sources) {
		return
	}
	next := t.sources[s.index+1]
	if next.kind != s.kind || t.knownSize(next.now(), v) != nodes.UnknownSize {
		return
	}
	t.listing.ahead.Go(func() {
		// An error is kept for whoever asks for this size.
		_, _ = t.size(context.Background(), next.now(), v)
	})
}
