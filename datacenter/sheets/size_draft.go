package sheets

import (
	"context"
	"errors"
	"maps"
	"slices"

	"lorefs/datacenter/edit"
)

// draftFamily is the state of a family in a draft.
type draftFamily struct {
	// added are sheets that the file does not have, or has under another name, in the order
	// in which they were first seen.
	added []edit.Number
	// dirty are sheets that were edited since their measuring began. A sheet that is being
	// measured is one of them: its old size must not pass for the new one.
	dirty map[edit.Number]bool
	// elements are those of the file, and what edits have added. They are replaced, never
	// changed.
	elements *elements
	sizes    map[edit.Number]sheetSize
}

// poll processes new edits of the draft.
func (s *Source) poll() {
	if s.draft == nil {
		return
	}
	s.mu.RLock()
	seen := s.seen
	s.mu.RUnlock()
	if s.draft.Edits() == seen {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.draft.ChangedSince(s.seen) {
		s.seen = c.Edit
		s.changes[c.Sheet] = c
		s.note(c.Sheet)
	}
}

// note marks a sheet as edited in its family. The caller holds mu.
func (s *Source) note(n edit.Number) {
	sheet, ok := s.edited(n)
	if !ok {
		return
	}
	f := s.family(sheet.Name, sheet.name)
	f.flight.mu.Lock()
	defer f.flight.mu.Unlock()
	if f.draft.dirty == nil {
		f.draft.dirty = map[edit.Number]bool{}
	}
	f.draft.dirty[n] = true
	at, stored := s.stored(n)
	if (!stored || at.Name != f.Name) && !slices.Contains(f.draft.added, n) {
		f.draft.added = append(f.draft.added, n)
	}
}

// catchUp measures sheets that were edited. Elements only grow, so what is known about other
// sheets stays true.
func (f *Family) catchUp(ctx context.Context) error {
	s := f.src
	if s.draft == nil {
		return nil
	}
	s.poll()
	return f.flight.do(ctx, func() bool { return len(f.draft.dirty) == 0 }, func() error {
		f.flight.mu.Lock()
		dirty, known := slices.Collect(maps.Keys(f.draft.dirty)), f.current()
		f.flight.mu.Unlock()
		grown := known.clone()
		sizes, err := s.measureEdited(ctx, grown, dirty)
		if err != nil {
			return err
		}
		f.flight.mu.Lock()
		defer f.flight.mu.Unlock()
		f.draft.elements = grown
		if f.draft.sizes == nil {
			f.draft.sizes = map[edit.Number]sheetSize{}
		}
		for _, x := range sizes {
			if x.there {
				f.draft.sizes[x.sheet] = x.size
			}
			if x.version.Is(s.draft.Version(x.sheet)) {
				delete(f.draft.dirty, x.sheet)
			}
		}
		return nil
	})
}

// current returns the elements that are known. The caller holds flight.mu.
func (f *Family) current() *elements {
	if f.draft.elements != nil {
		return f.draft.elements
	}
	return f.info.elements
}

// measured is the size of a version of a sheet of a draft; there is false if it was removed.
type measured struct {
	sheet   edit.Number
	version edit.Version
	there   bool
	size    sheetSize
}

// measureEdited measures sheets of a draft.
func (s *Source) measureEdited(
	ctx context.Context, es *elements, dirty []edit.Number,
) ([]measured, error) {
	e, err := s.encoder(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release(e)
	e.measures()
	m := &measurer{
		ctx: ctx, e: e, memo: map[runKey]runSize{},
		learn: &learner{es: es, extending: true},
	}
	sizes := make([]measured, 0, len(dirty))
	for _, n := range dirty {
		x := measured{sheet: n}
		x.version = s.draft.Version(n)
		x.size, x.there, err = s.measureOne(m, n)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, x)
	}
	es.settle()
	return sizes, nil
}

// measureOne measures a sheet of a draft; there is false if it was removed, perhaps meanwhile.
func (s *Source) measureOne(m *measurer, n edit.Number) (size sheetSize, there bool, err error) {
	sheet, ok := s.edited(n)
	if !ok {
		return size, false, nil
	}
	it, err := m.e.load(sheet)
	if err == nil {
		size, err = m.sheet(&it, m.learn.es.all[0])
	}
	if errors.Is(err, edit.ErrGone) {
		return size, false, nil
	}
	return size, err == nil, err
}

// steady calls read so that what it reads of a sheet is one state: a size and a text belong
// together.
func (s *Source) steady(sheet edit.Number, read func() error) error {
	if s.draft == nil {
		return read()
	}
	return s.draft.Steady(sheet, read)
}
