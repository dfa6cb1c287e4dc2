package datacenter_test

import (
	"fmt"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"lorefs/datacenter"
)

// TestTablesTakeLittle checks that a file which claims many attributes does not take the memory to
// move them before any is moved. The table is not of Go's heap, which clears what was in use before.
func TestTablesTakeLittle(t *testing.T) {
	const claimed, most = 1 << 27, 128 << 20
	memory, err := unix.Mmap(-1, 0, claimed*4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(memory) }()
	before := resident(t)
	datacenter.FillTable(unsafe.Slice((*uint32)(unsafe.Pointer(&memory[0])), claimed))
	if took := resident(t) - before; took > most {
		t.Errorf("a table of %d attributes takes %d MiB", claimed, took>>20)
	}
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
