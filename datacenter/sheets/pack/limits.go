package pack

import (
	"fmt"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
)

// The limits of a data center; the [xmlsheet.Parser] knows the limits of a node. Pack and
// Validate count in the same way.

// maxDefinitions is how many key definitions there can be besides the empty one.
const maxDefinitions = 1<<12 - 1

// totals are the nodes and attributes of sheets, besides the root.
type totals struct{ nodes, attributes int64 }

// add adds a sheet's.
func (t *totals) add(nodes, attributes int64) error {
	t.nodes += nodes
	t.attributes += attributes
	if 1+t.nodes+t.attributes > datacenter.MaxEntries {
		return fmt.Errorf("with it there are more than %d nodes and attributes: %w", datacenter.MaxEntries, datacenter.ErrTooLarge)
	}
	return nil
}

// definitions are the key definitions in use.
type definitions map[string]bool

func (d definitions) add(def datacenter.KeyDefinition) error {
	if len(def) == 0 {
		return nil
	}
	d[strings.Join(def, "\x00")] = true
	if len(d) > maxDefinitions {
		return fmt.Errorf("more than %d key definitions: %w", maxDefinitions, datacenter.ErrTooLarge)
	}
	return nil
}

// nameSet is the set of names in use.
type nameSet map[string]bool

func newNameSet() nameSet { return nameSet{spell.RootName: true, spell.ValueName: true} }

func (s nameSet) add(name []byte) error {
	if s[string(name)] {
		return nil
	}
	s[string(name)] = true
	if len(s) > datacenter.MaxNames {
		return fmt.Errorf("more than %d names: %w", datacenter.MaxNames, datacenter.ErrTooLarge)
	}
	return nil
}
