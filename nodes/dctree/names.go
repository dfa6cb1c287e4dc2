package dctree

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/treepath"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// number returns the number of a node or attribute.
func number(id nodes.ID) (n edit.Number, attribute, ok bool) {
	if n, attribute, ok = splitMade(id); ok {
		return n, attribute, true
	}
	stored, _, attribute, ok := split(id)
	return edit.Number(stored), attribute, ok
}

// dirNumber returns the number of a directory, and whether the draft has it.
func (e *edits) dirNumber(id nodes.ID) (n edit.Number, touched bool, err error) {
	n, attribute, ok := number(id)
	switch {
	case !ok:
		return 0, false, nodes.NotExist(id)
	case attribute:
		return 0, false, fmt.Errorf("%v: %w", id, nodes.ErrNotDir)
	}
	touched = e.draft.Touched(n)
	if !touched && n > datacenter.MaxEntries {
		return 0, false, nodes.NotExist(id)
	}
	return n, touched, nil
}

// dirID returns the ID of a directory that the draft has.
func (e *edits) dirID(n edit.Number) nodes.ID {
	if n == 0 {
		return nodes.Root
	}
	if of, ok := e.draft.Node(n); ok && of.Stored {
		return nodeID(uint32(n), of.Base.Address())
	}
	return madeID(n, false)
}

// entryID returns the ID of an entry of the draft.
func entryID(d *edit.Entry) nodes.ID {
	switch {
	case !d.Stored:
		return madeID(d.Number, d.Attribute)
	case d.Attribute:
		return attributeID(uint32(d.Number), d.Addr)
	case d.Number == 0:
		return nodes.Root
	}
	return nodeID(uint32(d.Number), d.Addr)
}

// attributeName returns the file name of an attribute of a draft node.
func (e *edits) attributeName(dir edit.Number, of *edit.Node, d *edit.Entry) (string, error) {
	e.mu.RLock()
	shared, known := e.marked[d.Number]
	e.mu.RUnlock()
	if !known && !d.Added {
		var err error
		if _, shared, err = of.Base.ChildNamed(d.NameIndex, 0); err != nil {
			return "", wrap(err)
		}
	}
	if !known && !shared { // replayed edits may have made a node with that name
		_, shared = e.draft.Child(dir, d.Name, 0)
	}
	name := e.nameOf(d)
	if shared {
		name = "@" + name
	}
	return name, nil
}

// nameOf spells the name of an entry, which may be a new one.
func (e *edits) nameOf(d *edit.Entry) string {
	if int(d.NameIndex) <= len(e.file.Names()) {
		return e.names.Escaped(d.NameIndex)
	}
	return treepath.Escape(d.Name, math.MaxUint16) // plainName refuses names that are cut
}

// spell is nameOf for a name alone.
func (e *edits) spell(name string) string {
	if i := e.names.Index(name); i > 0 {
		return e.names.Escaped(i)
	}
	return treepath.Escape(name, math.MaxUint16)
}

// numbered appends the ordinal that distinguishes a node from its siblings of the same name.
func numbered(name string, ordinal uint32) string {
	if ordinal == 0 {
		return name
	}
	return name + "." + strconv.Itoa(int(ordinal))
}

// plainName is the inverse of nameOf.
func (e *edits) plainName(file string) (string, error) {
	if i, ok := e.indexes[file]; ok {
		return e.file.Names()[i-1], nil
	}
	if len(file) > treepath.MaxSpelled {
		return "", fmt.Errorf("%w: %d bytes, want up to %d", nodes.ErrNameTooLong, len(file), treepath.MaxSpelled)
	}
	name, ok := treepath.Unescape(file)
	if !ok {
		return "", fmt.Errorf("%w: names have %%25 for %%, %%2F for /, %%2E for the dot of a final .1: %q has not",
			nodes.ErrInvalid, file)
	}
	return name, nil
}

// newName returns why nothing new can have a name.
func newName(name string) error { return refusal(datacenter.CheckName(name)) }

// attributeFile splits the file name of an attribute.
func (e *edits) attributeFile(file string) (name string, marked bool, err error) {
	if len(file) > 0 && file[0] == '@' {
		file, marked = file[1:], true
	}
	name, err = e.plainName(file)
	return name, marked, err
}

// childFile splits the directory name of a node.
func (e *edits) childFile(file string) (name string, ordinal uint32, err error) {
	if overlay.IsScratch(file) {
		return "", 0, fmt.Errorf("%w: no node is called %q", nodes.ErrNotPermitted, file)
	}
	plain, n, ok := treepath.SplitOrdinal(file)
	if !ok || n > math.MaxInt32 {
		return "", 0, fmt.Errorf("%w: siblings are numbered from .1 to .%d, without zeros in front: %q is not", nodes.ErrInvalid, math.MaxInt32, file)
	}
	name, err = e.plainName(plain)
	return name, uint32(n), err
}

// refusal maps the errors of edits to those of the tree.
func refusal(err error) error {
	for _, m := range []struct{ of, to error }{
		{datacenter.ErrValue, nodes.ErrInvalid},
		{datacenter.ErrTooLarge, nodes.ErrTooLarge},
		{edit.ErrGone, nodes.ErrNotExist},
	} {
		if errors.Is(err, m.of) {
			return nodes.Mark(err, m.to)
		}
	}
	return wrap(err)
}

// Where implements [overlay.Source].
func (e *edits) Where(id nodes.ID) (dir nodes.ID, name string) {
	n, attribute, ok := number(id)
	switch {
	case !ok || id == nodes.Root:
		return 0, ""
	case !attribute:
		if e.draft.Open(n) != nil {
			return 0, ""
		}
		if of, ok := e.draft.Node(n); ok {
			return e.dirID(of.Parent), numbered(e.spell(of.Name), of.Ordinal)
		}
		return 0, ""
	}
	of, plain, err := e.draft.Holder(n)
	if err != nil {
		return 0, ""
	}
	d, ok := e.draft.Attribute(of, plain)
	if !ok {
		return 0, ""
	}
	node, _ := e.draft.Node(of)
	if name, err = e.attributeName(of, &node, &d); err != nil {
		return 0, ""
	}
	return e.dirID(of), name
}

// Name implements [overlay.Source]. The directory becomes a draft node.
func (e *edits) Name(ctx context.Context, dir nodes.ID, name string) (overlay.Name, error) {
	at := overlay.Name{Text: name, Writable: true}
	if err := e.check(ctx); err != nil {
		return at, err
	}
	in, _, err := e.dirNumber(dir)
	if err == nil {
		err = refusal(e.draft.Open(in))
	}
	if err != nil {
		return at, err
	}
	entry, err := e.lookup(in, name)
	switch {
	case err == nil:
		at.ID, at.Kind = entry.ID, entry.Kind
	case !isNotExist(err):
		return at, err
	}
	at.Dir = overlay.Made{Own: true, Err: e.mayBeNode(name)}
	if overlay.IsScratch(name) {
		return at, nil
	}
	at.File = overlay.Made{Own: true, Err: e.mayBeAttribute(in, name)}
	return at, e.twin(in, name, &at)
}

// twin sets the other spelling of an attribute, because an attribute has only one file.
func (e *edits) twin(in edit.Number, name string, at *overlay.Name) error {
	plain, marked, err := e.attributeFile(name)
	if err != nil {
		return nil //nolint:nilerr // such a name has no twin
	}
	at.Twin = "@" + name
	if marked {
		at.Twin = name[1:]
	}
	d, ok := e.draft.Attribute(in, plain)
	if !ok || entryID(&d) == at.ID {
		return nil
	}
	at.TwinID = entryID(&d)
	return nil
}

// mayBeAttribute returns why there can't be an attribute with a file name.
func (e *edits) mayBeAttribute(in edit.Number, file string) error {
	name, _, err := e.attributeFile(file)
	if err == nil {
		err = newName(name)
	}
	if err == nil && in == 0 {
		err = fmt.Errorf("%w: the root of a data center has no attributes", nodes.ErrNotPermitted)
	}
	return err
}

// mayBeNode returns why there can't be a node with a file name.
func (e *edits) mayBeNode(file string) error {
	name, _, err := e.childFile(file)
	if err == nil {
		err = newName(name)
	}
	return err
}
