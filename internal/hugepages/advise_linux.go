package hugepages

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pageSize is the size of a huge page on the processors that have one of 4 KiB besides. Where
// it is another, the kernel takes what it can of the range.
const pageSize = 2 << 20

func advise[T any](s []T) {
	var element T
	p := unsafe.Pointer(unsafe.SliceData(s))
	size := uintptr(cap(s)) * unsafe.Sizeof(element)
	if size < atLeast {
		return
	}
	// Only what lies within s: other data must keep its small pages.
	skip := -uintptr(p) % pageSize
	inside := (size - skip) / pageSize * pageSize
	// If the kernel refuses, the pages are small: nothing else depends on it.
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), inside), unix.MADV_HUGEPAGE)
}

// heap lets the collector free a large slice that was never written: what is allocated next lies there.
func heap(size int) {
	runtime.KeepAlive(Make[byte](size))
	runtime.GC()
}
