package far

import (
	"fmt"
	"sync"

	"lorefs/casc/keys"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxChunkBytes is how many bytes of encoded chunks are kept in memory. They only bridge the
// time between a fetch and the reads that it was for: whatever is decoded has a cache of its
// own, and what was fetched is on the disk.
const maxChunkBytes = 128 << 20

// chunkCache keeps encoded chunks that were fetched last. One that is larger than all that it
// keeps is alone in it. It is safe for parallel use.
type chunkCache struct {
	mu     sync.Mutex // guards the rest
	cached *simplelru.LRU[chunkID, []byte]
	bytes  int64

	// atOnce is the size, in bytes, of the largest file that is fetched as a whole.
	atOnce int64
	// once says that nothing of what was fetched is on the disk: see casc.RemoteOptions.WholeFiles.
	once bool
}

type chunkID struct {
	key   keys.Key
	chunk int
}

func newChunkCache(atOnce int64, once bool) *chunkCache {
	const many = 1 << 20 // the bytes are what counts
	kept, err := simplelru.NewLRU[chunkID, []byte](many, nil)
	if err != nil {
		panic(fmt.Sprintf("casc: BUG: %v", err))
	}
	return &chunkCache{cached: kept, atOnce: atOnce, once: once}
}

func (c *chunkCache) get(key keys.Key, chunk int) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cached.Get(chunkID{key, chunk})
}

// drop lets go of a chunk.
func (c *chunkCache) drop(key keys.Key, chunk int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := chunkID{key, chunk}
	if b, ok := c.cached.Peek(id); ok {
		c.bytes -= int64(len(b))
		c.cached.Remove(id)
	}
}

// room returns how many bytes more it can keep.
func (c *chunkCache) room() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, maxChunkBytes-c.bytes)
}

func (c *chunkCache) put(key keys.Key, chunk int, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := chunkID{key, chunk}
	if c.cached.Contains(id) {
		return
	}
	c.cached.Add(id, b)
	for c.bytes += int64(len(b)); c.bytes > maxChunkBytes && c.cached.Len() > 1; {
		_, old, _ := c.cached.RemoveOldest()
		c.bytes -= int64(len(old))
	}
}
