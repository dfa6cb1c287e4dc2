// Package blockcache keeps inflated blocks in memory. When a budget of bytes is spent the
// least recently used blocks go first. A block that many readers want at once is loaded
// once.
//
// It uses golang-lru for the order; that counts entries, so bytes are counted here.
package blockcache

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"lorefs/internal/flight"
)

// Cache is one budget for the blocks of any number of sources. All methods are safe for
// parallel use.
type Cache struct {
	views atomic.Uint64

	mu sync.Mutex // guards the fields below; never held while a block is loaded
	// lru never reaches its own limit; Cache evicts.
	lru    *simplelru.LRU[key, []byte]
	budget int64
	bytes  int64
	counts Stats
}

type key struct{ view, block uint64 }

// Stats are the counters of a Cache.
type Stats struct {
	// Budget and Bytes are the limit and what is held now.
	Budget, Bytes int64
	// Blocks is the number of blocks held now.
	Blocks int
	// Hits, Loads and Evictions count calls answered from memory, blocks loaded, and blocks
	// dropped to make room.
	Hits, Loads, Evictions int64
}

// New makes a cache of at most budget bytes. A block larger than the whole budget is
// returned but not kept.
func New(budget int64) *Cache {
	lru, err := simplelru.NewLRU[key, []byte](1<<31-1, nil)
	if err != nil {
		panic(fmt.Sprintf("blockcache: BUG: %v", err))
	}
	return &Cache{budget: budget, lru: lru}
}

// Stats returns the counters.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.counts
	s.Budget, s.Bytes, s.Blocks = c.budget, c.bytes, c.lru.Len()
	return s
}

// View is the part of a cache that belongs to one source.
type View struct {
	cache *Cache
	id    uint64
	loads flight.Group[uint64, []byte]
}

// View returns a view for the blocks of one more source.
func (c *Cache) View() *View {
	return &View{cache: c, id: c.views.Add(1)}
}

// Block returns block n, from memory or by load, which runs once however many callers want
// the block. The block is shared and must not be changed. All waiting callers get an error,
// and it is not remembered. A caller whose ctx ends leaves at once; the context of load ends
// when all have left.
func (v *View) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	if b, ok := v.cache.get(key{v.id, n}); ok {
		return b, nil
	}
	return v.load(ctx, n, load)
}

func (v *View) load(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	return v.loads.Do(ctx, n, func(ctx context.Context) ([]byte, error) {
		// Another caller may have loaded it between our miss and our turn.
		if b, ok := v.cache.get(key{v.id, n}); ok {
			return b, nil
		}
		b, err := load(ctx, n)
		if err != nil {
			return nil, err
		}
		v.cache.add(key{v.id, n}, b)
		return b, nil
	})
}

func (c *Cache) get(k key) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.lru.Get(k)
	if ok {
		c.counts.Hits++
	}
	return b, ok
}

func (c *Cache) add(k key, b []byte) {
	size := int64(cap(b))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Loads++
	if size > c.budget {
		return
	}
	c.shrink(c.budget - size)
	c.lru.Add(k, b)
	c.bytes += size
}

// shrink drops the least recently used blocks until at most most bytes are held. The caller
// holds mu.
func (c *Cache) shrink(most int64) {
	for c.bytes > most {
		_, old, ok := c.lru.RemoveOldest()
		if !ok {
			break
		}
		c.bytes -= int64(cap(old))
		c.counts.Evictions++
	}
}

// Budget returns the most bytes that the cache of a view holds.
func (v *View) Budget() int64 {
	v.cache.mu.Lock()
	defer v.cache.mu.Unlock()
	return v.cache.budget
}

// SetBudget changes the budget, drops what exceeds it, and returns the budget before.
func (c *Cache) SetBudget(budget int64) (before int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.budget = c.budget, budget
	c.shrink(budget)
	return before
}
