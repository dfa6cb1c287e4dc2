package sheets

import (
	"context"
	"sync"
)

// flight has work done by one of those who need it, while the others wait.
type flight struct {
	mu      sync.Mutex // not held during work
	running chan struct{}
}

// do returns once ready is true, which is called with mu held. If it is not, work
// is done. Its error goes to whoever did it; others try again.
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
