package kinds

import (
	"runtime/debug"

	"lorefs/nodes/blockcache"
)

const (
	// savingCache is the size of the cache of decoded blocks while a file is packed or read back.
	savingCache = 64 << 20
	// savingMemory is the memory limit of the process meanwhile: for the inflated new file, where
	// each part of it went, and garbage.
	savingMemory = 540 << 20
)

// sparing returns a function that frees memory for a save which reads all of a file once or twice,
// until end is called. Blocks that are kept for later would only take memory from the new file.
// A source saves one file at a time.
func sparing(blocks *blockcache.Cache) (spare func() (end func())) {
	return func() (end func()) {
		budget := blocks.SetBudget(savingCache)
		if budget < savingCache {
			blocks.SetBudget(budget)
		}
		limit := debug.SetMemoryLimit(savingMemory)
		return func() {
			debug.SetMemoryLimit(limit)
			blocks.SetBudget(budget)
		}
	}
}
