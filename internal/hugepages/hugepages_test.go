package hugepages_test

import (
	"testing"

	"lorefs/internal/hugepages"
)

// TestMake checks that the memory is whole and empty, whatever its size.
func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 10, 1 << 19, 1<<19 + 1, 3 << 20} {
		s := hugepages.Make[uint64](n)
		if len(s) != n {
			t.Fatalf("%d elements, want %d", len(s), n)
		}
		for i := range s {
			if s[i] != 0 {
				t.Fatalf("%d elements: element %d is %d", n, i, s[i])
			}
			s[i] = uint64(i)
		}
	}
}

// TestAdvise checks that a slice keeps its length and its capacity.
func TestAdvise(t *testing.T) {
	s := hugepages.Advise(make([]byte, 3, 9<<20))
	if len(s) != 3 || cap(s) < 9<<20 {
		t.Errorf("%d of %d bytes", len(s), cap(s))
	}
	if s := hugepages.Advise([]byte(nil)); s != nil {
		t.Errorf("nothing became %d bytes", len(s))
	}
}
