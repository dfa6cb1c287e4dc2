package dctree

import (
	"lorefs/datacenter"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// dirState is what is to know of a directory beyond what the draft knows. It is
// guarded by Editable.mu.
type dirState struct {
	// scratch are the files that are no attributes, by name, order has them by their
	// cursors.
	scratch map[string]*content
	order   editing.Order[content]
	// hidden are attributes whose file was renamed to a scratch file, which it is
	// now. Editors do so before they write it anew: the draft keeps the attribute
	// until then, or until the scratch file is removed or all is saved, so that
	// nothing is lost in between.
	hidden map[string]*content
	// types are those of removed attributes: one that comes back takes it again.
	types map[string]datacenter.Type
}

// attributeKey is an attribute by its place.
type attributeKey struct {
	node datacenter.Number
	name string
}

// dirState gives that of a directory, which need not have had one. The caller
// holds mu.
func (e *Editable) dirState(dir datacenter.Number) *dirState {
	s := e.dirs[dir]
	if s == nil {
		s = &dirState{scratch: map[string]*content{}, hidden: map[string]*content{}, types: map[string]datacenter.Type{}}
		e.dirs[dir] = s
	}
	return s
}

// scratchFile finds a scratch file.
func (e *Editable) scratchFile(dir datacenter.Number, name string) (entry nodes.Entry, ok bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if s := e.dirs[dir]; s != nil && s.scratch[name] != nil {
		return scratchEntry(s.scratch[name]), true
	}
	return entry, false
}

// scratchEntry is for whoever holds editing or mu.
func scratchEntry(c *content) nodes.Entry {
	return nodes.Entry{Name: c.name, ID: c.id, Kind: nodes.File, Size: c.Size(), Next: c.cursor + 1}
}

// scratchFrom appends up to limit scratch files of a directory from a cursor on.
func (e *Editable) scratchFrom(dir datacenter.Number, cursor uint64, limit int, dst []nodes.Entry) []nodes.Entry {
	e.mu.RLock()
	defer e.mu.RUnlock()
	s := e.dirs[dir]
	if s == nil {
		return dst
	}
	for c := range s.order.From(cursor) {
		if len(dst) == limit {
			break
		}
		dst = append(dst, scratchEntry(c))
	}
	return dst
}

// putScratch makes a content a scratch file. The caller holds mu.
func (e *Editable) putScratch(c *content, dir datacenter.Number, name string) {
	s := e.dirState(dir)
	c.dir, c.name, c.attribute = dir, name, false
	c.Keep()
	c.cursor = e.cursor
	e.cursor++
	e.loose++
	s.scratch[name] = c
	s.order.Put(c.cursor, c)
	e.files[c.id] = c
}

// dropScratch takes a content out of its directory. The caller holds mu.
func (e *Editable) dropScratch(c *content) {
	s := e.dirs[c.dir]
	e.loose--
	delete(s.scratch, c.name)
	s.order.Take(c.cursor)
}

// isHidden tells whether an attribute of the draft is not to be seen.
func (e *Editable) isHidden(dir datacenter.Number, name string) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	s := e.dirs[dir]
	return s != nil && s.hidden[name] != nil
}

// seen finds an attribute of a draft node, unless it is hidden.
func (e *Editable) seen(dir datacenter.Number, name string) (datacenter.DraftEntry, bool) {
	if e.isHidden(dir, name) {
		return datacenter.DraftEntry{}, false
	}
	return e.draft.Attribute(dir, name)
}

// hide hides an attribute behind the file that had its name. The caller holds mu.
func (e *Editable) hide(c *content, of attributeKey, t datacenter.Type) {
	c.hides, c.hidesType = &of, t
	e.dirState(of.node).hidden[of.name] = c
}

// unhide tells that there is no reason to hide an attribute any more. The caller
// holds mu.
func (e *Editable) unhide(of attributeKey) {
	if s := e.dirs[of.node]; s != nil {
		delete(s.hidden, of.name)
	}
}

// hiddenBy gives the attribute that a scratch file still hides. The caller holds
// editing.
func (e *Editable) hiddenBy(c *content) (attributeKey, bool) {
	if c.hides == nil {
		return attributeKey{}, false
	}
	s := e.dirs[c.hides.node]
	return *c.hides, s != nil && s.hidden[c.hides.name] == c
}

// allHidden are all hidden attributes. The caller holds editing.
func (e *Editable) allHidden() []attributeKey {
	var all []attributeKey
	for dir, s := range e.dirs {
		for name := range s.hidden {
			all = append(all, attributeKey{dir, name})
		}
	}
	return all
}

// noteType remembers the type of an attribute that is removed. The caller holds mu.
func (e *Editable) noteType(of attributeKey, t datacenter.Type) {
	e.dirState(of.node).types[of.name] = t
}

// notedType is what noteType remembered, 0 if there is nothing. The caller holds
// editing.
func (e *Editable) notedType(dir datacenter.Number, name string) datacenter.Type {
	if s := e.dirs[dir]; s != nil {
		return s.types[name]
	}
	return 0
}
