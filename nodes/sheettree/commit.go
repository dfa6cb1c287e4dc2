package sheettree

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/plan"
	"lorefs/datacenter/sheets/xmltext"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/nodes"
)

// refusal turns the errors of texts and of edits into those of the tree.
func refusal(err error) error {
	if _, ok := errors.AsType[*xmltext.SyntaxError](err); ok {
		return nodes.Mark(err, nodes.ErrInvalid)
	}
	if _, ok := errors.AsType[*xmltext.ValueError](err); ok {
		return nodes.Mark(err, nodes.ErrInvalid)
	}
	for _, m := range []struct{ of, to error }{
		{datacenter.ErrValue, nodes.ErrInvalid},
		{datacenter.ErrTooLarge, nodes.ErrTooLarge},
	} {
		if errors.Is(err, m.of) && !errors.Is(err, m.to) {
			return nodes.Mark(err, m.to)
		}
	}
	return wrap(err)
}

// commit makes of the text of a file what it is to be. If it can't be that, the file
// shows the text nevertheless. The caller holds editing.
func (e *Editable) commit(ctx context.Context, c *content) error {
	e.mu.RLock()
	name, dir, data := c.name, "", c.Bytes()
	if c.folder != nil {
		dir = c.folder.name
	}
	e.mu.RUnlock()
	var err error
	var s *xsd.Schema
	switch {
	case name == "":
	case classOf(dir, name) == sheetFile:
		if err = e.save(ctx, c, dir, name); err == nil {
			return nil
		}
	case classOf(dir, name) == schemaFile:
		s, err = e.readSchema(dir, name, data)
	}
	if ctx.Err() != nil {
		return ctx.Err() // it is tried again
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c.Tried(err)
	if name != "" && classOf(dir, name) == schemaFile {
		e.override(c, s)
	}
	return err
}

// readSchema reads what is written in the place of a schema. DataCenter.xsd says
// nothing that anybody needs.
func (e *Editable) readSchema(dir, name string, data []byte) (*xsd.Schema, error) {
	if dir == "" {
		return nil, nil //nolint:nilnil // it gives no types
	}
	s, err := xsd.Read(dir+"/"+name, data)
	if err != nil {
		return nil, refusal(err)
	}
	if want, ok := e.src.NameOf(dir); !ok || s.Sheet != want {
		return nil, fmt.Errorf("%w: %s/%s: the schema of %q: want that of %q", nodes.ErrInvalid, dir, name, s.Sheet, want)
	}
	return s, nil
}

// override puts a file in the place of a schema, s being what it says. The caller holds
// mu.
func (e *Editable) override(c *content, s *xsd.Schema) {
	f := c.folder
	if f.scratch[c.name] != c {
		e.put(c, f.name, c.name)
	}
	f.schema = s
}

// save makes the text of a file the sheet that is called like it, and lets the file show
// that. The caller holds editing.
func (e *Editable) save(ctx context.Context, c *content, dir, name string) error {
	target, err := e.target(c, dir, name)
	if err != nil {
		return err
	}
	number, err := e.apply(ctx, target, dir, name, c.Bytes(), nil)
	if err != nil {
		return err
	}
	e.becomes(c, dir, name, number)
	return nil
}

// target is the sheet that a file is, or is to be. The caller holds editing.
func (e *Editable) target(c *content, dir, name string) (sheets.Sheet, error) {
	if c != nil && c.sheet != 0 {
		if s, ok := e.src.Sheet(c.sheet); ok {
			return s, nil
		}
	}
	sheet, ok := e.src.NameOf(dir)
	ordinal, isSheet := sheets.FileOrdinal(dir, name)
	if !ok || !isSheet {
		return sheets.Sheet{}, fmt.Errorf("%w: no sheet can be called %s/%s", nodes.ErrInvalid, dir, name)
	}
	if child, ok := e.draft.Child(0, sheet, ordinal); ok {
		if s, ok := e.src.Sheet(child.Number); ok {
			return s, nil // hidden, or made in another way
		}
	}
	return sheets.Sheet{Name: sheet, Ordinal: ordinal}, nil
}

// apply makes a sheet what a text says, and gives its number. With it come other
// edits. The caller holds editing.
func (e *Editable) apply(
	ctx context.Context, target sheets.Sheet, dir, name string, data []byte, with []datacenter.Edit,
) (datacenter.Number, error) {
	e.mu.RLock()
	opts := plan.Options{}
	if f := e.folders[dir]; f != nil {
		opts.Schema = f.schema
	}
	e.mu.RUnlock()
	number := target.Number
	var made plan.Plan
	err := e.change(ctx, func() ([]datacenter.Edit, error) {
		var err error
		if made, err = e.src.Plan(ctx, target, dir+"/"+name, data, opts); err != nil {
			return nil, err
		}
		if number == 0 {
			number = made.Edits[0].Node
		}
		made.Edits = append(made.Edits, with...)
		if size := datacenter.RecordBound(made.Edits); e.opts.MaxRecord > 0 && size > e.opts.MaxRecord {
			return nil, fmt.Errorf("%w: %s/%s changes %d bytes of data at once, where %d are the most",
				nodes.ErrTooLarge, dir, name, size, e.opts.MaxRecord)
		}
		return made.Edits, nil
	})
	if err != nil {
		return 0, err
	}
	if made.Comments {
		e.tell(commentsLost)
	}
	if made.Spellings {
		e.tell(spellingsLost)
	}
	return number, nil
}

// change has the Editor make edits. What they change elsewhere is told by changed.
func (e *Editable) change(ctx context.Context, plan func() ([]datacenter.Edit, error)) error {
	if err := e.opts.Editor.Change(ctx, e, plan); err != nil {
		return refusal(err)
	}
	return nil
}

// What of a text is not stored.
const (
	commentsLost  = "comments in sheets are not stored"
	spellingsLost = "the spelling of numbers in sheets is not stored: 256.000000 is 256"
)

// tell says once what of a text is not stored.
func (e *Editable) tell(what string) {
	e.mu.Lock()
	told := slices.Contains(e.told, what)
	if !told {
		e.told = append(e.told, what)
	}
	e.mu.Unlock()
	if !told {
		e.opts.Logger.Warn(what)
	}
}

// Notices are what the user should know of what was written so far.
func (e *Editable) Notices() []string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return slices.Clone(e.told)
}

// becomes lets a file show a sheet.
func (e *Editable) becomes(c *content, dir, name string, number datacenter.Number) {
	e.mu.Lock()
	e.take(c)
	if hid := e.hidden[number]; hid != nil {
		hid.hides = 0
		delete(e.hidden, number)
	}
	e.show(number, c.id)
	c.folder, c.name, c.sheet, c.hides = e.state(dir), name, number, 0
	c.Drop()
	e.count(c)
	if !c.Open() {
		delete(e.files, c.id)
	}
	e.mu.Unlock()
	e.owner.Tell(nodes.Change{ID: c.id})
}
