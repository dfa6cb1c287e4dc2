package cache

import (
	"context"
	"sync"

	"lorefs/internal/flight"
)

// Blocks keeps decoded blocks of one source. Block returns block n, from memory or
// from load. It calls load once however many callers wait, and load may ask for
// other blocks. A caller leaves when its ctx ends, and the context of load ends when all have
// left. Callers must not change the block.
type Blocks interface {
	Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error)
}

// All is a Blocks that keeps every block.
type All struct {
	mu     sync.Mutex // guards blocks; never held while a block is loaded
	blocks map[uint64][]byte
	loads  flight.Group[uint64, []byte]
}

// Block implements [Blocks].
func (a *All) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	if b, ok := a.get(n); ok {
		return b, nil
	}
	return a.loads.Do(ctx, n, func(ctx context.Context) ([]byte, error) {
		// Another caller may have loaded it between our miss and our turn.
		if b, ok := a.get(n); ok {
			return b, nil
		}
		b, err := load(ctx, n)
		if err != nil {
			return nil, err
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.blocks == nil {
			a.blocks = map[uint64][]byte{}
		}
		a.blocks[n] = b
		return b, nil
	})
}

func (a *All) get(n uint64) ([]byte, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b, ok := a.blocks[n]
	return b, ok
}
