// Package siblings has the order in which siblings are written, for nodes of a file.
package siblings

import (
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
)

// SiblingOrder is the order in which siblings are written. It is for use by one goroutine.
type SiblingOrder struct {
	file        *form.File
	root, value uint16 // the names that will be written last
	err         error  // the first error of a comparison
}

// NewSiblingOrder returns the order of a file's nodes.
func NewSiblingOrder(f *datacenter.File) *SiblingOrder {
	names := f.Names()
	return &SiblingOrder{
		file: f.Form(),
		root: uint16(slices.Index(names, form.RootName) + 1), value: uint16(slices.Index(names, form.ValueName) + 1),
	}
}

// Sort sorts siblings, stably.
func (s *SiblingOrder) Sort(run []datacenter.Node) error {
	s.err = nil
	// Nearly all runs are in order already, and a comparison may have to read the file.
	if !slices.IsSortedFunc(run, s.compare) {
		slices.SortStableFunc(run, s.compare)
	}
	return s.err
}

// CompareKeys compares two siblings of one name by their keys. by is the key whose values differ; it is 0 if the
// definitions differ or nothing does.
func CompareKeys(f *form.File, x, y datacenter.Node) (order int, by uint16, err error) {
	s := SiblingOrder{file: f}
	order, by = s.compareKeys(x, y)
	return order, by, s.err
}

// compare compares siblings as they are written, for nodes of a file.
func (s *SiblingOrder) compare(x, y datacenter.Node) int {
	if x.Form().Name != y.Form().Name {
		return s.name(x.Form().Name) - s.name(y.Form().Name)
	}
	c, _ := s.compareKeys(x, y)
	return c
}

// Name returns the place of a name among the names that will be written.
func (s *SiblingOrder) name(i uint16) int {
	switch i {
	case s.root:
		return form.MaxNames + 1
	case s.value:
		return form.MaxNames + 2
	}
	return int(i)
}

// compareKeys is [CompareSiblings] for nodes of a file.
func (s *SiblingOrder) compareKeys(x, y datacenter.Node) (order int, by uint16) {
	return form.CompareSiblings(x.KeyNames(), y.KeyNames(), s.file.Spell, func(key uint16) int {
		if s.err != nil {
			return 0
		}
		p, pok, err := x.Attribute(key)
		s.note(err)
		q, qok, err := y.Attribute(key)
		s.note(err)
		return form.CompareValues(p.Form(), pok, q.Form(), qok, s.text)
	})
}

func (s *SiblingOrder) note(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *SiblingOrder) text(addr form.Address) []byte {
	units, err := s.file.StringUnits(s.file.Regions.Values.Data, addr)
	s.note(err)
	return units
}
