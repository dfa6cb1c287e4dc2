package dctest

import (
	"fmt"
	"math"

	"lorefs/datacenter"
)

// countEdits make each count of an image wrong. What follows such a count is read at the
// wrong place, so that the end of the regions is not the end of the file.
func countEdits(layout datacenter.Layout) []edit {
	var edits []edit
	for name, at := range countOffsets(NewImage(subject(layout), Options{FullCount: subjectFull})) {
		for _, v := range []struct {
			name string
			of   func(uint32) uint32
		}{
			{"huge", func(uint32) uint32 { return math.MaxUint32 }},
			{"half of huge", func(uint32) uint32 { return 1 << 31 }},
			{"more by one", func(n uint32) uint32 { return n + 1 }},
			{"less by one", func(n uint32) uint32 { return n - 1 }},
		} {
			edits = append(edits, edit{
				countNames[name] + " " + v.name, "the count lies", AtOpen,
				func(m *Image) { m.Put32(at, v.of(m.U32(at))) },
			})
		}
	}
	return append(edits, addressCountEdits()...)
}

var countNames = []string{
	"count of keys",
	"count of attribute segments", "full_count of attributes",
	"count of node segments", "full_count of nodes",
	"count of value segments", "full_count of values", "count of a value bucket",
	"count of name segments", "full_count of names", "count of a name bucket",
}

func countOffsets(m *Image) []int64 {
	// Use a bucket of two strings: if a bucket lost its only string, the zeros that follow
	// could look like the counts from before.
	used := func(t *Table) int64 {
		for _, b := range t.Buckets {
			if b.Count > 1 {
				return b.Offset
			}
		}
		panic("dctest: BUG: no bucket of two")
	}
	return []int64{
		m.Keys,
		m.Attributes.Offset, m.Attributes.Segments[0].Offset,
		m.Nodes.Offset, m.Nodes.Segments[0].Offset,
		m.Values.Data.Offset, m.Values.Data.Segments[0].Offset, used(&m.Values),
		m.Names.Data.Offset, m.Names.Data.Segments[0].Offset, used(&m.Names),
	}
}

// addressCountEdits make the counts that are larger by one wrong.
func addressCountEdits() []edit {
	var edits []edit
	for _, t := range []struct {
		name string
		of   func(*Image) *Table
		// found is when the missing last address is noticed.
		found Stage
	}{{"values", valuesOf, AtOpen}, {"names", namesOf, AtRead}} {
		for _, v := range []uint32{0, 1, math.MaxUint32} {
			edits = append(edits, edit{
				fmt.Sprintf("count of addresses of %s %d", t.name, v), "the count lies", AtOpen,
				func(m *Image) { m.Put32(t.of(m).Addresses, v) },
			})
		}
		edits = append(edits, edit{
			"count of addresses of " + t.name + " without one more", "the count is not larger by one", t.found,
			func(m *Image) { at := t.of(m).Addresses; m.Put32(at, m.U32(at)-1) },
		})
	}
	return edits
}

func namesOf(m *Image) *Table  { return &m.Names }
func valuesOf(m *Image) *Table { return &m.Values }

// segmentEdits make used_count wrong, which moves nothing.
func segmentEdits() []edit {
	var edits []edit
	for _, r := range []struct {
		name string
		of   func(*Image) *Region
		// found is when two missing elements are noticed. Strings may end with their
		// segment.
		found Stage
	}{
		{"attributes", func(m *Image) *Region { return &m.Attributes }, AtRead},
		{"nodes", func(m *Image) *Region { return &m.Nodes }, AtRead},
		{"values", func(m *Image) *Region { return &m.Values.Data }, AtVerify},
		{"names", func(m *Image) *Region { return &m.Names.Data }, AtVerify},
	} {
		used := func(m *Image) int64 { return r.of(m).Segments[0].Offset + 4 }
		put := func(v uint32) func(*Image) { return func(m *Image) { m.Put32(used(m), v) } }
		edits = append(
			edits,
			edit{"used_count of " + r.name + " above full_count", "used_count is larger than full_count", AtOpen, put(subjectFull + 1)},
			edit{"used_count of " + r.name + " huge", "used_count is larger than full_count", AtOpen, put(math.MaxUint32)},
			edit{"used_count of " + r.name + " 0", "what is referred to is not in use", AtRead, put(0)},
			edit{"used_count of " + r.name + " less by two", "what is referred to is not in use", r.found, func(m *Image) {
				m.Put32(used(m), m.U32(used(m))-2)
			}},
		)
	}
	return edits
}
