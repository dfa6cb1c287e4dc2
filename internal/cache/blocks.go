package cache

import "sync"

// Blocks keeps decoded blocks of one source. Block returns block n, from memory or
// from load. It calls load once however many callers wait, and load may ask for
// other blocks. Callers must not change the block.
type Blocks interface {
	Block(n uint64, load func(n uint64) ([]byte, error)) ([]byte, error)
}

// All is a Blocks that keeps every block. Its load must not ask for other blocks.
type All struct {
	mu     sync.Mutex // held while loading, so that a block is loaded once
	blocks map[uint64][]byte
}

// Block implements [Blocks].
func (a *All) Block(n uint64, load func(n uint64) ([]byte, error)) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b, ok := a.blocks[n]; ok {
		return b, nil
	}
	b, err := load(n)
	if err != nil {
		return nil, err
	}
	if a.blocks == nil {
		a.blocks = map[uint64][]byte{}
	}
	a.blocks[n] = b
	return b, nil
}
