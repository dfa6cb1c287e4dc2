package hugepages

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pageSize is the size of a huge page on the processors that have one of 4 KiB besides. Where
// it is another, the kernel takes what it can of the range.
const pageSize = 2 << 20

func advise[T any](s []T) {
	if b := pages(s, pageSize); len(b)+pageSize >= atLeast {
		// If the kernel refuses, the pages are small: nothing else depends on it.
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}

func fill[T any](s []T) {
	if b := pages(s, os.Getpagesize()); len(b) > 0 {
		// Linux can do it since 5.14. An older one finds the pages when they are written to.
		_ = unix.Madvise(b, unix.MADV_POPULATE_WRITE)
	}
}

// pages returns the whole pages within the capacity of s: other data must keep its own pages.
func pages[T any](s []T, pageSize int) []byte {
	var element T
	p := unsafe.Pointer(unsafe.SliceData(s))
	skip := int(-uintptr(p) % uintptr(pageSize))
	inside := cap(s)*int(unsafe.Sizeof(element)) - skip
	if inside < pageSize {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(p, skip)), inside/pageSize*pageSize)
}

// heap lets the collector free a large slice that was never written: what is allocated next lies there.
func heap(size int) {
	runtime.KeepAlive(Make[byte](size))
	runtime.GC()
}
