package dctree_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/testneeds"
	"lorefs/internal/testneeds/property"
	"lorefs/nodes"
)

// machine does the same to an editable tree and to the model.
type machine struct {
	e       *edited
	root    *item
	handles []handle
	ghosts  []*item // removed files and directories, until Forget
}

type handle struct {
	w nodes.Writer
	f *item
}

func newMachine(t *rapid.T, data []byte) *machine {
	e, err := reopen(data)
	must(t, err)
	m := &machine{e: e, root: newDir(nodes.Root)}
	m.load(t, m.root)
	return m
}

func newDir(id nodes.ID) *item {
	return &item{
		id: id, dir: true, kids: map[string]*item{},
		types: map[string]datacenter.Type{}, hidden: map[string]*item{},
	}
}

// load fills the model from the tree, whose reading other tests check.
func (m *machine) load(t *rapid.T, d *item) {
	for entry, err := range m.e.ReadDir(context.Background(), d.id, 0) {
		must(t, err)
		if entry.Kind == nodes.Dir {
			k := newDir(entry.ID)
			d.put(k, entry.Name)
			m.load(t, k)
			continue
		}
		f := &item{id: entry.ID, data: m.e.text(t, entry.ID), attr: true}
		typ, err := datacenter.ParseType(typeOf(t, m.e, entry.ID))
		must(t, err)
		f.val, err = datacenter.ParseValue(typ, strings.TrimSuffix(f.data, "\n"))
		must(t, err)
		d.put(f, entry.Name)
	}
}

// dirs returns all directories of the model, and some of the removed ones.
func (m *machine) dirs() []*item {
	var all []*item
	m.root.each(func(d *item) { all = append(all, d) })
	slices.SortFunc(all, func(x, y *item) int { return int(x.id) - int(y.id) })
	for _, g := range m.ghosts {
		if g.dir {
			all = append(all, g)
		}
	}
	return all
}

func (m *machine) files() []*item {
	var all []*item
	m.root.each(func(d *item) {
		for _, k := range d.kids {
			if !k.dir {
				all = append(all, k)
			}
		}
	})
	slices.SortFunc(all, func(x, y *item) int { return int(x.id) - int(y.id) })
	return all
}

// name draws any name, more often one that the directory has.
func name(t *rapid.T, d *item, label string) string {
	var names []string
	for _, n := range modelNames {
		names = append(names, n.file)
		if d.kids[n.file] != nil {
			names = append(names, n.file, n.file, n.file)
		}
	}
	return rapid.SampledFrom(names).Draw(t, label)
}

// same fails the test unless both errors are of the same kind.
func same(t *rapid.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) || (want == nil && got != nil) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

func (m *machine) dir(t *rapid.T, label string) *item {
	return rapid.SampledFrom(m.dirs()).Draw(t, label)
}

func (m *machine) create(t *rapid.T) {
	d := m.dir(t, "dir")
	name := name(t, d, "name")
	entry, err := m.e.Create(context.Background(), d.id, name)
	var want error
	switch {
	case d.removed:
		want = nodes.ErrNotExist
	case d.kids[name] != nil:
		want = nodes.ErrExist
	case !isScratchName(name):
		_, want = d.newAttribute(name)
	}
	same(t, "create", err, want)
	if err == nil {
		f := &item{id: entry.ID}
		d.put(f, name)
		m.write(t, f)
	}
}

func (m *machine) mkdir(t *rapid.T) {
	d := m.dir(t, "dir")
	name := name(t, d, "name")
	entry, err := m.e.Mkdir(context.Background(), d.id, name)
	var want error
	_, _, node, _ := nameAt(name)
	switch {
	case d.removed:
		want = nodes.ErrNotExist
	case d.kids[name] != nil:
		want = nodes.ErrExist
	case isScratchName(name):
		want = nodes.ErrNotPermitted
	case !node:
		want = nodes.ErrInvalid
	}
	same(t, "mkdir", err, want)
	if err == nil {
		d.put(newDir(entry.ID), name)
	}
}

func (m *machine) remove(t *rapid.T) {
	d := m.dir(t, "dir")
	name := name(t, d, "name")
	kind := rapid.SampledFrom([]nodes.Kind{nodes.File, nodes.Dir}).Draw(t, "kind")
	k := d.kids[name]
	want := d.remove(name, kind)
	same(t, "remove", m.e.Remove(context.Background(), d.id, name, kind), want)
	if want == nil {
		m.ghosts = append(m.ghosts, k)
	}
}

func (m *machine) rename(t *rapid.T) {
	d, to := m.dir(t, "dir"), m.dir(t, "to")
	from, toName := name(t, d, "name"), name(t, to, "toName")
	mode := rapid.SampledFrom([]nodes.RenameMode{nodes.RenameReplace, nodes.RenameReplace, nodes.RenameKeep, nodes.RenameExchange}).Draw(t, "mode")
	at := to.kids[toName]
	want := d.rename(from, to, toName, mode)
	same(t, "rename", m.e.Rename(context.Background(), d.id, from, to.id, toName, mode), want)
	if want == nil && at != nil && at.removed {
		m.ghosts = append(m.ghosts, at)
	}
}

func (m *machine) openWrite(t *rapid.T) {
	files := m.files()
	if len(files) == 0 || len(m.handles) > 4 {
		t.Skip("nothing to open")
	}
	m.write(t, rapid.SampledFrom(files).Draw(t, "file"))
}

func (m *machine) write(t *rapid.T, f *item) {
	f.writers++
	m.handles = append(m.handles, handle{m.e.open(t, f.id), f})
}

func (m *machine) handle(t *rapid.T) (handle, int) {
	if len(m.handles) == 0 {
		t.Skip("nothing is open")
	}
	i := rapid.IntRange(0, len(m.handles)-1).Draw(t, "handle")
	return m.handles[i], i
}

// texts has values of all types, parts of values, and texts that are no value.
var texts = []string{
	"", "\n", "5", "5\n", "-", "-7\n", "007\n", "2.5\n", "1e3\n", "0.5\r\n", "true\n", "tr", "ue\n", "0\n", "word", "two\nlines\n", "99999999999\n", "\x00", " 3 \n", "NaN\n", "%\n",
}

func (m *machine) writeAt(t *rapid.T) {
	h, _ := m.handle(t)
	p := rapid.SampledFrom(texts).Draw(t, "text")
	off := rapid.SampledFrom([]int{0, len(h.f.shown()), 1, 4}).Draw(t, "off")
	_, err := h.w.WriteAt(context.Background(), []byte(p), int64(off))
	if err == nil {
		h.f.writeAt([]byte(p), off)
		return
	}
	same(t, "write", err, nodes.ErrInvalid)
	size := len(h.f.shown())
	if h.f.removed || isScratchName(h.f.name) || off > size || off+len(p) < size {
		t.Fatalf("write of %q at %d was refused though more may come: %v", p, off, err)
	}
	begin := h.f.shown()[:off] + p
	for _, more := range append([]string{"", "1", ".5", "e5", "rue", "false"[1:], "aN", "nf"}, texts...) {
		begun := begin + more
		_, err := datacenter.ParseValue(h.f.wants(), begun)
		if h.f.wants() == 0 || (err == nil && begin != "\n") { // a shell writes an empty line for a variable that is not set
			t.Fatalf("write of %q at %d was refused though %q is good: %v", p, off, begun, err)
		}
	}
	h.f.refused = h.f.dirty
}

func (m *machine) truncate(t *rapid.T) {
	h, _ := m.handle(t)
	size := rapid.SampledFrom([]int{0, 0, 1, 3, 9}).Draw(t, "size")
	must(t, h.w.Truncate(context.Background(), int64(size)))
	h.f.truncate(size)
}

func (m *machine) flush(t *rapid.T) {
	h, _ := m.handle(t)
	m.e.changes = nil
	err := h.w.Flush(context.Background())
	same(t, "flush", err, h.f.flush())
	if err != nil && (len(m.e.changes) == 0 || m.e.changes[0].ID != h.f.id) {
		t.Fatalf("flush: %v, and told was %+v", err, m.e.changes)
	}
}

func (m *machine) release(t *rapid.T) {
	h, i := m.handle(t)
	same(t, "release", h.w.Release(), h.f.release())
	m.handles = slices.Delete(m.handles, i, i+1)
}

func (m *machine) setType(t *rapid.T) {
	files := m.files()
	if len(files) == 0 {
		t.Skip("no file")
	}
	f := rapid.SampledFrom(files).Draw(t, "file")
	typ := rapid.SampledFrom([]datacenter.Type{datacenter.Int, datacenter.Float, datacenter.Bool, datacenter.String}).Draw(t, "type")
	err := m.e.SetXattr(context.Background(), f.id, "user.lorefs.type", []byte(typ.String()))
	if !f.attr || f.dirty || f.undecided {
		must(t, err)
		f.typ = typ
		return
	}
	plain, _, _, _ := nameAt(f.name)
	text := f.shown()
	v, want := valueFor(typ, plain, text)
	same(t, "set type", err, want)
	if err == nil {
		f.data = text
		f.show(v)
	}
}

func (m *machine) forget(t *rapid.T) {
	if len(m.ghosts) == 0 {
		t.Skip("nothing was removed")
	}
	i := rapid.IntRange(0, len(m.ghosts)-1).Draw(t, "ghost")
	if g := m.ghosts[i]; g.writers == 0 {
		m.e.Forget(g.id)
		m.ghosts = slices.Delete(m.ghosts, i, i+1)
	}
}

// check compares everything that is visible.
func (m *machine) check(t *rapid.T) {
	m.root.each(func(d *item) { m.checkDir(t, d) })
	for _, g := range m.ghosts {
		attr, err := m.e.Attr(context.Background(), g.id)
		if err != nil || !attr.Removed {
			t.Fatalf("removed %q: %+v, %v", g.name, attr, err)
		}
		if g.dir {
			continue
		}
		if got := readAll(t, m.e, g.id); got != g.shown() || attr.Size != int64(len(got)) {
			t.Fatalf("removed %q holds %q of %d bytes, want %q", g.name, got, attr.Size, g.shown())
		}
	}
}

func (m *machine) checkDir(t *rapid.T, d *item) {
	seen := map[string]bool{}
	var listed []nodes.Entry
	for entry, err := range m.e.ReadDir(context.Background(), d.id, 0) {
		must(t, err)
		k := d.kids[entry.Name]
		if k == nil || seen[entry.Name] || k.id != entry.ID {
			t.Fatalf("%s lists %+v, want %+v, once", d.name, entry, k)
		}
		seen[entry.Name] = true
		listed = append(listed, entry)
		m.checkEntry(t, d, k, entry)
	}
	if len(seen) != len(d.kids) {
		t.Fatalf("%s lists %v, want %d", d.name, seen, len(d.kids))
	}
	for i, entry := range listed {
		rest := listed[i+1:]
		for next, err := range m.e.ReadDir(context.Background(), d.id, entry.Next) {
			if err != nil || len(rest) == 0 || next != rest[0] {
				t.Fatalf("behind %s there is %+v, %v; want %+v", entry.Name, next, err, rest)
			}
			rest = rest[1:]
		}
	}
	for _, n := range modelNames {
		if d.kids[n.file] == nil {
			_, err := m.e.Lookup(context.Background(), d.id, n.file)
			same(t, "lookup "+n.file, err, nodes.ErrNotExist)
		}
	}
}

func (m *machine) checkEntry(t *rapid.T, d, k *item, entry nodes.Entry) {
	entry.Next = 0
	if got, err := m.e.Lookup(context.Background(), d.id, entry.Name); err != nil || got != entry {
		t.Fatalf("lookup of %s: %+v, %v; listed is %+v", entry.Name, got, err, entry)
	}
	attr, err := m.e.Attr(context.Background(), k.id)
	if err != nil || attr.Size != entry.Size || attr.Kind != entry.Kind || attr.Removed || (attr.Kind == nodes.Dir) != k.dir {
		t.Fatalf("%s: %+v, %v; listed is %+v", entry.Name, attr, err, entry)
	}
	if k.dir {
		return
	}
	if got := readAll(t, m.e, k.id); got != k.shown() || attr.Size != int64(len(got)) {
		t.Fatalf("%s/%s holds %q of %d bytes, want %q", d.name, k.name, got, attr.Size, k.shown())
	}
	want := ""
	switch {
	case k.typ != 0:
		want = k.typ.String()
	case k.attr:
		want = k.val.Type().String()
	}
	if got := typeOf(t, m.e, k.id); got != want {
		t.Fatalf("%s/%s is of type %q, want %q", d.name, k.name, got, want)
	}
}

// end closes all files, and checks what is left after a crash and after a save.
func (m *machine) end(t *rapid.T) []byte {
	for _, h := range m.handles {
		same(t, "release", h.w.Release(), h.f.release())
	}
	m.handles = nil
	m.check(t)
	want := map[string]string{}
	m.root.saved("", want)
	differ(t, "after a crash", reopened(t, m.e.replayed(t).save(t)), want)

	m.root.each(func(d *item) {
		for plain, f := range d.hidden {
			d.types[plain] = f.val.Type()
		}
		clear(d.hidden)
	})
	clear(want)
	m.root.saved("", want)
	data := m.e.save(t)
	differ(t, "after a save", reopened(t, data), want)
	differ(t, "after a save, of what was logged", reopened(t, m.e.replayed(t).save(t)), want)
	m.check(t)
	m.e.data, m.e.log = data, nil // the log is for the new file from now on
	return data
}

func reopened(t fatal, data []byte) map[string]string {
	e, err := reopen(data)
	must(t, err)
	return shown(t, e)
}

func TestCheck(t *testing.T) {
	testneeds.Seconds(t)
	original := dctest.Build(modelDoc(), dctest.Options{})
	property.Check(t, func(t *rapid.T) {
		m := newMachine(t, original)
		for range 2 {
			t.Repeat(map[string]func(*rapid.T){
				"create": m.create, "mkdir": m.mkdir, "remove": m.remove, "rename": m.rename, "rename ": m.rename,
				"open": m.openWrite, "write": m.writeAt, "write ": m.writeAt, "truncate": m.truncate, "flush": m.flush,
				"release": m.release, "set type": m.setType, "forget": m.forget, "": m.check,
			})
			m.end(t)
		}
	})
}
