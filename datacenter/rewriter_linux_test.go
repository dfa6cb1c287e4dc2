//go:build !race

package datacenter_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"lorefs/datacenter"
)

// TestTablesTakeLittle checks that a file which claims many attributes does not take the memory to
// move them before any is moved. The race detector's own memory grows with all that is allocated, so
// this is not for it.
func TestTablesTakeLittle(t *testing.T) {
	const claimed, most = 1 << 27, 128 << 20
	before := resident(t)
	tables := datacenter.FillTables(claimed)
	if took := resident(t) - before; took > most {
		t.Errorf("tables for %d attributes take %d MiB", claimed, took>>20)
	}
	runtime.KeepAlive(tables)
}

// resident returns how much memory this process has, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
