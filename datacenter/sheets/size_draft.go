package sheets

import (
	"context"
	"errors"
	"maps"
	"slices"

	"lorefs/datacenter/edit"
)

// draftFamily is what the edits of a draft made of a family.
type draftFamily struct {
	// added are the sheets that the file has not, or under another name, in the order
	// in which they were seen.
	added []edit.Number
	// dirty are those that were edited since they were measured.
	dirty map[edit.Number]bool
	// elements are the file's, and what came in addition. They are not changed, but
	// replaced.
	elements *elements
	sizes    map[edit.Number]sheetSize
}

// poll takes notice of what was edited.
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

// note tells the family of a sheet that it was edited. The caller holds mu.
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

// catchUp measures what was edited. The elements grow, so that what was found out
// of other sheets stays true.
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

// again makes sheets dirty that could not be measured. The caller holds the
// flight's mu.
func (f *Family) again(sheets map[edit.Number]bool) {
	if f.draft.dirty == nil {
		f.draft.dirty = map[edit.Number]bool{}
	}
	for n := range sheets {
		f.draft.dirty[n] = true
	}
}

// current is what is known of the elements. The caller holds the flight's mu.
func (f *Family) current() *elements {
	if f.draft.elements != nil {
		return f.draft.elements
	}
	return f.info.elements
}

// measureEdited measures sheets of a draft. One that goes meanwhile is left out.
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
			sizes[n], err = m.sheet(it, es.all[0])
		}
		if err != nil && !errors.Is(err, edit.ErrGone) {
			return nil, err
		}
	}
	es.settle()
	return sizes, nil
}
