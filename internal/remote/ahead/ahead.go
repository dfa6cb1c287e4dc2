// Package ahead reads files that are far away in runs of chunks. While reads follow each other each
// run is twice as long as the one before, and whoever wants a chunk of a run that is being fetched
// waits for that run.
package ahead

import (
	"context"
	"slices"
	"sync"

	"lorefs/internal/flight"
)

const (
	// least and most are how many bytes a run has while reads follow each other.
	least = 1 << 20
	most  = 16 << 20
)

// Run is a row of chunks, without its end.
type Run struct{ From, To int }

func (r Run) has(i int) bool { return r.From <= i && i < r.To }

// Chunks are the chunks of a file, as their reader knows them.
type Chunks struct {
	// Count is their number, and Size returns how many bytes one has.
	Count int
	Size  func(i int) int64
	// Here reports whether a chunk is here: a run ends before it. Nil means that none is.
	Here func(i int) bool
	// Alone is how many bytes a run has that does not follow another, and has one chunk at least.
	Alone int64
	// Room says how much there is room for: a run that follows another has no more bytes, or 1 MiB.
	Room int64
}

// Reader fetches the chunks of one file. What a run becomes is a T. The zero value is ready, and
// safe for parallel use.
type Reader[T any] struct {
	flights flight.Group[Run, T]

	mu sync.Mutex // guards the rest; never held while something is fetched
	// running are the runs that are being fetched.
	running []Run
	// next is the chunk behind the last run, and bytes how many that might have.
	next  int
	bytes int64
}

// Follow says that a first run with chunk i follows another, for the chunks before it were fetched
// otherwise. It is called before Fetch.
func (r *Reader[T]) Follow(i int) { r.next = i }

// Fetch fetches a run with chunk i, or waits for one that is being fetched, and returns it.
func (r *Reader[T]) Fetch(ctx context.Context, i int, c Chunks, fetch func(context.Context, Run) (T, error)) (T, Run, error) {
	run := r.plan(i, c)
	v, err := r.flights.Do(ctx, run, func(ctx context.Context) (T, error) {
		defer r.ended(run)
		return fetch(ctx, run)
	})
	return v, run, err
}

// plan returns a run with chunk i: one that is being fetched, or else a new one.
func (r *Reader[T]) plan(i int, c Chunks) Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	if run, ok := r.fetching(i); ok {
		return run
	}
	if i == r.next {
		r.bytes = min(max(2*r.bytes, least), max(c.Room, least), most)
	} else {
		r.bytes = c.Alone
	}
	run := Run{i, i + 1}
	for size := c.Size(i); run.To < c.Count; run.To++ {
		_, busy := r.fetching(run.To)
		if size += c.Size(run.To); size > r.bytes || busy || c.Here != nil && c.Here(run.To) {
			break
		}
	}
	r.next = run.To
	r.running = append(r.running, run)
	return run
}

// fetching returns the run with a chunk that is being fetched. The caller holds mu.
func (r *Reader[T]) fetching(i int) (Run, bool) {
	at := slices.IndexFunc(r.running, func(run Run) bool { return run.has(i) })
	if at < 0 {
		return Run{}, false
	}
	return r.running[at], true
}

func (r *Reader[T]) ended(run Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = slices.DeleteFunc(r.running, func(other Run) bool { return other == run })
}
