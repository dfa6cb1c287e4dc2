package worldtree

import "lorefs/internal/cache"

// Forge changes a saved Memory, with correct checksums.
func Forge(data []byte, change func(record string) string) []byte {
	head := 1 + int(data[0]) + len(cache.ID{}.Of)
	return cache.Seal(append(data[:head:head], change(string(data[head:len(data)-4]))...))
}

// Settle waits for what is found out ahead of programs.
func (t *Tree) Settle() { t.listing.ahead.Wait() }
