package cores

import (
	"sync"
	"sync/atomic"
	"time"
)

// leaseTime is how long a Lease lasts at least, and at most twice as long.
const leaseTime = 100 * time.Millisecond

// Lease is Share for long work that comes in short pieces. Share stops all goroutines for a moment,
// which would be too often if each piece did it. The zero value is ready.
type Lease struct {
	used atomic.Bool

	mu   sync.Mutex // guards held; used is reset under it
	held bool
}

// Use begins a piece of the work. The lease ends by itself when none has begun for a while.
func (l *Lease) Use() {
	if l.used.Swap(true) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.held {
		l.held = true
		l.wait(Share())
	}
}

// wait calls end when the lease was not used for a while.
func (l *Lease) wait(end func()) {
	time.AfterFunc(leaseTime, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.used.Swap(false) {
			l.wait(end)
			return
		}
		l.held = false
		end()
	})
}
