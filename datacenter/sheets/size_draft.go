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
	// dirty are sheets that were edited since they were measured.
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
		dirty, known := f.draft.dirty, f.current()
		f.draft.dirty = nil
		f.flight.mu.Unlock()
		grown := known.clone()
		sizes, err := s.measureEdited(ctx, f.info.known, grown, dirty)
		f.flight.mu.Lock()
		defer f.flight.mu.Unlock()
		if err != nil {
			f.again(dirty)
			return err
		}
		f.draft.elements = grown
		if f.draft.sizes == nil {
			f.draft.sizes = map[edit.Number]sheetSize{}
		}
		maps.Copy(f.draft.sizes, sizes)
		return nil
	})
}

// again marks sheets as dirty that could not be measured. The caller holds flight.mu.
func (f *Family) again(sheets map[edit.Number]bool) {
	if f.draft.dirty == nil {
		f.draft.dirty = map[edit.Number]bool{}
	}
	for n := range sheets {
		f.draft.dirty[n] = true
	}
}

// current returns the elements that are known. The caller holds flight.mu.
func (f *Family) current() *elements {
	if f.draft.elements != nil {
		return f.draft.elements
	}
	return f.info.elements
}

// measureEdited measures sheets of a draft. It skips those that are removed meanwhile.
func (s *Source) measureEdited(
	ctx context.Context, known *runSizes, es *elements, dirty map[edit.Number]bool,
) (map[edit.Number]sheetSize, error) {
	e, err := s.encoder(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release(e)
	e.measures()
	m := &measurer{
		ctx: ctx, e: e, known: known, memo: map[runKey]runSize{},
		learn: &learner{es: es, extending: true},
	}
	sizes := map[edit.Number]sheetSize{}
	for n := range dirty {
		sheet, ok := s.edited(n)
		if !ok {
			continue
		}
		it, err := e.load(sheet)
		if err == nil {
			sizes[n], err = m.sheet(&it, es.all[0])
		}
		if err != nil && !errors.Is(err, edit.ErrGone) {
			return nil, err
		}
	}
	es.settle()
	return sizes, nil
}
