package bundle

import (
	"fmt"
	"slices"

	"lorefs/nodes"
)

// install makes the operations of an edit, with the contents that resolve returned. A file that is
// new gets the number id, or one of its own if that is 0. If one can't be made, none is.
func (e *edits) install(ops []op, contents []*content, id nodes.ID) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, o := range ops {
		if err := e.possible(o, i == 0); err != nil {
			return err
		}
	}
	for i, o := range ops {
		switch o.kind {
		case opPut, opBack:
			e.put(o.name, contents[i], id)
		case opRemove:
			e.remove(e.byName[o.name])
		case opRename:
			e.rename(e.byName[o.name], o.to)
		case opExchange:
			e.exchange(e.byName[o.name], e.byName[o.to])
		}
		e.judge(o.name)
		if o.to != "" {
			e.judge(o.to)
		}
	}
	return nil
}

// possible returns an error if an operation names a file that there is not, or can't be. Only the
// first operation of an edit sees the names as they are; those behind it put a file.
func (e *edits) possible(o op, isFirst bool) error {
	m, to := e.byName[o.name], o.name
	switch {
	case o.kind == opPut || o.kind == opBack:
	case !isFirst, m == nil, o.kind == opExchange && e.byName[o.to] == nil, o.name == o.to:
		return fmt.Errorf("%w: %q is not there", errRecord, o.name)
	}
	if o.to != "" {
		to = o.to
	}
	if m == nil || to != o.name {
		if err := e.format.CheckName(to); err != nil {
			return fmt.Errorf("%w: %w", errRecord, err)
		}
	}
	return nil
}

// The callers of the functions below hold mu.

// put gives a file a content, or makes it.
func (e *edits) put(name string, c *content, id nodes.ID) {
	m := e.byName[name]
	if m == nil {
		if id == 0 {
			e.lastID++
			id = e.lastID
		}
		m = &member{id: id, name: name, place: e.placeOf(name)}
		e.link(m)
		e.byID[m.id] = m
	} else {
		e.inMemory -= int64(len(m.content.bytes))
	}
	e.inMemory += int64(len(c.bytes))
	m.content, m.modTime = c, e.opts.Now()
	if b, held := e.base[name]; held && b.content == c {
		m.modTime = b.modTime
	}
}

// placeOf returns the place for a new file: the one that the source has for it, if that is free.
func (e *edits) placeOf(name string) uint64 {
	if b, held := e.base[name]; held {
		if i := e.from(b.place); i == len(e.list) || e.list[i].place != b.place {
			return b.place
		}
	}
	e.lastPlace++
	return e.lastPlace
}

// link puts a file at its place, and cut takes it away.
func (e *edits) link(m *member) {
	e.list = slices.Insert(e.list, e.from(m.place), m)
	e.byName[m.name] = m
}

func (e *edits) cut(m *member) {
	i := e.from(m.place)
	e.list = slices.Delete(e.list, i, i+1)
	delete(e.byName, m.name)
}

func (e *edits) remove(m *member) {
	e.cut(m)
	delete(e.byID, m.id)
	e.inMemory -= int64(len(m.content.bytes))
}

// rename gives a file another name. It takes the place of the file that has it.
func (e *edits) rename(m *member, to string) {
	e.cut(m)
	if old := e.byName[to]; old != nil {
		e.remove(old)
		m.place = old.place
	}
	m.name = to
	e.link(m)
}

// exchange exchanges the names of two files, and their places.
func (e *edits) exchange(a, b *member) {
	e.cut(a)
	e.cut(b)
	a.name, b.name, a.place, b.place = b.name, a.name, b.place, a.place
	e.link(a)
	e.link(b)
}

// judge finds out whether the source holds something else by a name.
func (e *edits) judge(name string) {
	m := e.byName[name]
	b, held := e.base[name]
	if m == nil && !held || m != nil && held && m.content == b.content {
		delete(e.differs, name)
	} else {
		e.differs[name] = struct{}{}
	}
	if m != nil {
		delete(e.gone, name)
	}
}
