package hugepages

import (
	"os"
	"sync/atomic"
	"unsafe"
)

// Ahead makes tables of one size in a goroutine of its own, with all their pages there: for the kernel to
// find these may take as long as filling the tables does.
type Ahead[T any] struct {
	size    int
	made    chan []T
	left    atomic.Int64 // tables to be made
	stopped chan struct{}
}

// NewAhead returns an Ahead that makes count tables of size elements, and is at most most of them ahead of
// whoever takes them. It goes on until Stop is called.
func NewAhead[T any](size, count, most int) *Ahead[T] {
	a := &Ahead[T]{size: size, made: make(chan []T, most), stopped: make(chan struct{})}
	a.left.Store(int64(count))
	go a.run()
	return a
}

func (a *Ahead[T]) run() {
	for a.left.Add(-1) >= 0 {
		select {
		case a.made <- touch(Make[T](a.size)):
		case <-a.stopped:
			return
		}
	}
}

// touch writes to each page of s, and returns s.
func touch[T any](s []T) []T {
	var zero T
	for i := 0; i < len(s); i += max(os.Getpagesize()/int(unsafe.Sizeof(zero)), 1) {
		s[i] = zero
	}
	return s
}

// Take returns a table. If none is ready, it makes one whose pages are not there yet: another core had better
// help than wait.
func (a *Ahead[T]) Take() []T {
	select {
	case s := <-a.made:
		return s
	default:
		a.left.Add(-1)
		return Make[T](a.size)
	}
}

// Stop ends making tables. Those that are made are left to the collector.
func (a *Ahead[T]) Stop() { close(a.stopped) }
