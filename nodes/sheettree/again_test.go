package sheettree_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/sheettree"
)

// twins returns a data center with siblings that have keys, ids or nothing of their own. Parents share
// runs.
func twins() []byte {
	leaf := func(v string) *dctest.Node {
		return &dctest.Node{Name: "Leaf", Attrs: []dctest.Attr{{Name: "v", Value: v}}, Children: []*dctest.Node{{Name: "In"}, {Name: "In"}}}
	}
	leaves := []*dctest.Node{leaf("a"), leaf("a"), leaf("b"), leaf("a"), leaf("")}
	root := dctest.Root()
	for i := range 3 {
		sheet := &dctest.Node{Name: "Item"}
		for k := range 4 {
			thing := &dctest.Node{Name: "Thing", Keys: []string{"id"}, Children: leaves}
			thing.Attrs = []dctest.Attr{{Name: "id", Value: k}, {Name: "n", Value: float32(i) / 2}, {Name: "s", Value: "007"}}
			plain := &dctest.Node{Name: "Plain", Attrs: []dctest.Attr{{Name: "id", Value: 5 - k}, {Name: "ok", Value: true}}}
			sheet.Children = append(sheet.Children, thing, plain)
		}
		root.Children = append(root.Children, sheet)
	}
	root.Children = append(root.Children, &dctest.Node{Name: "Twin", Children: leaves}, &dctest.Node{Name: "Twin", Children: leaves})
	return dctest.Build(dctest.Doc{Root: root}, dctest.Options{})
}

// againSession removes sheets and nodes, and puts them back.
type againSession struct {
	*edited
	*rand.Rand
	base    *datacenter.File
	records [][]byte
	// sheets are the texts of the sheets in base, and tree the names and texts in the tree.
	paths  []string
	sheets map[string]string
	tree   *copied
}

// copied is a directory, or a file.
type copied struct {
	name, text string
	kids       []*copied
}

// copyOf copies a directory of the tree.
func (e *edited) copyOf(dir nodes.ID, name string) *copied {
	c := &copied{name: name}
	for entry, err := range e.tree.ReadDir(e.Context(), dir, 0) {
		e.must(err)
		if entry.Kind == nodes.Dir {
			c.kids = append(c.kids, e.copyOf(entry.ID, entry.Name))
			continue
		}
		text := make([]byte, entry.Size)
		_, err := e.tree.ReadAt(e.Context(), entry.ID, text, 0)
		e.must(err)
		c.kids = append(c.kids, &copied{name: entry.Name, text: string(text)})
	}
	return c
}

// putBack makes what a directory lacks, as cp -a does. It changes what is there.
func (e *edited) putBack(dir nodes.ID, c *copied) {
	e.Helper()
	for _, k := range c.kids {
		entry, err := e.tree.Lookup(e.Context(), dir, k.name)
		switch {
		case err != nil && k.text == "":
			entry, err = e.tree.Mkdir(e.Context(), dir, k.name)
		case err != nil:
			entry, err = e.tree.Create(e.Context(), dir, k.name)
		}
		e.must(err)
		if k.text == "" {
			e.putBack(entry.ID, k)
			continue
		}
		w, err := e.tree.OpenWrite(e.Context(), entry.ID)
		e.must(err)
		e.must(w.Truncate(e.Context(), 0))
		_, err = w.WriteAt(e.Context(), []byte(k.text), 0)
		e.must(err)
		e.must(w.Flush(e.Context()))
		e.must(w.Release())
	}
}

// removeBelow does what rm -r does.
func (e *edited) removeBelow(dir nodes.ID, entry nodes.Entry) {
	e.Helper()
	if entry.Kind == nodes.Dir {
		for _, k := range e.list(entry.ID) {
			e.removeBelow(entry.ID, k)
		}
	}
	e.must(e.tree.Remove(e.Context(), dir, entry.Name, entry.Kind))
}

func (e *edited) list(dir nodes.ID) (all []nodes.Entry) {
	for entry, err := range e.tree.ReadDir(e.Context(), dir, 0) {
		e.must(err)
		all = append(all, entry)
	}
	return all
}

// start takes what is there as what is going to be the base.
func (s *againSession) start() {
	s.paths, s.sheets = nil, map[string]string{}
	for _, dir := range []string{"Item", "Twin"} {
		if s.at(dir).ID == 0 {
			continue
		}
		for entry, err := range s.ReadDir(s.Context(), s.at(dir).ID, 0) {
			s.must(err)
			if path := dir + "/" + entry.Name; strings.HasSuffix(path, ".xml") {
				s.paths, s.sheets[path] = append(s.paths, path), s.read(path)
			}
		}
	}
	s.tree = s.copyOf(nodes.Root, "")
}

// write writes the draft to a new file.
func (s *againSession) write(d *edit.Draft) *datacenter.File {
	s.Helper()
	snapshot := d.Snapshot()
	defer snapshot.Close()
	var out bytes.Buffer
	w, err := snapshot.Write(s.Context(), datacenter.WriteOptions{}, &out)
	s.must(err)
	g := dctest.Open(s.T, out.Bytes())
	s.must(w.Compare(s.Context(), g))
	return g
}

// save saves the draft, and goes on with the new file. Some edits are made meanwhile.
func (s *againSession) save() {
	snapshot := s.draft.Snapshot()
	defer snapshot.Close()
	s.start()
	s.step()
	want := s.copyOf(nodes.Root, "")
	var out bytes.Buffer
	w, err := snapshot.Write(s.Context(), datacenter.WriteOptions{}, &out)
	s.must(err)
	g := dctest.Open(s.T, out.Bytes())
	s.must(w.Compare(s.Context(), g))
	s.must(s.draft.Rebase(s.Context(), w, g, func(later [][]byte) error {
		s.records = later
		return nil
	}))
	s.isSame(s.copyOf(nodes.Root, ""), want, "after a save")
	s.base = g
}

func (s *againSession) isSame(got, want *copied, what string) {
	s.Helper()
	if x, y := fmt.Sprintf("%+v", got.flat(nil, "")), fmt.Sprintf("%+v", want.flat(nil, "")); x != y {
		s.Fatalf("%s the tree is\n%s\nwant\n%s", what, x, y)
	}
}

// flat returns the paths with the texts.
func (c *copied) flat(dst []string, path string) []string {
	dst = append(dst, fmt.Sprintf("%s/%s=%q", path, c.name, c.text))
	for _, k := range c.kids {
		dst = k.flat(dst, path+"/"+c.name)
	}
	if path == "" {
		slices.Sort(dst)
	}
	return dst
}

// step removes something, changes it, or puts it back.
func (s *againSession) step() {
	path := s.paths[s.IntN(len(s.paths))]
	dir, name, _ := strings.Cut(path, "/")
	switch entry := s.at(path); s.IntN(6) {
	case 0:
		if entry.ID != 0 {
			s.must(s.Remove(s.Context(), s.at(dir).ID, name, nodes.File))
		}
	case 1:
		s.put(path, s.sheets[path])
	case 2:
		if entry.ID != 0 {
			s.put(path, s.fewer(s.read(path)))
		}
	case 3, 4:
		at, of := nodes.Root, s.list(nodes.Root)
		for len(of) > 0 {
			entry := of[s.IntN(len(of))]
			if entry.Kind == nodes.File || s.IntN(3) == 0 {
				s.removeBelow(at, entry)
				break
			}
			at, of = entry.ID, s.list(entry.ID)
		}
	case 5:
		s.putBack(nodes.Root, s.tree)
	}
}

// put writes a sheet, in its folder.
func (s *againSession) put(path, text string) {
	s.Helper()
	if dir, _, _ := strings.Cut(path, "/"); s.at(dir).ID == 0 {
		_, err := s.Mkdir(s.Context(), nodes.Root, dir)
		s.must(err)
	}
	s.must(s.edited.write(path, text))
	if got := s.read(path); got != text && text == s.sheets[path] {
		s.Fatalf("%s was put, and is\n%s\nwant\n%s", path, got, text)
	}
}

// fewer leaves out elements of one line, or gives them another value.
func (s *againSession) fewer(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if isElement := strings.HasSuffix(line, "/>\n"); isElement && s.IntN(6) == 0 {
			continue
		} else if isElement && s.IntN(6) == 0 {
			line = strings.Replace(line, `id="`, `id="7`, 1)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// check compares what edits say with what differs.
func (s *againSession) check() {
	s.Helper()
	written := s.write(s.draft)
	differs := 0
	for _, err := range diff.Compare(s.Context(), s.base, written, diff.Options{}) {
		s.must(err)
		differs++
	}
	pending := s.draft.Pending()
	if differs == 0 != (pending == 0) {
		view := s.draft.View()
		defer view.Close()
		s.Fatalf("%d differences, %d edits: %+v", differs, pending, view.Changes())
	}
	again, err := edit.NewDraft(s.base, nil)
	s.must(err)
	for _, r := range s.records {
		s.must(again.Replay(s.Context(), r))
	}
	if n := again.Pending(); n != pending {
		view := s.draft.View()
		defer view.Close()
		av := again.View()
		defer av.Close()
		s.Fatalf("%d edits after Replay of %d records, want %d: %+v; %+v", n, len(s.records), pending, view.Changes(), av.Changes())
	}
	for d, err := range diff.Compare(s.Context(), written, s.write(again), diff.Options{}) {
		s.must(err)
		s.Fatalf("after Replay: %+v", d)
	}
}

// TestMadeAgain removes sheets and nodes and makes them again, in both views. What is as it was is no
// edit, also after a save or when the records are replayed.
func TestMadeAgain(t *testing.T) {
	testneeds.Seconds(t)
	seeds := testneeds.Cases(25, 150, 1000)
	if testneeds.Racing() {
		seeds = 5 // each saves, and only that starts goroutines
	}
	for seed := range uint64(seeds) {
		t.Logf("seed %d", seed)
		s := &againSession{edited: editSheets(t, twins(), sheettree.EditOptions{}), Rand: rand.New(rand.NewPCG(seed, 0))}
		s.logged = func(record []byte) { s.records = append(s.records, bytes.Clone(record)) }
		s.base = s.draft.Saved().First()
		s.start()
		for range 2 {
			for range 8 {
				s.step()
				s.check()
			}
			s.putBack(nodes.Root, s.tree)
			for _, path := range s.paths {
				s.put(path, s.sheets[path])
			}
			s.check()
			if n := s.draft.Pending(); n != 0 {
				t.Fatalf("seed %d: everything is as it was: %d edits", seed, n)
			}
			s.step()
			s.save()
			s.check()
		}
	}
}
