package intern_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"lorefs/datacenter/sheets/internal/intern"
)

// TestStringsAreKeptOnce adds strings of several groups twice each, some longer than a
// chunk, and finds them again after a reset as well.
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
		numbers := map[uint32]bool{}
		for i := range many {
			for group := range uint32(groups) {
				n, isNew := table.Add(group, text(i))
				again, twice := table.Add(group, text(i))
				if !isNew || twice || again != n || numbers[n] {
					t.Fatalf("string %d of group %d: number %d, new %v, then %d, new %v", i, group, n, isNew, again, twice)
				}
				numbers[n] = true
			}
		}
		if table.Len() != groups*many || table.Size() < groups*many/1000*len(long) {
			t.Errorf("%d strings of %d bytes", table.Len(), table.Size())
		}
		for i := range many {
			for group := range uint32(groups) {
				n, ok := table.Find(group, text(i))
				if !ok || table.Group(n) != group || !bytes.Equal(table.At(n), text(i)) {
					t.Fatalf("string %d of group %d is not found", i, group)
				}
			}
			if _, ok := table.Find(groups, text(i)); ok {
				t.Fatalf("string %d is in a group that it was not added to", i)
			}
		}
		table.Reset()
	}
	n, _ := table.Add(1, []byte("kept"))
	if table.Close(); string(table.At(n)) != "kept" || table.Group(n) != 1 {
		t.Errorf("a closed table has %q of group %d", table.At(n), table.Group(n))
	}
}

// TestForget checks that a table frees the memory of the strings that it may forget, and keeps
// the others and what is pinned.
func TestForget(t *testing.T) {
	const size, many, pinned, forgotten = 1 << 16, 1000, 100, 900
	var table intern.Table
	text := func(i int) []byte { return bytes.Repeat([]byte{byte(i), byte(i >> 8)}, size/2) }
	for i := range many {
		table.Add(0, text(i))
	}
	table.Close()
	table.Pin(pinned)
	before := heap()
	for n := range uint32(forgotten + 1) {
		table.Forget(n)
	}
	if freed := before - heap(); freed < size*(forgotten-100) {
		t.Errorf("%d bytes were freed, of %d", freed, size*forgotten)
	}
	for i := range many {
		if (i == pinned || i >= forgotten) && !bytes.Equal(table.At(uint32(i)), text(i)) {
			t.Fatalf("string %d is gone", i)
		}
	}
	table.Forget(many)
	if !bytes.Equal(table.At(pinned), text(pinned)) {
		t.Error("the string that was pinned is gone")
	}
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
