package overlay_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// model is what the users of a shelf expect its box to show.
type model struct {
	files map[string]*shown
	// holds has the contents of the shelf's files by name.
	holds map[string]string
	// removed has the files that are in no directory any more.
	removed []*shown
}

// shown is a file.
type shown struct {
	id   nodes.ID
	text string
	// fresh says that the file is the shelf's and was created but not written. refused says that
	// its text can't become its content.
	fresh, refused bool
	// hides is the name of the shelf's file that this one was.
	hides string
}

func isReal(name string) bool { return name == "one" || name == "two" }

func isBad(text string) bool { return strings.HasPrefix(text, "!") }

// stillHides reports whether no other file shows what the file was.
func (m *model) stillHides(f *shown) bool {
	now := m.files[f.hides]
	return f.hides != "" && (now == nil || now.fresh)
}

func (m *model) create(name string) error {
	switch {
	case m.files[name] != nil:
		return nodes.ErrExist
	case strings.HasPrefix(name, "no"):
		return nodes.ErrInvalid
	}
	m.files[name] = &shown{fresh: isReal(name)}
	return nil
}

func (m *model) write(name, text string) error {
	f := m.files[name]
	f.text, f.fresh, f.refused = text, false, isReal(name) && isBad(text)
	if f.refused {
		return nodes.ErrInvalid
	}
	if isReal(name) {
		m.holds[name] = text
	}
	return nil
}

func (m *model) remove(name string) error {
	f := m.files[name]
	switch {
	case f == nil:
		return nodes.ErrNotExist
	case isReal(name) && f.refused:
		m.files[name] = &shown{text: m.holds[name]}
	case isReal(name) && !f.fresh, m.stillHides(f):
		return nodes.ErrNotPermitted
	default:
		delete(m.files, name)
	}
	m.removed = append(m.removed, f)
	return nil
}

func (m *model) rename(from, to string) error {
	f, there := m.files[from], m.files[to]
	switch {
	case f == nil:
		return nodes.ErrNotExist
	case from == to:
		return nil
	case isReal(to):
		return m.ontoReal(from, to)
	case strings.HasPrefix(to, "no"):
		return nodes.ErrInvalid
	case there != nil && m.stillHides(there):
		return nodes.ErrNotPermitted
	}
	if isReal(from) && !f.fresh {
		f.hides = from
	}
	f.fresh = false
	m.replace(from, to)
	return nil
}

func (m *model) ontoReal(from, to string) error {
	f, there := m.files[from], m.files[to]
	switch {
	case isReal(from), f.hides != to && m.stillHides(f):
		return nodes.ErrNotPermitted
	case isBad(f.text):
		f.refused = true
		if there == nil {
			there = &shown{}
			m.files[to] = there
		}
		there.text, there.refused, there.fresh = f.text, true, false
		return nodes.ErrInvalid
	}
	m.holds[to] = f.text
	f.hides, f.refused = "", false
	m.replace(from, to)
	return nil
}

func (m *model) replace(from, to string) {
	if there := m.files[to]; there != nil {
		m.removed = append(m.removed, there)
	}
	m.files[to] = m.files[from]
	delete(m.files, from)
}

func (m *model) exchange(x, y string) error {
	switch {
	case m.files[x] == nil || m.files[y] == nil:
		return nodes.ErrNotExist
	case x == y:
		return nil
	case isReal(x) || isReal(y):
		return nodes.ErrNotPermitted
	}
	m.files[x], m.files[y] = m.files[y], m.files[x]
	return nil
}

// takeBack returns the names of the files whose texts were refused.
func (m *model) takeBack() (refused []string) {
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		if f := m.files[name]; f.refused {
			refused = append(refused, "box/"+name)
			f.refused = false
			if isReal(name) {
				f.text = m.holds[name]
			}
		}
	}
	byID := func(a, b string) int { return cmp.Compare(m.files[a].id, m.files[b].id) }
	for _, name := range slices.SortedFunc(maps.Keys(m.files), byID) {
		if f := m.files[name]; f != nil && m.stillHides(f) {
			m.replace(name, f.hides)
			f.text, f.hides = m.holds[f.hides], ""
		}
	}
	return refused
}

// modeled is a tree with its model.
type modeled struct {
	*rapid.T
	ctx   context.Context
	tree  *overlay.Tree
	shelf *shelf
	model model
}

func newModeled(ctx context.Context, t *rapid.T) *modeled {
	tree, s := newShelf(roomy)
	return &modeled{t, ctx, tree, s, model{
		files: map[string]*shown{"one": {id: one, text: "1"}, "two": {id: two, text: "2"}},
		holds: map[string]string{"one": "1", "two": "2"},
	}}
}

func (m *modeled) name(label string) string {
	return rapid.SampledFrom([]string{"one", "two", "x", "y", "z~", "none"}).Draw(m.T, label)
}

// same compares the errors of an edit.
func (m *modeled) same(err, want error) {
	m.Helper()
	if !errors.Is(err, want) {
		m.Fatalf("%v, want %v", err, want)
	}
}

// Write writes a file as a shell does.
func (m *modeled) Write(*rapid.T) {
	name, text := m.name("name"), rapid.SampledFrom([]string{"", "a", "long", "!", "!!"}).Draw(m.T, "text")
	if m.model.files[name] == nil {
		m.Skip("there is no such file")
	}
	w, err := m.tree.OpenWrite(m.ctx, m.model.files[name].id)
	if err == nil {
		err = w.Truncate(m.ctx, 0)
	}
	if err == nil {
		_, err = w.WriteAt(m.ctx, []byte(text), 0)
	}
	m.same(err, nil)
	m.same(w.Flush(m.ctx), m.model.write(name, text))
	m.same(w.Release(), nil)
}

func (m *modeled) Create(*rapid.T) {
	name := m.name("name")
	entry, err := m.tree.Create(m.ctx, box, name)
	m.same(err, m.model.create(name))
	if err == nil {
		m.model.files[name].id = entry.ID
	}
}

func (m *modeled) Remove(*rapid.T) {
	name := m.name("name")
	m.same(m.tree.Remove(m.ctx, box, name, nodes.File), m.model.remove(name))
	m.adopt(name)
}

func (m *modeled) Rename(*rapid.T) {
	from, to := m.name("from"), m.name("to")
	m.same(m.tree.Rename(m.ctx, box, from, box, to, nodes.RenameReplace), m.model.rename(from, to))
	m.adopt(to)
}

// adopt notes the number of a file that the edit of another file made.
func (m *modeled) adopt(name string) {
	f := m.model.files[name]
	if f == nil || f.id != 0 {
		return
	}
	entry, err := m.tree.Lookup(m.ctx, box, name)
	m.same(err, nil)
	if f.id = entry.ID; f.id < firstID {
		m.Fatalf("%s has the number %d, which another file had", name, f.id)
	}
}

func (m *modeled) Exchange(*rapid.T) {
	x, y := m.name("x"), m.name("y")
	m.same(m.tree.Rename(m.ctx, box, x, box, y, nodes.RenameExchange), m.model.exchange(x, y))
}

func (m *modeled) TakeBack(*rapid.T) {
	in := rapid.SampledFrom([][]nodes.ID{nil, {box}, {two, nodes.Root}}).Draw(m.T, "in")
	if got, want := m.tree.TakeBack(in...), m.model.takeBack(); !slices.Equal(got, want) {
		m.Fatalf("took back %q, want %q", got, want)
	}
}

func (m *modeled) Forget(*rapid.T) {
	for _, f := range m.model.removed {
		m.tree.Forget(f.id)
		if _, err := m.tree.Attr(m.ctx, f.id); f.id >= firstID && !errors.Is(err, nodes.ErrNotExist) {
			m.Fatalf("a file that was forgotten: %v", err)
		}
	}
	m.model.removed = nil
}

// Check compares everything that is visible.
func (m *modeled) Check(*rapid.T) {
	var listed []string
	for e, err := range m.tree.ReadDir(m.ctx, box, 0) {
		m.same(err, nil)
		listed = append(listed, e.Name)
		f := m.model.files[e.Name]
		if f == nil || e.ID != f.id || e.Size != int64(len(f.text)) {
			m.Fatalf("listed %+v, want %+v", e, f)
		}
		if found, err := m.tree.Lookup(m.ctx, box, e.Name); err != nil || found.ID != e.ID {
			m.Fatalf("%s: found %+v, %v", e.Name, found, err)
		}
		m.reads(f, false)
	}
	slices.Sort(listed)
	if want := slices.Sorted(maps.Keys(m.model.files)); !slices.Equal(listed, want) {
		m.Fatalf("listed %q, want %q", listed, want)
	}
	for _, f := range m.model.removed {
		m.reads(f, true)
	}
	m.checkKept()
}

// reads reads a file.
func (m *modeled) reads(f *shown, removed bool) {
	attr, err := m.tree.Attr(m.ctx, f.id)
	if err != nil || attr.Removed != removed || attr.Size != int64(len(f.text)) {
		m.Fatalf("%+v: %+v, %v", f, attr, err)
	}
	p := make([]byte, len(f.text)+1)
	n, err := m.tree.ReadAt(m.ctx, f.id, p, 0)
	if string(p[:n]) != f.text || !errors.Is(err, io.EOF) {
		m.Fatalf("%+v has %q, %v", f, p[:n], err)
	}
}

// checkKept compares what can be saved and what can't.
func (m *modeled) checkKept() {
	var refused, loose, wantRefused, wantLoose []string
	for _, r := range m.tree.Refused() {
		refused = append(refused, r.Path)
	}
	loose = append(m.tree.Loose().Strays, m.tree.Loose().Scratch...)
	for name, f := range m.model.files {
		switch {
		case f.refused:
			wantRefused = append(wantRefused, "box/"+name)
		case !isReal(name) || f.fresh:
			wantLoose = append(wantLoose, "box/"+name)
		}
	}
	slices.Sort(loose)
	slices.Sort(wantRefused)
	slices.Sort(wantLoose)
	if !slices.Equal(refused, wantRefused) || !slices.Equal(loose, wantLoose) {
		m.Fatalf("refused %q, want %q; loose %q, want %q", refused, wantRefused, loose, wantLoose)
	}
	for name, want := range m.model.holds {
		if got := m.shelf.texts[map[string]nodes.ID{"one": one, "two": two}[name]]; got != want {
			m.Fatalf("the shelf's %s holds %q, want %q", name, got, want)
		}
	}
}

// Whatever is edited, all files keep their numbers and show what their users wrote. The source
// holds what was put into it, and nothing that was refused.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newModeled(t.Context(), rt)
		rt.Repeat(map[string]func(*rapid.T){
			"write": m.Write, "create": m.Create, "remove": m.Remove, "rename": m.Rename,
			"exchange": m.Exchange, "forget": m.Forget, "take back": m.TakeBack, "": m.Check,
		})
	})
}
