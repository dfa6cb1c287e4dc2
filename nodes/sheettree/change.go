package sheettree

import (
	"context"
	"fmt"

	"lorefs/datacenter"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// place is where a name leads.
type place struct {
	editing.Place
	// at is the folder.
	at folderAt
	// sheet is the one that is there, 0 if none.
	sheet datacenter.Number
}

// methods are what the tree does as others do.
type methods = editing.Methods[*place]

// find looks at a name of a folder. The caller holds editing.
func (e *Editable) find(ctx context.Context, dir nodes.ID, name string) (*place, error) {
	f, err := e.folder(ctx, dir)
	p := &place{Place: editing.Place{Name: name}, at: f}
	if err != nil {
		return p, err
	}
	entry, err := e.lookup(ctx, f, name)
	switch {
	case isNotExist(err):
		return p, nil
	case err != nil:
		return p, err
	}
	p.ID, p.Kind = entry.ID, entry.Kind
	if p.IsDir() {
		return p, nil
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if c := e.files[p.ID]; c != nil {
		p.sheet = c.sheet
	} else {
		p.sheet, _ = e.sheetOf(p.ID)
	}
	return p, nil
}

func (p *place) class() class { return classOf(p.at.name, p.Name) }

// allowed tells whether a file can have the name.
func (p *place) allowed() error {
	if p.class() != noFile {
		return nil
	}
	if p.at.name == "" {
		return fmt.Errorf("%w: sheets lie in folders, as Name/Name-00000.xml: %q does not", nodes.ErrInvalid, p.Name)
	}
	return fmt.Errorf("%w: sheets in %s are called %s-00000.xml and so on: %q is not",
		nodes.ErrInvalid, p.at.name, p.at.name, p.Name)
}

// Create implements [nodes.Mutable]. A new sheet is none until it gets its text.
func (e *Editable) Create(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	e.editing.Lock()
	defer e.editing.Unlock()
	p, err := e.find(ctx, dir, name)
	if err == nil && p.Exists() {
		err = nodes.ErrExist
	}
	if err == nil {
		err = p.allowed()
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	e.mu.Lock()
	c := &content{id: e.newID(madeFile)}
	e.put(c, p.at.name, name)
	e.mu.Unlock()
	e.times.Touch(dir, c.id)
	e.mu.RLock()
	defer e.mu.RUnlock()
	entry := e.scratchEntry(c)
	entry.Next = 0
	return entry, nil
}

// Mkdir is the tree's: folders are for sheets of their name.
func (e *Editable) Mkdir(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	e.editing.Lock()
	defer e.editing.Unlock()
	p, err := e.find(ctx, dir, name)
	if err == nil && p.Exists() {
		err = nodes.ErrExist
	}
	if err == nil {
		err = e.folderAllowed(p)
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	e.mu.Lock()
	f := e.state(name)
	if f.id == 0 {
		e.identify(f)
	}
	f.stays = true
	e.mu.Unlock()
	e.times.Touch(dir, f.id)
	return e.folderEntry(name), nil
}

// folderAllowed tells whether there can be a folder of the name.
func (e *Editable) folderAllowed(p *place) error {
	if p.at.name != "" {
		return fmt.Errorf("%w: folders of sheets have no folders in them", nodes.ErrNotPermitted)
	}
	if _, ok := e.src.NameOf(p.Name); !ok && !editing.IsScratch(p.Name) {
		return fmt.Errorf("%w: no sheets can be called %q", nodes.ErrInvalid, p.Name)
	}
	return nil
}

// remove removes what is at a place.
func (e *Editable) remove(ctx context.Context, p *place) error {
	if p.IsDir() {
		return e.removeFolder(p.Name)
	}
	return e.removeFile(ctx, p)
}

// removeFolder removes a folder in which nothing is.
func (e *Editable) removeFolder(name string) error {
	if e.hasSheets(name) && e.anySheet(name) {
		return nodes.ErrNotEmpty
	}
	id := e.folderID(name)
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.state(name)
	if len(f.scratch) > 0 {
		return nodes.ErrNotEmpty
	}
	f.stays, f.removed = false, true
	e.byID[id] = f // until Forget
	delete(e.folders, name)
	e.identify(e.state(name)) // another one of that name is another folder
	return nil
}

// identify gives a folder an ID of its own. The caller holds mu.
func (e *Editable) identify(f *folderState) {
	f.id = e.newID(madeFolder)
	f.cursor = e.cursor
	e.cursor++
	e.byID[f.id] = f
}

// anySheet tells whether a folder shows a sheet.
func (e *Editable) anySheet(name string) bool {
	f, _ := e.src.Family(name)
	for s := range f.Sheets(0) {
		if !e.isHidden(s) {
			return true
		}
	}
	return false
}

func (e *Editable) removeFile(ctx context.Context, p *place) error {
	if c := e.open(p.ID); c != nil && c.sheet == 0 && p.sheet == 0 {
		return e.removeScratch(ctx, c)
	}
	if p.sheet == 0 { // a schema that nobody wrote
		e.mu.Lock()
		defer e.mu.Unlock()
		e.state(p.at.name).noSchema = true
		return nil
	}
	c, err := e.leave(ctx, p.ID)
	if err != nil {
		return err
	}
	err = e.change(ctx, func() ([]datacenter.Edit, error) {
		return []datacenter.Edit{{Op: datacenter.RemoveNode, Node: p.sheet}}, nil
	})
	if err != nil {
		e.stay(c)
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keepFolder(p.at)
	e.gone(c)
	return nil
}

// keepFolder lets a folder stay that may have lost its last sheet. The caller holds mu.
func (e *Editable) keepFolder(f folderAt) {
	if state := e.state(f.name); !state.stays && f.name != "" {
		state.stays = true
	}
}

// removeScratch removes a file that is no sheet, and the sheet that it was before.
func (e *Editable) removeScratch(ctx context.Context, c *content) error {
	if c.hides != 0 {
		if err := e.removeHidden(ctx, c.hides); err != nil {
			return err
		}
		e.mu.Lock()
		e.keepFolder(folderAt{name: c.folder.name})
		e.mu.Unlock()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gone(c)
	return nil
}
