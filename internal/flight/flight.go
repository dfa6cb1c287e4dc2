// Package flight does work once for all callers that want it at the same time. A caller may
// leave without waiting for the result, and when the last has left the work is cancelled.
package flight

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// errNoResult goes to callers if the goroutine of the work has ended without a result.
var errNoResult = errors.New("internal error: the work has no result")

// panicked is passed on to the callers of work that has panicked, who panic with it.
type panicked struct {
	value any
	stack []byte // that of the work, which is not that of its callers
}

func (p *panicked) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// Group is work that is going on, by key. The zero value is ready to use. It is safe for
// parallel use.
type Group[K comparable, V any] struct {
	mu sync.Mutex // guards flights and flight.waiting; never held while work is done
	// flights are those that a caller may still join.
	flights map[K]*flight[V]
}

// flight is the work for one key.
type flight[V any] struct {
	// waiting is how many callers have not left.
	waiting int
	cancel  context.CancelFunc
	// done is closed when the fields below are set.
	done  chan struct{}
	value V
	err   error
	// panicked is nil unless the work has panicked.
	panicked *panicked
}

// Do returns the result of work, or of the work for key that is going on already. If ctx
// ends first Do returns its error, and the work goes on for the other callers. The context
// of the work has the values of ctx. It ends when the last caller has left. If the work
// panics, Do does so in the goroutine of each caller that waits, where it can be recovered.
func (g *Group[K, V]) Do(ctx context.Context, key K, work func(context.Context) (V, error)) (V, error) {
	if err := ctx.Err(); err != nil {
		var none V
		return none, err
	}
	g.mu.Lock()
	if f, ok := g.flights[key]; ok {
		f.waiting++
		g.mu.Unlock()
		return g.wait(ctx, key, f)
	}
	f := &flight[V]{waiting: 1, done: make(chan struct{})}
	if g.flights == nil {
		g.flights = map[K]*flight[V]{}
	}
	g.flights[key] = f
	stays := ctx.Done() == nil
	if stays {
		f.cancel = func() {}
	} else {
		var workCtx context.Context
		workCtx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
		go g.run(workCtx, key, f, work)
	}
	g.mu.Unlock()
	if stays {
		// Nothing ends this caller's wait, so the work needs no goroutine of its own.
		g.run(ctx, key, f, work)
	}
	return g.wait(ctx, key, f)
}

func (g *Group[K, V]) run(ctx context.Context, key K, f *flight[V], work func(context.Context) (V, error)) {
	// If work panics nobody must wait for ever. In a goroutine of its own its panic would end
	// the process.
	defer func() {
		if p := recover(); p != nil {
			f.panicked = &panicked{p, debug.Stack()}
		}
		f.cancel()
		g.mu.Lock()
		g.forget(key, f)
		g.mu.Unlock()
		close(f.done)
	}()
	f.err = errNoResult
	f.value, f.err = work(ctx)
}

// wait waits for f or for the end of ctx.
func (g *Group[K, V]) wait(ctx context.Context, key K, f *flight[V]) (V, error) {
	select {
	case <-f.done:
		if f.panicked != nil {
			panic(f.panicked)
		}
		return f.value, f.err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		// The work may take a while to end. Who wants it now must not get its error.
		g.forget(key, f)
		f.cancel()
	}
	var none V
	return none, ctx.Err()
}

// forget makes sure that nobody joins f any more. The caller holds mu.
func (g *Group[K, V]) forget(key K, f *flight[V]) {
	if g.flights[key] == f {
		delete(g.flights, key)
	}
}
