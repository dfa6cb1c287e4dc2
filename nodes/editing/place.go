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

// missing is the [nodes.ErrNotExist] of the name.
func (p *Place) missing() error { return nodes.NotExist(strconv.Quote(p.Name)) }

func (p *Place) place() *Place { return p }

// checkRemove tells why what is there can't be removed, but for a directory's not being
// empty.
func (p *Place) checkRemove(kind nodes.Kind) error {
	switch {
	case !p.Exists():
		return p.missing()
	case kind == nodes.File && p.IsDir():
		return nodes.ErrIsDir
	case kind == nodes.Dir && !p.IsDir():
		return nodes.ErrNotDir
	}
	return nil
}

// checkRename tells why one place can't be renamed to another, as far as that lies in
// what is there; same tells that there is nothing to do.
func checkRename(from, to *Place, mode nodes.RenameMode) (same bool, err error) {
	switch {
	case !from.Exists():
		return false, from.missing()
	case to.Exists() && mode == nodes.RenameKeep:
		return false, nodes.ErrExist
	case !to.Exists() && mode == nodes.RenameExchange:
		return false, to.missing()
	case from.ID == to.ID:
		return true, nil
	case !to.Exists(), mode == nodes.RenameExchange, from.IsDir() == to.IsDir():
		return false, nil
	case to.IsDir():
		return false, nodes.ErrIsDir
	}
	return false, nodes.ErrNotDir
}
