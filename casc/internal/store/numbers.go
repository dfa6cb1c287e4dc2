package store

import (
	"sync"

	"lorefs/casc/keys"
)

const (
	// blockBits is the number of bits for the number of a chunk. The number of its file is
	// in the bits above.
	blockBits = 24
	// maxNumbered is how many files keep their number at least while no others are asked
	// for.
	maxNumbered = 1 << 15
)

// Numbers numbers encoded files by their keys, for the cache of chunks. Places would
// not do, because an update puts other files there. A file that was not asked for in a long
// time gets a new number, and its chunks age out of the cache.
type Numbers struct {
	mu   sync.Mutex // guards all
	last uint64
	// young has the numbers that were asked for since old was young.
	young, old map[EncodingKey]uint64
}

// EncodingKey is an encoding key or its beginning.
type EncodingKey struct {
	bytes keys.Key
	size  int
}

// EncodingKeyOf returns a key, or the beginning of one.
func EncodingKeyOf(key []byte) EncodingKey {
	k := EncodingKey{size: len(key)}
	copy(k.bytes[:], key)
	return k
}

// First returns the number of the first chunk of the file with that key.
func (b *Numbers) First(key []byte) uint64 {
	k := EncodingKeyOf(key)
	b.mu.Lock()
	defer b.mu.Unlock()
	if n, ok := b.young[k]; ok {
		return n << blockBits
	}
	n, ok := b.old[k]
	if !ok {
		b.last++
		n = b.last
	}
	if b.young == nil || len(b.young) >= maxNumbered {
		b.old, b.young = b.young, make(map[EncodingKey]uint64)
	}
	b.young[k] = n
	return n << blockBits
}

// Fresh returns a number for the first chunk of something that has no key.
func (b *Numbers) Fresh() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	return b.last << blockBits
}
