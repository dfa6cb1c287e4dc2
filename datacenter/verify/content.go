package verify

import (
	"sync"

	"lorefs/datacenter"
)

// content checks the tables and the graph. In nearly all files nothing is wrong with them, so
// they are tried side by side first, up to the first finding. Only if there is one are they
// checked again, one after the other, which finds all in the order of the file.
func (v *verifier) content() error {
	if v.faultless() {
		return nil
	}
	if err := v.ctx.Err(); err != nil {
		return err
	}
	for _, check := range []func() error{v.names, v.values, v.graph} {
		if err := check(); err != nil {
			return err
		}
		if err := v.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// faultless reports whether nothing is wrong with the tables and the graph. If something is, or
// something can't be read, it says nothing of it.
func (v *verifier) faultless() bool {
	tables, graph := v.trial(), v.trial()
	var tablesErr error
	var running sync.WaitGroup
	running.Go(func() {
		if tablesErr = tables.names(); tablesErr == nil {
			tablesErr = tables.values()
		}
	})
	// The strings that attributes refer to are compared with the table's when both are known.
	graph.valueStarts, graph.assumed = newBitmap(segmentBases(v.file.Regions.Values.Data)), true
	graph.progress = v.progress
	err := graph.graph()
	v.checked = graph.checked // what is checked again is not counted again
	running.Wait()
	if err != nil || tablesErr != nil {
		return false
	}
	v.valueStarts = tables.valueStarts
	for i, bits := range graph.valueStarts.bits {
		if bits&^v.valueStarts.bits[i] != 0 {
			return false
		}
	}
	return true
}

// trial returns a verifier of the same file, for another goroutine, that stops at the first
// finding.
func (v *verifier) trial() *verifier {
	tree := v.tree.Private(datacenter.MostPrivate).File
	return &verifier{
		tree: tree, file: tree.Form(), ctx: v.ctx, strict: v.strict, work: v.work,
		yield: func(Finding) bool { return false },
	}
}
