package overlay

import "sync"

// lock is the type of Tree.editing. The source is changed by others, too, and such a change has
// work to do under the lock. The work waits for the lock, but the one who made the change must
// not: it may hold a lock that the holder of this one waits for. The zero lock is free.
type lock struct {
	held sync.Mutex
	// mu guards waiting. Nothing else is taken under it.
	mu      sync.Mutex
	waiting []func()
}

// Lock implements [sync.Locker].
func (l *lock) Lock() { l.held.Lock() }

// Unlock implements [sync.Locker].
func (l *lock) Unlock() {
	l.held.Unlock()
	l.catchUp()
}

// Do calls f under the lock: at once if nobody holds it, else when it is unlocked. Do itself
// does not wait.
func (l *lock) Do(f func()) {
	l.mu.Lock()
	l.waiting = append(l.waiting, f)
	l.mu.Unlock()
	l.catchUp()
}

// catchUp calls the waiting functions. If somebody else holds the lock, their Unlock does it.
func (l *lock) catchUp() {
	for l.waits() && l.held.TryLock() {
		for _, f := range l.take() {
			f()
		}
		l.held.Unlock()
	}
}

func (l *lock) waits() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting) > 0
}

func (l *lock) take() []func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.waiting
	l.waiting = nil
	return all
}
