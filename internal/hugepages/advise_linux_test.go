package hugepages_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lorefs/internal/hugepages"
)

// TestAsked checks that the kernel knows what was asked for: in the middle of a large slice, and
// not behind a small one.
func TestAsked(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no huge pages for programs that ask")
	}
	for _, tt := range []struct {
		size int
		want bool
	}{{64 << 20, true}, {1 << 20, false}} {
		s := hugepages.Make[byte](tt.size)
		if got := asked(t, &s[tt.size/2]); got != tt.want {
			t.Errorf("%d bytes: asked for huge pages: %v, want %v", tt.size, got, tt.want)
		}
		runtime.KeepAlive(s)
	}
}

// TestHeap checks that small pieces which are allocated next lie where huge pages were asked for.
func TestHeap(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no huge pages for programs that ask")
	}
	hugepages.Heap(64 << 20)
	var pieces [48][]byte
	inside := 0
	for i := range pieces {
		pieces[i] = make([]byte, 1<<20)
		if asked(t, &pieces[i][1<<19]) {
			inside++
		}
	}
	if inside < len(pieces)/2 {
		t.Errorf("%d of %d pieces are where huge pages were asked for", inside, len(pieces))
	}
	runtime.KeepAlive(pieces)
}

// asked reports whether huge pages were asked for where b is.
func asked(t *testing.T, b *byte) bool {
	t.Helper()
	var at uint64
	if _, err := fmt.Sscanf(fmt.Sprintf("%p", b), "0x%x", &at); err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skipf("the memory of the process is not shown: %v", err)
	}
	inside := false
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			inside = from <= at && at < to
		} else if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside {
			return slices.Contains(strings.Fields(flags), "hg")
		}
	}
	t.Fatalf("no memory is at %#x", at)
	return false
}
