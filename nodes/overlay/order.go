package overlay

import (
	"iter"
	"slices"
	"sort"
)

// order has values in the order of their cursors, which stay good when others go: what
// a directory lists behind all that its source has. The zero order is empty. Its lock
// is that of its tree.
type order[T any] struct {
	// places are by rising cursors; gone of them have no value any more.
	places []spot[T]
	gone   int
}

type spot[T any] struct {
	cursor uint64
	value  *T
}

// Put adds a value. The cursor has to be above all that were put before.
func (o *order[T]) Put(cursor uint64, value *T) {
	o.places = append(o.places, spot[T]{cursor, value})
}

// Take takes the value with a cursor out, if there is one. It is as quick in long
// orders as in short ones.
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

// Len is the number of values.
func (o *order[T]) Len() int { return len(o.places) - o.gone }

// From yields the values that have a cursor or a later one. They must not change
// meanwhile.
func (o *order[T]) From(cursor uint64) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, p := range o.places[o.find(cursor):] {
			if p.value != nil && !yield(p.value) {
				return
			}
		}
	}
}

// find is the first place that has the cursor or a later one.
func (o *order[T]) find(cursor uint64) int {
	return sort.Search(len(o.places), func(i int) bool { return o.places[i].cursor >= cursor })
}
