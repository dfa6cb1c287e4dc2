package overlay

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lorefs/nodes"
)

var (
	source = time.Unix(1, 0)
	edited = time.Unix(2, 0)
	told   = time.Unix(3, 0)
)

func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o order[uint64]
		var want []uint64
		for next := range uint64(rapid.IntRange(1, 200).Draw(t, "steps")) {
			if cursor := rapid.Uint64Range(0, next).Draw(t, "cursor"); rapid.Bool().Draw(t, "take") {
				o.Take(cursor)
				want = slices.DeleteFunc(want, func(v uint64) bool { return v == cursor })
			} else {
				o.Put(next, &next)
				want = append(want, next)
			}
			from := rapid.Uint64Range(0, next+1).Draw(t, "from")
			var got []uint64
			for v := range o.From(from) {
				got = append(got, *v)
			}
			first, _ := slices.BinarySearch(want, from)
			if !slices.Equal(got, want[first:]) || o.Len() != len(want) {
				t.Fatalf("from %d: %v of %d, want %v of %d", from, got, o.Len(), want[first:], len(want))
			}
		}
	})
}

// The places of removed values are freed once most values are removed.
func TestOrderForgets(t *testing.T) {
	const all, kept = 1000, 10
	var o order[int]
	for i := range all {
		o.Put(uint64(i), &i)
	}
	for i := range all {
		if i%(all/kept) != 0 {
			o.Take(uint64(i))
			o.Take(uint64(i)) // it was taken already
		}
	}
	o.Take(all)
	var got []int
	for v := range o.From(0) {
		got = append(got, *v)
	}
	if want := []int{0, 100, 200, 300, 400, 500, 600, 700, 800, 900}; !slices.Equal(got, want) || o.Len() != kept {
		t.Errorf("%v of %d, want %v of %d", got, o.Len(), want, kept)
	}
	for v := range o.From(101) {
		if *v != 200 {
			t.Errorf("from 101: %d, want 200", *v)
		}
		break
	}
}

func TestTimes(t *testing.T) {
	times := newTimes(func() time.Time { return edited })
	want := func(id nodes.ID, want time.Time) {
		t.Helper()
		if got := times.Of(id, source); !got.Equal(want) {
			t.Errorf("node %d has the time %v, want %v", id, got, want)
		}
	}
	times.Touch(2, 3)
	times.Set(4, told)
	want(2, edited)
	want(3, edited)
	want(4, told)
	want(5, source)
	times.Drop(3)
	times.Touch(4)
	want(3, source)
	want(4, edited)
}
