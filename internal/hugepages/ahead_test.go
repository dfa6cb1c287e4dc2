package hugepages_test

import (
	"testing"

	"lorefs/internal/hugepages"
)

// TestAhead checks that every table is whole, empty and nobody else's, also when more are taken than
// were asked for.
func TestAhead(t *testing.T) {
	const size, count = 3 << 20, 4
	a := hugepages.NewAhead[uint32](size, count, 2)
	defer a.Stop()
	for n := range uint32(count + 3) {
		s := a.Take()
		if len(s) != size {
			t.Fatalf("%d elements, want %d", len(s), size)
		}
		for i := range s {
			if s[i] != 0 {
				t.Fatalf("table %d: element %d is %d", n, i, s[i])
			}
			s[i] = n + 1
		}
	}
}

// TestAheadStopped checks that tables can be taken after Stop, and that nothing waits for them.
func TestAheadStopped(t *testing.T) {
	a := hugepages.NewAhead[byte](1<<10, 1<<20, 1)
	a.Stop()
	for range 3 {
		if s := a.Take(); len(s) != 1<<10 {
			t.Errorf("%d elements, want %d", len(s), 1<<10)
		}
	}
}
