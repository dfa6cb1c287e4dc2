package kinds

import (
	"runtime/debug"

	"lorefs/nodes/blockcache"
)

const (
	// savingCache is the size of the cache of decoded blocks while a file is packed or read back.
	savingCache = 64 << 20
	// savingMemory is the memory limit of the process meanwhile, and while a command packs or
	// compares whole files: for the inflated new file, where each part of it went, and garbage.
	savingMemory = 540 << 20
	// sparingGarbage is how much garbage may lie in memory while a command packs or compares
	// whole files, as a part of what is in use, in percent. Nearly all of that has no pointers,
	// so looking for garbage costs little.
	sparingGarbage = 30
)

// Spare keeps the memory of a command small that reads all of a source once or twice, until end
// is called: its cache has at most so many bytes, and there is less garbage.
func (s *Source) Spare(cache int64) (end func()) {
	budget := s.Blocks.SetBudget(cache)
	if budget < cache {
		s.Blocks.SetBudget(budget)
	}
	more := LessGarbage()
	return func() {
		more()
		s.Blocks.SetBudget(budget)
	}
}

// LessGarbage keeps less garbage in memory until end is called.
func LessGarbage() (end func()) {
	garbage := debug.SetGCPercent(sparingGarbage)
	limited := limitMemory()
	return func() {
		limited()
		debug.SetGCPercent(garbage)
	}
}

// limitMemory sets savingMemory until end is called, unless the limit is lower already.
func limitMemory() (end func()) {
	limit := debug.SetMemoryLimit(-1) // asks for it
	debug.SetMemoryLimit(min(limit, savingMemory))
	return func() { debug.SetMemoryLimit(limit) }
}

// SpareForSaving is Spare for a command that writes a source anew.
func (s *Source) SpareForSaving() (end func()) { return s.Spare(savingCache) }

// sparing returns a function that frees memory for a save which reads all of a file once or twice,
// until end is called. Blocks that are kept for later would only take memory from the new file.
// A source saves one file at a time.
func sparing(blocks *blockcache.Cache) (spare func() (end func())) {
	return func() (end func()) {
		budget := blocks.SetBudget(savingCache)
		if budget < savingCache {
			blocks.SetBudget(budget)
		}
		limited := limitMemory()
		return func() {
			limited()
			blocks.SetBudget(budget)
		}
	}
}
