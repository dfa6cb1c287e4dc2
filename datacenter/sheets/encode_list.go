package sheets

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"lorefs/datacenter/edit"
)

// Sheets yields the sheets, each with the place after it. It begins at place from: 0, or a
// place that it has yielded. The sheets of the file come first.
func (f *Family) Sheets(from uint64) iter.Seq2[Sheet, uint64] {
	return func(yield func(Sheet, uint64) bool) {
		f.src.poll()
		for i := from; ; i++ {
			sheet, there, more := f.at(i)
			if !more || there && !yield(sheet, i+1) {
				return
			}
		}
	}
}

// at returns the sheet at a place; there is false if it was removed.
func (f *Family) at(i uint64) (sheet Sheet, there, more bool) {
	if i < uint64(len(f.base)) {
		sheet, there = f.src.current(f.base[i])
		return sheet, there && sheet.Name == f.Name, true
	}
	f.flight.mu.Lock()
	added, i := f.draft.added, i-uint64(len(f.base))
	f.flight.mu.Unlock()
	if i >= uint64(len(added)) {
		return sheet, false, false
	}
	sheet, there = f.src.edited(added[i])
	return sheet, there && sheet.Name == f.Name, true
}

// current returns a sheet of the file as it is now: it may have been removed or renamed.
func (s *Source) current(sheet Sheet) (now Sheet, there bool) {
	if s.draft == nil || !s.draft.Touched(sheet.Number) && !s.changed(sheet.Number) {
		return sheet, true
	}
	return s.edited(sheet.Number)
}

// Count returns the number of sheets.
func (f *Family) Count() int {
	if f.src.draft == nil {
		return len(f.base)
	}
	n := 0
	for range f.Sheets(0) {
		n++
	}
	return n
}

// Sheet returns the sheet with a number.
func (s *Source) Sheet(n edit.Number) (Sheet, bool) {
	s.poll()
	sheet, ok := s.stored(n)
	if s.draft == nil || ok && !s.draft.Touched(n) && !s.changed(n) {
		return sheet, ok
	}
	return s.edited(n)
}

// stored returns the sheet of the file with a number.
func (s *Source) stored(n edit.Number) (Sheet, bool) {
	i, ok := slices.BinarySearchFunc(s.sheets, n, func(x Sheet, n edit.Number) int { return cmp.Compare(x.Number, n) })
	if !ok {
		return Sheet{}, false
	}
	return s.sheets[i], true
}

// Named returns the sheet whose file has a name.
func (f *Family) Named(file string) (Sheet, bool) {
	n, ok := FileOrdinal(f.File, file)
	if !ok {
		return Sheet{}, false
	}
	if f.src.draft == nil {
		if int64(n) >= int64(len(f.base)) {
			return Sheet{}, false
		}
		return f.base[n], true
	}
	child, ok := f.src.draft.Child(0, f.Name, n)
	if !ok {
		return Sheet{}, false
	}
	return f.src.Sheet(child.Number)
}

// edited returns a sheet as it is in the draft.
func (s *Source) edited(n edit.Number) (Sheet, bool) {
	info, ok := s.draft.Node(n)
	if !ok { // it was removed, and is back as it was in the file unless it is gone still
		sheet, ok := s.stored(n)
		child, back := s.draft.Child(0, sheet.Name, sheet.Ordinal)
		return sheet, ok && back && child.Number == n
	}
	if info.Parent != 0 || n == 0 {
		return Sheet{}, false
	}
	child, ok := s.draft.Child(0, info.Name, info.Ordinal)
	if !ok || child.Number != n {
		return Sheet{}, false
	}
	return Sheet{
		Number: n, Name: info.Name, Ordinal: info.Ordinal,
		name: s.voc.DraftName(child.NameIndex, child.Name), addr: child.Addr,
	}, true
}

// ModTime returns when a sheet was last edited; ok is false if it was not.
func (s *Source) ModTime(n edit.Number) (at time.Time, ok bool) {
	s.poll()
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, ok := s.changes[n]
	return c.At, ok
}

// changed reports whether a sheet was edited.
func (s *Source) changed(n edit.Number) bool {
	_, ok := s.edit(n)
	return ok
}

// edit returns the number of the last edit of a sheet.
func (s *Source) edit(n edit.Number) (last int64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, ok := s.changes[n]
	return c.Edit, ok
}

// of returns the family of a sheet.
func (s *Source) of(sheet Sheet) *Family {
	s.mu.RLock()
	f, ok := s.byName[sheet.Name]
	s.mu.RUnlock()
	if ok {
		return f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.family(sheet.Name, sheet.name)
}
