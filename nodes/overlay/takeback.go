package overlay

import (
	"cmp"
	"slices"

	"lorefs/nodes"
)

// Unflushed returns the paths of the files with text that was written and that the source does
// not have, because nobody has closed them since. Scratch files are not among them. Only those
// of the files and directories in are returned, or all if there are none.
func (t *Tree) Unflushed(in ...nodes.ID) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var list []string
	for _, f := range t.seenIn(in) {
		if f.Dirty() && (f.of != 0 || f.fresh) {
			list = append(list, t.path(f))
		}
	}
	slices.Sort(list)
	return list
}

// seenIn returns the files of these files and directories, or all if there are none, sorted by
// number. The caller holds mu.
func (t *Tree) seenIn(in []nodes.ID) (list []*file) {
	for _, f := range t.files {
		if f.kind == nodes.File && !f.removed && (len(in) == 0 || t.isAmong(f.id, in)) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *file) int { return cmp.Compare(a.id, b.id) })
	return list
}

// isAmong reports whether a node is one of several, or below one of them. The caller holds mu.
func (t *Tree) isAmong(id nodes.ID, in []nodes.ID) bool {
	for id != 0 && !slices.Contains(in, id) {
		id, _ = t.where(id)
	}
	return id != 0
}

// TakeBack gives up the refused texts of the files and directories in, or all if there are none,
// and returns their paths. These files show the source's content again, or are removed if the
// source has none. A file of the source that was renamed to a scratch file, and not written
// anew, gets its name back; of several, the one with the lowest number. Text that nobody has flushed so far stays, as do all other scratch
// files.
func (t *Tree) TakeBack(in ...nodes.ID) (paths []string) {
	t.editing.Lock()
	defer t.editing.Unlock()
	var told []nodes.Change
	t.mu.Lock()
	for _, f := range t.seenIn(in) {
		if f.removed || f.Dirty() { // an earlier one may have replaced it
			continue
		}
		if f.problem != nil {
			paths = append(paths, t.path(f))
		}
		told = append(told, t.takeBack(f)...)
	}
	t.mu.Unlock()
	for _, c := range told {
		t.tell(c)
	}
	slices.Sort(paths)
	return paths
}

// takeBack takes back what was written to a file and is not in the source, and returns what has
// changed by that. The caller holds editing and mu.
func (t *Tree) takeBack(f *file) []nodes.Change {
	dir, name := t.where(f.id)
	from := nodes.Change{Dir: dir, Name: name}
	switch now, apart := t.shown[f.hides]; {
	case f.hides != 0 && apart && (now == nil || now.pending && !now.Open()):
		if now != nil {
			t.drop(now)
		}
		dir, name = t.src.Where(f.hides)
		t.becomes(f, f.hides)
		t.times.Drop(f.id)
		return []nodes.Change{from, {Dir: dir, Name: name}, {ID: f.id}}
	case f.problem == nil:
		return nil
	case f.fresh:
		t.drop(f)
		return []nodes.Change{from, {ID: f.id}}
	case f.isSource():
		f.Drop()
		f.extra = nil
		t.times.Drop(f.id)
		t.settle(f)
	default:
		f.problem = nil
	}
	return []nodes.Change{{ID: f.id}}
}
