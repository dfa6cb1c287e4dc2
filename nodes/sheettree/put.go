package sheettree

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// refusal maps the errors of texts and of edits to those of the tree.
func refusal(err error) error {
	if _, ok := errors.AsType[*sheets.SyntaxError](err); ok {
		return nodes.Mark(err, nodes.ErrInvalid)
	}
	if _, ok := errors.AsType[*sheets.ValueError](err); ok {
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

// apply applies the edits that plan returns. Nobody else edits the draft meanwhile. The draft
// reports the changes to changed.
func (e *edits) apply(ctx context.Context, plan func() ([]edit.Edit, error)) error {
	if err := e.draft.ApplyPlan(ctx, e, plan); err != nil {
		return refusal(err)
	}
	return nil
}

// Open implements [overlay.Source].
func (e *edits) Open(ctx context.Context, file nodes.ID) error {
	a, err := e.at(ctx, file)
	switch {
	case err != nil:
		return err
	case a.kind == folder:
		return fmt.Errorf("%v: %w", file, nodes.ErrIsDir)
	}
	return nil
}

// Put implements [overlay.Source].
func (e *edits) Put(ctx context.Context, to overlay.Place, text []byte, from overlay.From) (nodes.ID, error) {
	if to.ID == 0 {
		return e.putNew(ctx, to, text, from.Hidden)
	}
	a, err := e.at(ctx, to.ID)
	if err != nil {
		return 0, err
	}
	if a.kind == schema {
		return to.ID, e.putSchema(ctx, a.folder, text, from.Hidden)
	}
	f := e.src.FamilyOf(a.sheet)
	_, err = e.putSheet(ctx, a.sheet, f.File, f.SheetFile(a.sheet.Ordinal), text, from.Hidden)
	return to.ID, err
}

// putNew puts the text of a new file.
func (e *edits) putNew(ctx context.Context, to overlay.Place, text []byte, hidden nodes.ID) (nodes.ID, error) {
	in, err := e.folder(ctx, to.Dir)
	if err != nil {
		return 0, err
	}
	if classOf(in, to.Name) == schemaFile {
		err := e.putSchema(ctx, in, text, hidden)
		return e.schemaID(in), err
	}
	target, err := e.target(in, to.Name)
	if err != nil {
		return 0, err
	}
	n, err := e.putSheet(ctx, target, in, to.Name, text, hidden)
	return SheetID(n), err
}

// Mkdir implements [overlay.Source].
func (e *edits) Mkdir(_ context.Context, _ nodes.ID, name string) (nodes.ID, error) {
	return e.makeFolder(name), nil
}

// makeFolder makes a folder without sheets. It has no schema of its own, not even with its first
// sheet: tools that copy a folder, as cp -r and tar x, fail if there is a file that they have not made.
func (e *edits) makeFolder(name string) nodes.ID {
	var id nodes.ID
	e.change(name, func(f *folderState) {
		if f.id == 0 {
			e.identify(f)
		}
		f.stays, f.noSchema = true, true
		id = f.id
	})
	return id
}

// putSheet makes a text the content of a sheet, and returns the number of the sheet.
func (e *edits) putSheet(
	ctx context.Context, target sheets.Sheet, in, name string, text []byte, hidden nodes.ID,
) (edit.Number, error) {
	opts := sheets.PlanOptions{}
	if w := e.state(in).written; w != nil {
		opts.Schema = w.says
	}
	number := target.Number
	var made sheets.Plan
	err := e.apply(ctx, func() ([]edit.Edit, error) {
		var err error
		if made, err = e.src.Plan(ctx, target, in+"/"+name, text, opts); err != nil {
			return nil, err
		}
		if number == 0 {
			number = made.Edits[0].Node
		}
		edits := append(made.Edits, removal(hidden)...)
		if size := edit.RecordBound(edits); e.opts.MaxRecord > 0 && size > e.opts.MaxRecord {
			return nil, fmt.Errorf("%w: %s/%s changes %d bytes of data at once, where %d are the most",
				nodes.ErrTooLarge, in, name, size, e.opts.MaxRecord)
		}
		return edits, nil
	})
	if err != nil {
		return 0, err
	}
	e.removeSchema(hidden)
	if made.Comments {
		e.tell(commentsLost)
	}
	if made.Spellings {
		e.tell(spellingsLost)
	}
	return number, nil
}

// These are the notices of what is not stored of a text.
const (
	commentsLost  = "comments in sheets are not stored"
	spellingsLost = "the spelling of numbers in sheets is not stored: 256.000000 is 256"
	schemaLate    = "a schema gives types to the sheets that are saved after it: those of its kind that were there keep theirs"
)

// tell logs a notice, the first time that it is called with it.
func (e *edits) tell(what string) {
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

// putSchema makes a text the schema of a folder.
func (e *edits) putSchema(ctx context.Context, in string, text []byte, hidden nodes.ID) error {
	says, err := e.readSchema(in, text)
	if err != nil {
		return err
	}
	old := 0
	if w := e.state(in).written; w != nil {
		old = len(w.text)
	}
	if f := e.state(in); f.noSchema && f.written == nil && e.hasSheets(in) {
		e.tell(schemaLate)
	}
	e.mu.RLock()
	texts := e.texts + int64(len(text)-old)
	e.mu.RUnlock()
	if texts > e.opts.Limits.Texts {
		return fmt.Errorf("%w: schemas that were written have %d bytes together, where %d are the most", nodes.ErrNoSpace, texts, e.opts.Limits.Texts)
	}
	if hidden != 0 {
		if err := e.Remove(ctx, hidden); err != nil {
			return err
		}
	}
	e.change(in, func(f *folderState) {
		if f.schemaID == 0 && f.noSchema { // handles of the removed schema still read that
			f.schemaID = e.newID(madeSchema, f)
		}
		f.written = &written{text: slices.Clone(text), at: e.opts.Now(), says: says}
		e.texts = texts
	})
	return nil
}

// readSchema parses a written schema. That of the root, DataCenter.xsd, is not used for
// anything.
func (e *edits) readSchema(in string, text []byte) (*xsd.Schema, error) {
	if in == "" {
		return nil, nil //nolint:nilnil // it gives no types
	}
	name := schemaName(in)
	s, err := xsd.Read(in+"/"+name, text)
	if err != nil {
		return nil, refusal(err)
	}
	if want, ok := e.src.NameOf(in); !ok || s.Sheet != want {
		return nil, fmt.Errorf("%w: %s/%s: the schema of %q: want that of %q", nodes.ErrInvalid, in, name, s.Sheet, want)
	}
	return s, nil
}

// Remove implements [overlay.Source].
func (e *edits) Remove(ctx context.Context, id nodes.ID) error {
	a, err := e.at(ctx, id)
	switch {
	case err != nil:
		return err
	case a.kind == folder:
		return e.removeFolder(ctx, a.folder)
	case a.kind == schema:
		e.removeSchema(id)
		return nil
	}
	return e.apply(ctx, func() ([]edit.Edit, error) { return removal(id), nil })
}

// removal returns the edit that removes a sheet. It is none if the ID is not that of a sheet.
func removal(id nodes.ID) []edit.Edit {
	n, ok := SheetNumber(id)
	if !ok {
		return nil
	}
	return []edit.Edit{{Op: edit.RemoveNode, Node: n}}
}

// removeSchema removes a schema. It does nothing if the ID is not that of a schema.
func (e *edits) removeSchema(id nodes.ID) {
	a, err := e.at(context.Background(), id)
	if err != nil || a.kind != schema {
		return
	}
	last := a.folder != "" && !e.hasSheets(a.folder)
	e.change(a.folder, func(f *folderState) {
		f.stays = f.stays || last // until it is removed itself
		if f.written != nil {
			e.texts -= int64(len(f.written.text))
		}
		f.noSchema, f.written = true, nil
		f.schemaID = e.newID(madeSchema, f) // the next schema is another file
	})
}

// removeFolder removes a folder and the hidden sheets in it.
func (e *edits) removeFolder(ctx context.Context, name string) error {
	err := e.apply(ctx, func() (edits []edit.Edit, err error) {
		if f, ok := e.src.Family(name); ok {
			for s := range f.Sheets(0) {
				edits = append(edits, removal(SheetID(s.Number))...)
			}
		}
		return edits, nil
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leaveName(name)
	return nil
}

// leaveName gives new numbers to the next folder of a name, so that it isn't taken for the old
// one. It returns the state of the old folder, or nil. The caller holds mu.
func (e *edits) leaveName(name string) *folderState {
	old, next := e.folders[name], &folderState{name: name}
	if old != nil {
		delete(e.byID, old.id)
		delete(e.byID, old.schemaID)
	}
	e.identify(next)
	e.folders[name] = next
	return old
}

// notThere is the error for a sheet that can't be moved to a place. Were it only invalid, mv(1)
// would take it that a directory is moved into itself.
func notThere(why string) error {
	return nodes.Mark(fmt.Errorf("%w: %s", nodes.ErrInvalid, why), nodes.ErrNotPermitted)
}

// Move implements [overlay.Source]. A sheet can get the number of another one of its folder,
// or of none.
func (e *edits) Move(ctx context.Context, m overlay.Move) error {
	a, err := e.at(ctx, m.ID)
	if err != nil {
		return err
	}
	in, err := e.folder(ctx, m.To.Dir)
	switch {
	case err != nil:
		return err
	case a.kind == folder && !m.Exchange:
		return e.moveFolder(m.ID, a.folder, in, m.To.Name)
	case a.kind != sheet || classOf(in, m.To.Name) != sheetFile:
		return notThere("only sheets of one folder can take the names of others, or what is no sheet")
	}
	if of := e.src.FamilyOf(a.sheet).File; of != in {
		return notThere(fmt.Sprintf("a sheet of %s is none of %s", of, in))
	}
	target, err := e.target(in, m.To.Name)
	if err != nil {
		return err
	}
	return e.apply(ctx, func() ([]edit.Edit, error) { return renumbered(a.sheet, target, m.Exchange), nil })
}

// asideOrdinal is the temporary ordinal of a sheet while another takes its place.
const asideOrdinal = math.MaxUint32

// renumbered returns the edits that give x the place of y.
func renumbered(x, y sheets.Sheet, exchange bool) []edit.Edit {
	if exchange {
		aside := y
		aside.Ordinal = asideOrdinal
		return []edit.Edit{move(y.Number, aside), move(x.Number, y), move(y.Number, x)}
	}
	var edits []edit.Edit
	if y.Number != 0 {
		edits = removal(SheetID(y.Number))
	}
	return append(edits, move(x.Number, y))
}

// move gives a sheet the place of another.
func move(n edit.Number, to sheets.Sheet) edit.Edit {
	return edit.Edit{Op: edit.MoveNode, Node: n, Name: to.Name, Ordinal: to.Ordinal}
}

// moveFolder renames a folder that has neither sheets nor a written schema. Their names contain
// that of the folder, so they would have to be renamed, too.
func (e *edits) moveFolder(id nodes.ID, from, in, to string) error {
	if err := e.mayBeFolder(in, to); err != nil {
		return err
	}
	if e.hasSheets(from) || e.state(from).written != nil {
		return fmt.Errorf("%w: %s holds sheets or their schema, which are called like it", nodes.ErrNotPermitted, from)
	}
	if e.hasSheets(to) {
		return nodes.ErrNotEmpty
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leaveName(from)
	e.leaveName(to)
	f := e.folders[to]
	delete(e.byID, f.id)
	f.id, f.stays, f.noSchema = id, true, true
	e.byID[id] = f
	return nil
}

// Now implements [overlay.Source].
func (e *edits) Now(ctx context.Context, file nodes.ID) (overlay.Content, error) {
	attr, err := e.Attr(ctx, file)
	if err != nil {
		return nil, err
	}
	text := make([]byte, attr.Size)
	if n, err := e.ReadAt(ctx, file, text, 0); n < len(text) {
		return nil, fmt.Errorf("read %d bytes of %d: %w", n, len(text), err)
	}
	return content{text, attr.ModTime}, nil
}

// content is the former content of a file.
type content struct {
	text []byte
	at   time.Time
}

func (c content) Size(context.Context) (int64, error) { return int64(len(c.text)), nil }
func (c content) ModTime() time.Time                  { return c.at }

func (c content) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return nodes.ReadContent(c.text, p, off)
}
