// Package ahead reads files that are far away in spans of chunks. While reads follow each other each
// span is twice as long as the one before, and whoever wants a chunk of a span that is being fetched
// waits for that span.
package ahead

import (
	"context"
	"slices"
	"sync"

	"lorefs/internal/flight"
)

const (
	// least and most are how many bytes a span has while reads follow each other.
	least = 1 << 20
	most  = 16 << 20
)

// Span is a row of chunks, without its end.
type Span struct{ From, To int }

func (r Span) has(i int) bool { return r.From <= i && i < r.To }

// Chunks are the chunks of a file, as their reader knows them.
type Chunks struct {
	// Count is their number, and Size returns how many bytes one has.
	Count int
	Size  func(i int) int64
	// Here reports whether a chunk is here: a span ends before it. Nil means that none is.
	Here func(i int) bool
	// Alone is how many bytes a span has that does not follow another, and has one chunk at least.
	Alone int64
	// Room says how much there is room for: a span that follows another has no more bytes, or 1 MiB.
	Room int64
}

// Reader fetches the chunks of one file. What a span becomes is a T. The zero value is ready, and
// safe for parallel use.
type Reader[T any] struct {
	flights flight.Group[Span, T]

	mu sync.Mutex // guards the rest; never held while something is fetched
	// running are the spans that are being fetched.
	running []Span
	// next is the chunk behind the last span, and bytes how many that might have.
	next  int
	bytes int64
}

// Follow says that a first span with chunk i follows another, for the chunks before it were fetched
// otherwise. It is called before Fetch.
func (r *Reader[T]) Follow(i int) { r.next = i }

// Fetch fetches a span with chunk i, or waits for one that is being fetched, and returns it.
func (r *Reader[T]) Fetch(ctx context.Context, i int, c Chunks, fetch func(context.Context, Span) (T, error)) (T, Span, error) {
	span := r.plan(i, c)
	v, err := r.flights.Do(ctx, span, func(ctx context.Context) (T, error) {
		defer r.ended(span)
		return fetch(ctx, span)
	})
	return v, span, err
}

// plan returns a span with chunk i: one that is being fetched, or else a new one.
func (r *Reader[T]) plan(i int, c Chunks) Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	if span, ok := r.fetching(i); ok {
		return span
	}
	if i == r.next {
		r.bytes = min(max(2*r.bytes, least), max(c.Room, least), most)
	} else {
		r.bytes = c.Alone
	}
	span := Span{i, i + 1}
	for size := c.Size(i); span.To < c.Count; span.To++ {
		_, busy := r.fetching(span.To)
		if size += c.Size(span.To); size > r.bytes || busy || c.Here != nil && c.Here(span.To) {
			break
		}
	}
	r.next = span.To
	r.running = append(r.running, span)
	return span
}

// fetching returns the span with a chunk that is being fetched. The caller holds mu.
func (r *Reader[T]) fetching(i int) (Span, bool) {
	at := slices.IndexFunc(r.running, func(span Span) bool { return span.has(i) })
	if at < 0 {
		return Span{}, false
	}
	return r.running[at], true
}

func (r *Reader[T]) ended(span Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = slices.DeleteFunc(r.running, func(other Span) bool { return other == span })
}
