package overlay

import (
	"context"

	"lorefs/nodes"
)

// watcher is the [Watcher] of a Tree.
type watcher struct{ t *Tree }

// Changed implements [Watcher]. The watcher of the Tree knows a file by the number under which
// it is shown.
func (w watcher) Changed(c nodes.Change) {
	if w.t.valued != nil && c.Dir != 0 {
		w.t.times.Touch(c.Dir)
	}
	w.t.tell(c)
	if f := w.t.showing(c.ID); f != nil && f.id != c.ID {
		w.t.tell(nodes.Change{ID: f.id})
	}
}

// showing returns the file that shows one of the source in its place, or nil.
func (t *Tree) showing(of nodes.ID) *file {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.shown[of]
}

// Edited implements [Watcher].
func (w watcher) Edited(file nodes.ID) {
	w.t.editing.Do(func() { w.t.edited(file) })
	w.Changed(nodes.Change{ID: file})
}

// edited gives a file the time of its source again, unless it is being written.
func (t *Tree) edited(of nodes.ID) {
	id := of
	if f := t.showing(of); f != nil {
		id = f.id
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.files[id]
	switch {
	case t.valued != nil:
		t.times.Touch(id)
	case f == nil || !f.Held():
		t.times.Drop(id)
	}
	if f != nil && f.isSource() && !f.Dirty() && f.problem == nil {
		f.Drop()
		t.count(f)
	}
	if now, apart := t.shown[of]; t.valued != nil && apart && now == nil {
		delete(t.shown, of) // it was written anew, by somebody else
	}
}

// Gone implements [Watcher].
func (w watcher) Gone(id nodes.ID, kind nodes.Kind, was Content) {
	w.t.editing.Do(func() { w.t.lose(id, kind, was) })
	w.Changed(nodes.Change{ID: id})
}

// lose records that a node of the source no longer exists.
func (t *Tree) lose(of nodes.ID, kind nodes.Kind, was Content) {
	if kind == nodes.Dir {
		t.loseDir(of)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.shown[of]
	if f == nil {
		f = t.files[of]
	}
	t.lost(of)
	if f != nil && f.isSource() && f.of == of {
		t.loseFile(f, was)
	}
}

// loseFile makes a file a removed one that shows was, unless it has a text. The caller holds mu.
func (t *Tree) loseFile(f *file, was Content) {
	if !f.Held() {
		f.was = was
	}
	t.gone(f)
}

// loseDir is lose for a directory and everything that was in it.
func (t *Tree) loseDir(id nodes.ID) {
	var in []*file
	t.mu.Lock()
	t.lost(id)
	t.files[id] = &file{id: id, kind: nodes.Dir, removed: true, mtime: t.now()}
	for dir := range t.dirs {
		if dir == id || !t.isThere(dir) {
			t.clear(dir)
		}
	}
	for _, f := range t.here {
		if f.isSource() && !t.isThere(f.of) {
			in = append(in, f)
		}
	}
	t.mu.Unlock()
	for _, f := range in {
		was, err := t.src.Now(context.Background(), f.of)
		t.mu.Lock()
		t.lost(f.of)
		if err != nil {
			was = nil
		}
		t.loseFile(f, was)
		t.mu.Unlock()
	}
}

// lost records that the source no longer has a file, so that nothing hides it. The caller holds
// mu.
func (t *Tree) lost(of nodes.ID) {
	if f := t.shown[of]; f != nil && f.pending {
		t.orphaned(f)
	}
	delete(t.shown, of)
	if t.files[of] == nil { // else the number is that of a scratch file
		t.times.Drop(of)
	}
}

// Back implements [Watcher].
func (w watcher) Back() { w.t.editing.Do(w.t.back) }

// back makes removed files and directories the source's again that it has. Those that are open
// show the source's content; nobody could have put what was written to them since.
func (t *Tree) back() {
	var back []nodes.ID
	t.mu.Lock()
	for id, f := range t.files {
		if _, apart := t.shown[id]; !f.removed || apart || !t.inSource(id) {
			continue
		}
		back = append(back, id)
		if t.times.Drop(id); f.kind == nodes.Dir {
			t.forget(id)
			continue
		}
		f.of, f.removed, f.was = id, false, nil
		f.Drop()
		t.count(f)
		t.settle(f)
	}
	t.mu.Unlock()
	for _, id := range back {
		t.tell(nodes.Change{ID: id})
	}
}

// inSource reports whether a node can be reached from the root in the source.
func (t *Tree) inSource(id nodes.ID) bool {
	for id != 0 && id != nodes.Root {
		id, _ = t.src.Where(id)
	}
	return id != 0
}

// isThere reports whether a node is the root, or can be reached from it. The caller holds mu.
func (t *Tree) isThere(dir nodes.ID) bool {
	for dir != 0 && dir != nodes.Root {
		dir, _ = t.where(dir)
	}
	return dir != 0
}

// clear removes the scratch files of a directory. The caller holds mu.
func (t *Tree) clear(dir nodes.ID) {
	for _, f := range t.dirs[dir].names {
		t.drop(f)
	}
}

// HasMore implements [Watcher].
func (w watcher) HasMore(dir nodes.ID) bool {
	w.t.mu.RLock()
	defer w.t.mu.RUnlock()
	d := w.t.dirs[dir]
	return d != nil && len(d.names) > 0
}

// HasText implements [Watcher].
func (w watcher) HasText(file nodes.ID) bool {
	w.t.mu.RLock()
	defer w.t.mu.RUnlock()
	f := w.t.shown[file]
	if f == nil {
		f = w.t.files[file]
	}
	return f != nil && f.isSource() && f.of == file && (f.Dirty() || f.problem != nil)
}
