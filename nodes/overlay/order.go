package overlay

import (
	"iter"
	"slices"
	"sort"
)

// order has values sorted by cursor. It is what a directory lists after the entries of its
// source. Cursors stay valid when other values are taken out. The zero order is empty, and the
// lock of its tree guards it.
type order[T any] struct {
	// places are sorted by cursor. gone is how many of them have no value any more.
	places []spot[T]
	gone   int
}

type spot[T any] struct {
	cursor uint64
	value  *T
}

// Put adds a value. Its cursor has to be above all cursors that were put before.
func (o *order[T]) Put(cursor uint64, value *T) {
	o.places = append(o.places, spot[T]{cursor, value})
}

// Take takes out the value with a cursor, if there is one. Its cost does not depend on the
// length, on average.
func (o *order[T]) Take(cursor uint64) {
	const few = 16
	i := o.find(cursor)
	if i == len(o.places) || o.places[i].cursor != cursor || o.places[i].value == nil {
		return
	}
	o.places[i].value = nil
	if o.gone++; o.gone > few && 2*o.gone > len(o.places) {
		o.places = slices.DeleteFunc(o.places, func(p spot[T]) bool { return p.value == nil })
		o.gone = 0
	}
}

// Len returns the number of values.
func (o *order[T]) Len() int { return len(o.places) - o.gone }

// From yields the values from a cursor on. The order must not change meanwhile.
func (o *order[T]) From(cursor uint64) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, p := range o.places[o.find(cursor):] {
			if p.value != nil && !yield(p.value) {
				return
			}
		}
	}
}

// find returns the index of the first place from a cursor on.
func (o *order[T]) find(cursor uint64) int {
	return sort.Search(len(o.places), func(i int) bool { return o.places[i].cursor >= cursor })
}
