package editing

import (
	"strconv"

	"lorefs/nodes"
)

// Place is where a name leads: what has it in some directory, if anything does.
type Place struct {
	Name string
	// ID is 0 if nothing has the name, Kind is 0 then too.
	ID   nodes.ID
	Kind nodes.Kind
}

// Exists tells whether something has the name.
func (p *Place) Exists() bool { return p.ID != 0 }

// IsDir tells whether a directory has the name.
func (p *Place) IsDir() bool { return p.Kind == nodes.Dir }

// Missing is the [nodes.ErrNotExist] of the name.
func (p *Place) Missing() error { return nodes.NotExist(strconv.Quote(p.Name)) }

// CheckRemove tells why [nodes.Mutable.Remove] can't remove what is there, but for a
// directory's not being empty.
func (p *Place) CheckRemove(kind nodes.Kind) error {
	switch {
	case !p.Exists():
		return p.Missing()
	case kind == nodes.File && p.IsDir():
		return nodes.ErrIsDir
	case kind == nodes.Dir && !p.IsDir():
		return nodes.ErrNotDir
	}
	return nil
}

// CheckRename tells why [nodes.Mutable.Rename] can't rename one place to another, as far as
// that lies in what is there; done tells that there is nothing to do.
func CheckRename(from, to *Place, mode nodes.RenameMode) (done bool, err error) {
	switch {
	case !from.Exists():
		return false, from.Missing()
	case to.Exists() && mode == nodes.RenameKeep:
		return false, nodes.ErrExist
	case !to.Exists() && mode == nodes.RenameExchange:
		return false, to.Missing()
	case from.ID == to.ID:
		return true, nil
	case !to.Exists(), mode == nodes.RenameExchange, from.IsDir() == to.IsDir():
		return false, nil
	case to.IsDir():
		return false, nodes.ErrIsDir
	}
	return false, nodes.ErrNotDir
}
