package kinds

import (
	"lorefs/cmd/internal/budget"
	"lorefs/nodes/blockcache"
)

// Spare keeps the memory of a command small that reads all of a source once or twice, until end
// is called: its cache has at most so many bytes, and there is less garbage.
func (s *Source) Spare(cache int64) (end func()) { return s.spare(cache, 0) }

// SpareForSaving is Spare for a command that writes a source anew.
func (s *Source) SpareForSaving() (end func()) {
	inflated := int64(0)
	if d, is := s.Archive.(inflater); is {
		inflated = d.Inflated()
	}
	return s.spare(budget.WholeCache, inflated)
}

func (s *Source) spare(cache, inflated int64) (end func()) {
	full, all := shrink(s.Blocks, cache), budget.WholeFiles(inflated)
	return func() {
		all()
		full()
	}
}

// shrink makes a cache smaller until end is called, if it is larger.
func shrink(blocks *blockcache.Cache, cache int64) (end func()) {
	before := blocks.SetBudget(cache)
	if before < cache {
		blocks.SetBudget(before)
	}
	return func() { blocks.SetBudget(before) }
}

// Sparing returns a function that frees memory for a save which reads all of a file once or twice,
// until end is called. inflated is the size of the file. A source saves one file at a time.
func Sparing(blocks *blockcache.Cache, inflated int64) (spare func() (end func())) {
	return func() (end func()) {
		full, all := shrink(blocks, budget.WholeCache), budget.Save(inflated)
		return func() {
			all()
			full()
		}
	}
}

// inflater is an archive whose file is larger in memory.
type inflater interface {
	// Inflated is how large.
	Inflated() int64
}
