package overlay

import (
	"context"
	"fmt"

	"lorefs/nodes"
)

// Rename implements [nodes.Mutable].
func (t *Tree) Rename(
	ctx context.Context, dir nodes.ID, name string, toDir nodes.ID, toName string, mode nodes.RenameMode,
) error {
	t.editing.Lock()
	defer t.editing.Unlock()
	from, err := t.find(ctx, dir, name)
	if err != nil {
		return err
	}
	to, err := t.find(ctx, toDir, toName)
	if err != nil {
		return err
	}
	same, err := mayRename(from, to, mode)
	if err != nil || same {
		return err
	}
	rename := t.rename
	if mode == nodes.RenameExchange {
		rename = t.exchange
	}
	if err := rename(ctx, from, to); err != nil {
		return err
	}
	t.times.Touch(dir, toDir)
	return nil
}

// mayRename tells why one place can't be renamed to another, as far as that lies in
// what is there; same tells that there is nothing to do.
func mayRename(from, to *place, mode nodes.RenameMode) (same bool, err error) {
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

// rename renames what is at a place.
func (t *Tree) rename(ctx context.Context, from, to *place) error {
	switch {
	case from.IsDir():
		return t.renameDir(ctx, from, to)
	case to.of.ID != 0 && !to.of.Writable:
		return nodes.ErrReadOnly
	case !to.isSource():
		return t.toScratch(ctx, from, to)
	case !to.Exists():
		if err := t.mayBeFile(to); err != nil {
			return err
		}
	}
	if from.source() != 0 {
		return t.move(ctx, from, to)
	}
	return t.ontoSource(ctx, from, to)
}

// errInItself is why a directory can't go where it is to.
var errInItself = fmt.Errorf("%w: a directory can't be moved into itself", nodes.ErrInvalid)

// errApart is why a directory can't become one of the source, nor one of it another.
var errApart = fmt.Errorf("%w: what is in one of these directories is never saved", nodes.ErrCross)

func (t *Tree) renameDir(ctx context.Context, from, to *place) error {
	if to.Exists() {
		if err := t.mustBeEmpty(ctx, to.ID); err != nil {
			return err
		}
	}
	switch {
	case t.isIn(to.dir, from.ID):
		return errInItself
	case !to.Exists() && to.of.ID != 0 && !to.of.Dir.Own:
		return nodes.ErrNotDir
	case from.source() != 0:
		return t.move(ctx, from, to)
	case to.source() != 0, to.of.Dir.Own:
		return errApart
	}
	return t.toScratch(ctx, from, to)
}

// isIn tells whether a directory is another, or in it.
func (t *Tree) isIn(dir, other nodes.ID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for dir != 0 && dir != other {
		dir, _ = t.where(dir)
	}
	return dir != 0
}

// moving is what the source is to do to rename something.
func moving(from, to *place) Move {
	m := Move{ID: from.source(), To: Place{Dir: to.in, Name: to.Name, ID: to.of.ID}, Text: from.text(), Other: to.text()}
	if from.file != nil {
		m.Note = from.file.note
	}
	return m
}

// text is what the file at a place shows if somebody writes to it, else nil.
func (p *place) text() []byte {
	switch {
	case p.file == nil || !p.file.Held():
		return nil
	case p.file.Size() == 0:
		return []byte{}
	}
	return p.file.Bytes()
}

// move has the source rename what is its own.
func (t *Tree) move(ctx context.Context, from, to *place) error {
	was, err := t.before(ctx, to)
	if err == nil {
		err = t.src.Move(ctx, moving(from, to))
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replaced(to, was)
	if to.Exists() || !from.IsDir() { // else a file that is hidden gave way, and is still there
		t.lost(to.of.ID)
		t.lost(to.of.TwinID)
	}
	t.valuedAnew(from)
	return nil
}

// valuedAnew lets a file show the value that the source made of what it showed. The caller
// holds mu.
func (t *Tree) valuedAnew(p *place) {
	if t.valued != nil && p.file != nil && p.file.kind == nodes.File {
		t.becomes(p.file, p.file.of)
	}
}

// exchange swaps two files of the source, or two scratch files.
func (t *Tree) exchange(ctx context.Context, from, to *place) error {
	if t.isIn(to.dir, from.ID) || t.isIn(from.dir, to.ID) {
		return errInItself
	}
	one, other := from, to
	if one.source() == 0 {
		one, other = to, from
	}
	both := from.source() != 0 && to.source() != 0
	switch {
	case t.valued != nil && !both:
		return fmt.Errorf("%w: only what has a value or is a directory can be exchanged", nodes.ErrInvalid)
	case both, one.source() != 0 && other.of.ID == 0:
		return t.moveBoth(ctx, one, other)
	case from.isSource(), to.isSource():
		return fmt.Errorf("%w: only one of %s and %s was ever saved", nodes.ErrNotPermitted, from.Name, to.Name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.take(from.file)
	t.take(to.file)
	t.put(from.file, to.dir, to.Name)
	t.put(to.file, from.dir, from.Name)
	return nil
}

// moveBoth has the source exchange what is its own.
func (t *Tree) moveBoth(ctx context.Context, one, other *place) error {
	m := moving(one, other)
	m.Exchange = true
	if err := t.src.Move(ctx, m); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.valuedAnew(one)
	t.valuedAnew(other)
	return nil
}

// toScratch renames something to what is no file of the source.
func (t *Tree) toScratch(ctx context.Context, from, to *place) error {
	what := to.of.File
	if from.IsDir() {
		what = to.of.Dir
	}
	if err := to.mayBe(what); err != nil {
		return err
	}
	f := from.file
	if from.of.ID != 0 && (f == nil || f.of != 0) {
		var err error
		if f, err = t.leave(ctx, from); err != nil {
			return err
		}
	}
	note := f.note
	if t.valued != nil && f.isSource() {
		note = t.valued.Note(f.of)
	}
	if to.Exists() {
		if err := t.removeScratch(ctx, to.file); err != nil {
			t.stay(f)
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if from.file != nil {
		t.take(from.file)
	}
	if of := f.of; of != 0 {
		t.shown[of] = nil
		if f.of, f.note = 0, note; !f.pending { // else another one hides it
			f.hides = of
		}
	}
	f.pending, f.fresh = false, false
	t.put(f, to.dir, to.Name)
	return nil
}

// leave gives the file that has the name of one of the source's, and is about to leave it:
// it holds what that shows.
func (t *Tree) leave(ctx context.Context, from *place) (*file, error) {
	if !from.of.Writable {
		return nil, nodes.ErrReadOnly
	}
	f := from.file
	if f == nil {
		f = sourceFile(from.ID, from.of.ID)
	}
	return f, t.hold(ctx, f)
}

// stay is the end of leave if the file does not go.
func (t *Tree) stay(f *file) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle(f)
}

// ontoSource renames a scratch file to a file of the source, whose content it becomes, or
// which the source makes of it.
func (t *Tree) ontoSource(ctx context.Context, from, to *place) error {
	f := from.file
	if f.pending {
		return fmt.Errorf("%w: nobody has written %s so far", nodes.ErrNotPermitted, from.Name)
	}
	was, err := t.before(ctx, to)
	if err != nil {
		return err
	}
	hidden := t.hiddenBy(f)
	if hidden == to.of.ID {
		hidden = 0
	}
	at, said := t.times.Own(f.id)
	of, err := t.src.Put(ctx, Place{to.in, to.Name, to.of.ID}, f.Bytes(), From{f.id, true, hidden, f.note})
	if err != nil {
		if t.valued == nil && !isNotPermitted(err) {
			t.refuse(ctx, f, to, err)
		}
		return err
	}
	t.mu.Lock()
	t.replaced(to, was)
	if of != to.of.ID {
		t.lost(to.of.ID)
	}
	t.becomes(f, of)
	t.lost(hidden)
	t.lost(to.of.TwinID)
	t.mu.Unlock()
	t.written(f, at, said)
	return t.src.Sync()
}
