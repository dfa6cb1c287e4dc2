package overlay

import (
	"context"
	"errors"
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

// mayRename returns why one place can't be renamed to another, judged by the nodes that are
// there. same is true if there is nothing to do.
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

// rename renames the node at a place.
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
			return notThere(err)
		}
	}
	if from.source() != 0 {
		return t.move(ctx, from, to)
	}
	return t.ontoSource(ctx, from, to)
}

// notThere returns the error for a name that a node can't be renamed to. Were it only invalid,
// mv(1) would take it that a directory is moved into itself.
func notThere(err error) error {
	if errors.Is(err, nodes.ErrInvalid) {
		return nodes.Mark(err, nodes.ErrNotPermitted)
	}
	return err
}

// errInItself is the error for a directory that would be moved into itself.
var errInItself = fmt.Errorf("%w: a directory can't be moved into itself", nodes.ErrInvalid)

// errApart is the error for a directory that would become one of the source, or stop being one.
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

// isIn reports whether a directory is the other, or in it.
func (t *Tree) isIn(dir, other nodes.ID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for dir != 0 && dir != other {
		dir, _ = t.where(dir)
	}
	return dir != 0
}

// moving returns the Move that renames from to to.
func moving(from, to *place) Move {
	m := Move{ID: from.source(), To: Place{Dir: to.in, Name: to.Name, ID: to.of.ID}, Text: from.text(), Other: to.text()}
	if from.file != nil {
		m.Undecided, m.Extra = from.file.undecided, from.file.extra
	}
	return m
}

// text returns the text that the file at the place holds, nil if it holds none.
func (p *place) text() []byte {
	switch {
	case p.file == nil || !p.file.Held():
		return nil
	case p.file.Size() == 0:
		return []byte{}
	}
	return p.file.Bytes()
}

// move renames a node of the source.
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
	if to.Exists() || !from.IsDir() { // else a hidden file made room, and still exists
		t.lost(to.of.ID)
		t.lost(to.of.TwinID)
	}
	t.valuedAnew(from)
	return nil
}

// valuedAnew makes a file show the value that the source made of its text. The caller holds mu.
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

// moveBoth makes the source exchange nodes, of which at least one is its own.
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

// toScratch renames a node to a name that is not the source's.
func (t *Tree) toScratch(ctx context.Context, from, to *place) error {
	what := to.of.File
	if from.IsDir() {
		what = to.of.Dir
	}
	if err := to.mayBe(what); err != nil {
		return notThere(err)
	}
	f := from.file
	if from.of.ID != 0 && (f == nil || f.of != 0) {
		var err error
		if f, err = t.leave(ctx, from); err != nil {
			return err
		}
	}
	extra := f.extra
	if t.valued != nil && f.isSource() {
		extra = t.valued.Extra(f.of)
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
		if f.of, f.extra = 0, extra; !f.pending { // else another scratch file hides it
			f.hides = of
		}
	}
	f.pending, f.fresh, f.undecided = false, false, false
	t.put(f, to.dir, to.Name)
	return nil
}

// leave returns the file that is about to leave a name of the source. It holds the content as
// its text from then on.
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

// stay undoes leave if the file is not renamed after all.
func (t *Tree) stay(f *file) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle(f)
}

// ontoSource renames a scratch file to a name of the source. Its text becomes the content of the
// source's file, or the source makes a new file of it.
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
	of, err := t.src.Put(ctx, Place{to.in, to.Name, to.of.ID}, f.Bytes(), From{File: f.id, Renamed: true, Hidden: hidden, Extra: f.extra})
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
	return t.sync()
}
