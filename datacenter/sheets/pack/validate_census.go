package pack

import (
	"lorefs/datacenter"
	"lorefs/datacenter/sheets/xmlsheet"
	"lorefs/datacenter/sheets/xsd"
)

// census has Validate's counts over all sheets, which are to be one data center.
type census struct {
	// Of the current sheet.
	nodes, attributes int64
	totals            totals

	names       nameSet
	definitions definitions
	// told are the limits that have been reported, since everything beyond one exceeds it.
	told map[string]bool
}

func newCensus() census {
	return census{names: newNameSet(), definitions: definitions{}, told: map[string]bool{}}
}

// count counts a new node. A node's own keys count before those of its type.
func (v *validator) count(n *xmlsheet.Node, of *xsd.ElementType) error {
	c := &v.census
	c.nodes++
	c.attributes += int64(len(n.Attributes))
	keys := n.Keys
	if !n.HasKeys && of != nil {
		keys = of.Keys
	}
	if err := v.limit(n.Offset, c.names.add(n.Name)); err != nil {
		return err
	}
	for i := range n.Attributes {
		if err := v.limit(n.Attributes[i].Offset, c.names.add(n.Attributes[i].Name)); err != nil {
			return err
		}
	}
	return v.countKeys(n, keys)
}

func (v *validator) countKeys(n *xmlsheet.Node, keys datacenter.KeyDefinition) error {
	for _, key := range keys {
		if err := v.limit(n.Offset, v.census.names.add([]byte(key))); err != nil {
			return err
		}
	}
	return v.limit(n.Offset, v.census.definitions.add(keys))
}

// limit reports once that a limit was reached.
func (v *validator) limit(offset int, err error) error {
	if err == nil || v.census.told[err.Error()] {
		return nil
	}
	v.census.told[err.Error()] = true
	return v.problem(offset, true, "%v", err)
}

// total adds up at the end of a sheet.
func (v *validator) total() error {
	c := &v.census
	err := c.totals.add(c.nodes, c.attributes)
	c.nodes, c.attributes = 0, 0
	if err == nil || c.told[err.Error()] {
		return nil
	}
	c.told[err.Error()] = true
	return v.report(Problem{File: v.path, What: err.Error(), Refused: true})
}
