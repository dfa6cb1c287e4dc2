// Package hugepages asks the kernel for huge pages behind large tables.
//
// A page of 4 KiB needs an entry of its own in the processor's cache of addresses, which has
// about two thousand. A table of 100 MB that is read in no order misses it at nearly each
// step, and filling the table stops 25,000 times for the kernel to find a page. With pages of
// 2 MiB, both are rare. Many systems give them only to programs that ask.
//
// The kernel keeps such a range in huge pages from then on, also when other data has come
// there. So this is for tables that live about as long as the work: where memory is given
// back and taken again, huge pages take longer than small ones.
package hugepages

// atLeast is the size of the smallest table that is worth a call to the kernel, in bytes. Of
// a smaller one, hardly a whole huge page may be left.
const atLeast = 4 << 20

// Make is make for a large table. It is not touched yet, as if make had made it.
func Make[T any](n int) []T { return Advise(make([]T, n)) }

// Advise asks for huge pages behind the capacity of s, and returns s. It must be called before
// s is first written: pages that are there already stay small. It does nothing for a small
// slice, and where the system has no such pages.
func Advise[T any](s []T) []T {
	advise(s)
	return s
}

// Heap asks for huge pages behind about as many bytes of what the program will allocate next. It is
// for a short run that soon allocates as much, in pieces that are too small for [Make]. It must
// be called while the heap is small.
func Heap(size int) { heap(size) }

// Fill has the kernel find all pages behind the capacity of s, and returns s. That is faster than if each
// page is found when it is first written to. It may run beside whoever uses the slice. If the system
// can't do it, nothing happens.
func Fill[T any](s []T) []T {
	fill(s)
	return s
}
