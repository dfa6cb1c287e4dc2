package budget

import (
	"math"
	"runtime/debug"
	"testing"
)

// current returns the memory limit and the share of garbage of the process.
func current() (memory int64, garbage int) {
	garbage = debug.SetGCPercent(100)
	debug.SetGCPercent(garbage)
	return debug.SetMemoryLimit(-1), garbage
}

// restored has the test end with the budget that it began with.
func restored(t *testing.T) {
	memory, garbage := current()
	t.Cleanup(func() {
		debug.SetMemoryLimit(memory)
		debug.SetGCPercent(garbage)
	})
}

// TestSaveInMount checks that a save has room above the limit of its mount, as its memory would be
// collected without end below it, and that the mount has its own limit again afterwards.
func TestSaveInMount(t *testing.T) {
	restored(t)
	const cache = 256 << 20
	Mount(cache)
	mount, _ := current()
	end := Save(inflatedKnown)
	if memory, _ := current(); memory != wholeMemory || memory <= mount {
		t.Errorf("the limit of a save is %d, that of its mount %d; want %d", memory, mount, wholeMemory)
	}
	end()
	end()
	if memory, _ := current(); memory != mount || mount != cache+mountMemory {
		t.Errorf("after the save the limit is %d, want %d", memory, mount)
	}
}

// TestLargerFile checks that the limit grows with the file, whatever its size claims to be.
func TestLargerFile(t *testing.T) {
	restored(t)
	for inflated, want := range map[int64]int64{
		0: wholeMemory, inflatedKnown + 1000: wholeMemory + 2000, math.MaxInt64: math.MaxInt64,
	} {
		end := WholeFiles(inflated)
		if memory, garbage := current(); memory != want || garbage != wholeGarbage {
			t.Errorf("%d bytes: a limit of %d and %d%%, want %d and %d%%", inflated, memory, garbage, want, wholeGarbage)
		}
		end()
	}
}

// TestUsersLimit checks that no limit is above the one of the user.
func TestUsersLimit(t *testing.T) {
	restored(t)
	defer func(was int64) { most = was }(most)
	most = 100 << 20
	for _, begin := range []func(){
		func() { Mount(1 << 30) }, func() { Save(0) }, func() { WholeFiles(1 << 32) }, func() { ExportSheets(1 << 30) }, Remote,
	} {
		begin()
		if memory, _ := current(); memory != most {
			t.Errorf("the limit is %d, want the user's %d", memory, most)
		}
	}
}
