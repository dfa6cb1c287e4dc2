package sheets

import (
	"context"
	"sync"
)

// flight lets one of several goroutines do work that all need, while the others wait.
type flight struct {
	mu      sync.Mutex // not held during work
	running chan struct{}
}

// do returns once ready returns true; it is called with mu held. If it returns false, one
// goroutine does the work. If the work fails, that goroutine gets the error, and another
// tries again.
func (f *flight) do(ctx context.Context, ready func() bool, work func() error) error {
	for {
		f.mu.Lock()
		if ready() {
			f.mu.Unlock()
			return nil
		}
		if f.running == nil {
			break
		}
		done := f.running
		f.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	done := make(chan struct{})
	f.running = done
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running = nil
		f.mu.Unlock()
		close(done)
	}()
	return work()
}
