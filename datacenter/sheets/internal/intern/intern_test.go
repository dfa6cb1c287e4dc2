package intern_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"lorefs/datacenter/sheets/internal/intern"
)

// TestStringsAreKeptOnce adds strings of several groups twice each, some of which nearly fill a chunk, and
// finds them again, also after a reset. All have a note of their own, and come in the order in which they
// were added.
func TestStringsAreKeptOnce(t *testing.T) {
	const groups, many = 3, 5000
	long := bytes.Repeat([]byte("long"), 1<<19)
	text := func(i int) []byte {
		switch {
		case i == 0:
			return nil
		case i%1000 == 1:
			return append(slices.Clip(long), byte(i/1000))
		}
		return fmt.Appendf(nil, "text %d", i)
	}
	var table intern.Table
	for range 2 {
		if _, ok := table.Find(0, nil); ok {
			t.Fatal("an empty table has a string")
		}
		var places []uint32
		for i := range many {
			for group := range uint32(groups) {
				at, isNew := table.Add(group, text(i))
				again, twice := table.Add(group, text(i))
				note := table.Note(at)
				if !isNew || twice || again != at || at == 0 || !bytes.Equal(note, make([]byte, intern.NoteSize)) {
					t.Fatalf("string %d of group %d: place %d, new %v, then %d, new %v, note %x", i, group, at, isNew, again, twice, note)
				}
				binary.LittleEndian.PutUint32(note, uint32(i)<<8|group)
				places = append(places, at)
			}
		}
		if table.Len() != groups*many || table.Size() < groups*many/1000*len(long) {
			t.Errorf("%d strings of %d bytes", table.Len(), table.Size())
		}
		for i := range many {
			for group := range uint32(groups) {
				at, ok := table.Find(group, text(i))
				if !ok || !bytes.Equal(table.At(at), text(i)) || binary.LittleEndian.Uint32(table.Note(at)) != uint32(i)<<8|group {
					t.Fatalf("string %d of group %d is not found", i, group)
				}
			}
			if _, ok := table.Find(groups, text(i)); ok {
				t.Fatalf("string %d is in a group that it was not added to", i)
			}
		}
		inOrder(t, &table, places)
		table.Reset()
	}
	at, _ := table.Add(1, []byte("kept"))
	if table.Close(); string(table.At(at)) != "kept" {
		t.Errorf("a closed table has %q", table.At(at))
	}
}

// inOrder checks that the strings of a table have these places in turn.
func inOrder(t *testing.T, table *intern.Table, places []uint32) {
	t.Helper()
	from := uint32(0)
	for i, want := range places {
		if from >= table.End() {
			t.Fatalf("the strings end before number %d", i)
		}
		var at uint32
		if at, from = table.Next(from); at != want {
			t.Fatalf("string %d is at %d, want %d", i, at, want)
		}
	}
	if from != table.End() {
		t.Errorf("the strings end at %d, want %d", table.End(), from)
	}
}

// TestNextBehindAnEnd goes on with Next from where a table ended at each length: the strings behind it may lie
// in another chunk.
func TestNextBehindAnEnd(t *testing.T) {
	var table intern.Table
	from := uint32(0)
	for i := range 3000 {
		s := fmt.Appendf(bytes.Repeat([]byte{'.'}, i%997), "%d", i)
		if from != table.End() {
			t.Fatalf("string %d: the table ends at %d, want %d", i, table.End(), from)
		}
		table.Add(0, s)
		var at uint32
		if at, from = table.Next(from); !bytes.Equal(table.At(at), s) {
			t.Fatalf("string %d is %q, want %q", i, table.At(at), s)
		}
	}
}

// TestPiecesOfAnArena checks that pieces do not overlap, and that they keep their places and bytes.
func TestPiecesOfAnArena(t *testing.T) {
	var arena intern.Arena
	for round := range 2 {
		sizes := []int{0, 1, 4, 5, 100, 1 << 16, 3 << 20, intern.MaxSize, 7, intern.MaxSize - 1, 1 << 10}
		places := make([]uint32, len(sizes))
		for i, n := range sizes {
			at, piece := arena.Add(n)
			for k := range piece[:n] {
				piece[k] = byte(i + round)
			}
			places[i] = at
		}
		for i, n := range sizes {
			if got := arena.At(places[i])[:n]; !bytes.Equal(got, bytes.Repeat([]byte{byte(i + round)}, n)) {
				t.Errorf("round %d: piece %d has changed", round, i)
			}
		}
		arena.Reset()
	}
}

// TestForget checks that a table frees the memory of the strings that it may forget, and keeps the others.
func TestForget(t *testing.T) {
	const size, many, forgotten = 1 << 16, 1000, 900
	var table intern.Table
	text := func(i int) []byte { return bytes.Repeat([]byte{byte(i), byte(i >> 8)}, size/2) }
	places := make([]uint32, many)
	for i := range many {
		places[i], _ = table.Add(0, text(i))
	}
	table.Close()
	before := heap()
	for _, at := range places[:forgotten+1] {
		table.Forget(at)
	}
	if freed := before - heap(); freed < size*forgotten-2*intern.MaxSize {
		t.Errorf("%d bytes were freed, of %d", freed, size*forgotten)
	}
	for i := forgotten; i < many; i++ {
		if !bytes.Equal(table.At(places[i]), text(i)) {
			t.Fatalf("string %d is gone", i)
		}
	}
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
