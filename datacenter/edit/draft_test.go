package edit_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds/property"
)

// draftSources returns small files to edit.
var draftSources = sync.OnceValue(func() (files [][]byte) {
	for _, ex := range dctest.Legal() {
		switch ex.Name {
		case "65,535 children", "1,000 nested nodes", "full segments of official files", "long strings":
			continue
		}
		ex.Options.Seal = dctest.SealOptions{}
		files = append(files, dctest.Build(ex.Doc, ex.Options))
	}
	for seed := range uint64(12) {
		doc := dctest.Generate(dctest.GenOptions{Seed: seed, Sheets: 4, Nodes: 60, Layout: datacenter.Layout(seed%3 + 1)})
		o := dctest.Options{NoSharing: seed%4 == 1, Overlap: seed%4 == 2, Placeholders: int(seed % 3)}
		img := dctest.NewImage(doc, o)
		if seed%2 == 1 {
			reverseRuns(img)
		}
		files = append(files, img.Seal(dctest.SealOptions{}))
	}
	for _, doc := range []dctest.Doc{keyedDoc(), dctest.Generate(dctest.GenOptions{Seed: 99, Sheets: 2, Nodes: 30})} {
		img := dctest.NewImage(doc, dctest.Options{})
		reverseRuns(img)
		files = append(files, img.Seal(dctest.SealOptions{}), dctest.Build(doc, dctest.Options{}))
	}
	return files
})

// keyedDoc has siblings of one name with and without keys. Some of them are shared.
func keyedDoc() dctest.Doc {
	var items []*dctest.Node
	leaf := []*dctest.Node{{Name: "Leaf", Attrs: []dctest.Attr{{Name: "id", Value: 1}}}, {Name: "Leaf"}}
	for i := range 24 {
		items = append(items, &dctest.Node{
			Name: []string{"Item", "Part"}[i%2], Keys: []string{"id", "rank"},
			Attrs:    []dctest.Attr{{Name: "id", Value: i / 5}, {Name: "rank", Value: float32(i % 3)}, {Name: "n", Value: i}},
			Children: leaf,
		})
	}
	shared := &dctest.Node{Name: "Shared", Children: items[:7]}
	return dctest.Doc{Root: dctest.Root(
		&dctest.Node{Name: "Sheet", Children: items}, shared, shared,
		&dctest.Node{Name: "Other", Children: []*dctest.Node{shared, {Name: "Shared", Children: leaf}}},
	)}
}

// reverseRuns reverses the runs of children, so that they are out of order.
func reverseRuns(img *dctest.Image) {
	done := map[[2]uint16]bool{}
	childAddr := 12
	if img.Layout == datacenter.LayoutV6X64 {
		childAddr = 16
	}
	for _, s := range img.Nodes.Segments {
		for i := range s.Used {
			n := img.Data[s.Elements+int64(i)*img.Nodes.Size:]
			count := binary.LittleEndian.Uint16(n[dctest.NodeChildCount:])
			addr := [2]uint16{binary.LittleEndian.Uint16(n[childAddr:]), binary.LittleEndian.Uint16(n[childAddr+2:])}
			if binary.LittleEndian.Uint16(n) == 0 || count < 2 || done[addr] {
				continue
			}
			done[addr] = true
			reverseRun(img, addr, int(count))
		}
	}
}

func reverseRun(img *dctest.Image, addr [2]uint16, count int) {
	size := int(img.Nodes.Size)
	first := img.Nodes.Segments[addr[0]].Elements + int64(addr[1])*int64(size)
	run := img.Data[first:][:count*size]
	old := bytes.Clone(run)
	for i := range count {
		copy(run[i*size:], old[(count-1-i)*size:][:size])
	}
}

// session is a Draft with its model and everything that was logged.
type session struct {
	t     rapidTB
	f     *datacenter.File
	d     *edit.Draft
	m     *model
	files []*datacenter.File // the original file and each saved one
	// records has, for each of the files, the records that were logged while it was the
	// newest.
	records [][][]byte
	numbers []edit.Number // all numbers ever used
	// hasAgain says that a node was made again. It is written behind its siblings, and not so after Replay.
	hasAgain bool
	// isSaving says that a Snapshot is being saved.
	isSaving bool
	names    []string
}

func newSession(t rapidTB, data []byte) *session {
	f := dctest.Open(t, data)
	s := &session{t: t, f: f, files: []*datacenter.File{f}, records: [][][]byte{nil}}
	var err error
	s.d, err = edit.NewDraft(f, func(r []byte) error {
		last := len(s.records) - 1
		s.records[last] = append(s.records[last], bytes.Clone(r))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.m = newModel(t, f)
	s.m.rebase()
	for n := range s.m.nodes {
		s.numbers = append(s.numbers, n)
	}
	slices.Sort(s.numbers)
	s.names = append(slices.Clone(f.Names()[:min(len(f.Names()), 9)]),
		"new", "newer", "id", "한", "\xed\xa0\x80", "", dctest.ValueName, dctest.RootName)
	return s
}

func (s *session) number(label string) edit.Number {
	if rapid.IntRange(0, 19).Draw(s.t.rt, label+" is any") == 0 {
		return edit.Number(rapid.Uint32().Draw(s.t.rt, label))
	}
	return rapid.SampledFrom(s.numbers).Draw(s.t.rt, label)
}

// someAttr draws an attribute of a node.
func (s *session) someAttr(node edit.Number) (name string, number edit.Number) {
	x := s.m.nodes[node]
	if x == nil || len(x.attrs) == 0 {
		return "", 0
	}
	var names []string
	for name := range x.attrs {
		names = append(names, name)
	}
	slices.Sort(names)
	name = rapid.SampledFrom(names).Draw(s.t.rt, "of attributes")
	if err := s.d.Open(node); err != nil {
		s.t.Fatal(err)
	}
	e, ok := s.d.Attribute(node, name)
	if !ok {
		s.t.Fatalf("node %d has no %q", node, name)
	}
	return name, e.Number
}

func someValue(t *rapid.T) datacenter.Value {
	switch rapid.IntRange(0, 3).Draw(t, "type") {
	case 0:
		return datacenter.IntValue(rapid.Int32Range(-2, 5).Draw(t, "int"))
	case 1:
		return datacenter.FloatValue(rapid.SampledFrom([]float32{0, -1, 2.5, float32(math.Inf(1)), float32(math.NaN())}).Draw(t, "float"))
	case 2:
		return datacenter.BoolValue(rapid.Bool().Draw(t, "bool"))
	}
	v, err := datacenter.StringValue(rapid.SampledFrom([]string{"", "a", "b", "긴 글", "\xed\xa0\x80", "\U0001f409", strings.Repeat("x", 500)}).Draw(t, "string"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// edits draws one edit, or some that belong together.
func (s *session) edits() []edit.Edit {
	t := s.t.rt
	e := edit.Edit{
		Op: rapid.SampledFrom([]edit.Op{
			edit.SetAttribute, edit.SetAttribute, edit.RemoveAttribute, edit.AddNode, edit.AddNode,
			edit.RemoveNode, edit.MoveNode, edit.MoveNode, edit.SetKeys, edit.SetFlags, 0,
		}).Draw(t, "op"),
		Node: s.number("node"), Name: rapid.SampledFrom(s.names).Draw(t, "name"),
	}
	switch e.Op {
	case 0:
		return s.moveAttribute(e.Node)
	case edit.SetAttribute:
		e.Value = someValue(t)
	case edit.RemoveAttribute:
		if name, n := s.someAttr(e.Node); n != 0 && rapid.Bool().Draw(t, "there") {
			e.Name = name
		}
	case edit.AddNode, edit.MoveNode:
		e.Parent = s.number("parent")
		e.Ordinal = rapid.Uint32Range(0, 6).Draw(t, "ordinal")
		if e.Op == edit.AddNode && rapid.IntRange(0, 15).Draw(t, "new") > 0 {
			e.Node = s.d.NewNumber()
			s.numbers = append(s.numbers, e.Node)
		}
		s.likeSibling(&e)
	case edit.SetKeys:
		e.Keys = rapid.SliceOfN(rapid.SampledFrom(s.names), 0, 5).Draw(t, "keys")
	case edit.SetFlags:
		e.Flags = datacenter.KeyFlags(rapid.IntRange(0, 1).Draw(t, "flags"))
	}
	return []edit.Edit{e}
}

// likeSibling often gives a node the name of an existing sibling.
func (s *session) likeSibling(e *edit.Edit) {
	if p := s.m.nodes[e.Parent]; p != nil && len(p.kids) > 0 && rapid.Bool().Draw(s.t.rt, "like a sibling") {
		k := p.kids[rapid.IntRange(0, len(p.kids)-1).Draw(s.t.rt, "sibling")]
		e.Name = k.name
		if e.Op == edit.AddNode {
			e.Keys = k.keys
		}
	}
}

// moveAttribute returns edits that set an attribute under the number of another one and
// remove that one, in either order.
func (s *session) moveAttribute(from edit.Number) []edit.Edit {
	name, number := s.someAttr(from)
	to := s.number("to")
	toName := rapid.SampledFrom(s.names).Draw(s.t.rt, "to name")
	if number == 0 || to == from && toName == name {
		return nil
	}
	edits := []edit.Edit{
		{Op: edit.SetAttribute, Node: to, Name: toName, Value: someValue(s.t.rt), Attr: number},
		{Op: edit.RemoveAttribute, Node: from, Name: name},
	}
	if rapid.Bool().Draw(s.t.rt, "removed first") {
		slices.Reverse(edits)
	}
	return edits
}

// step applies a batch to the Draft and the model. It returns the batch if it can be made.
func (s *session) step() []edit.Edit {
	var edits []edit.Edit
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 4}).Draw(s.t.rt, "edits") {
		edits = append(edits, s.edits()...)
	}
	m := s.m.clone()
	var want error
	for _, e := range edits {
		if want = m.apply(e); want != nil {
			break
		}
	}
	err := s.d.Apply(context.Background(), edits...)
	if (err == nil) != (want == nil) {
		s.t.Fatalf("Apply(%+v): %v, the model says %v", edits, err, want)
	}
	if err == nil {
		s.m = m
	} else {
		s.m.check(s.t, s.d, s.f)
	}
	s.checkPending()
	if err != nil {
		return nil
	}
	return edits
}

// writeDraft saves a draft and returns the new file.
func writeDraft(t testing.TB, d *edit.Draft, layout datacenter.Layout) (*datacenter.File, []byte) {
	t.Helper()
	var out, again bytes.Buffer
	s := d.Snapshot()
	defer s.Close()
	opts := datacenter.WriteOptions{Layout: layout}
	if _, err := s.Write(context.Background(), opts, &out); err != nil {
		t.Fatal(err)
	}
	w, err := s.Write(context.Background(), opts, &again)
	if err != nil {
		t.Fatal(err)
	}
	g := dctest.OpenAs(t, out.Bytes(), layout)
	if err := w.Compare(context.Background(), g); err != nil {
		t.Fatal(err)
	}
	if err := d.Rebase(context.Background(), w, g, dropLater); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Fatal("not the same bytes twice")
	}
	return g, out.Bytes()
}

// dropLater ignores the records of edits during a save.
func dropLater([][]byte) error { return nil }

// nameOrder returns the place of each name in a file.
func nameOrder(f *datacenter.File) map[string]int {
	order := map[string]int{}
	for i, name := range f.Names() {
		order[name] = i
	}
	return order
}

// checkNames checks that a written file has the names of the file before it in their order,
// then new ones, and __root__ and __value__ last.
func checkNames(t testing.TB, f, g *datacenter.File) {
	t.Helper()
	var want []string
	for _, name := range f.Names() {
		if name != dctest.RootName && name != dctest.ValueName {
			want = append(want, name)
		}
	}
	got := g.Names()
	if len(got) < len(want)+2 || !slices.Equal(got[:len(want)], want) ||
		!slices.Equal(got[len(got)-2:], []string{dctest.RootName, dctest.ValueName}) {
		t.Fatalf("names are %q, want %q first", got, want)
	}
}

// save writes the draft and compares the file with the model. Then it puts the model in the
// order of the file.
func (s *session) save(layout datacenter.Layout) {
	layout = cmp.Or(layout, s.files[len(s.files)-1].Layout())
	s.m.check(s.t, s.d, s.f)
	g, data := writeDraft(s.t, s.d, layout)
	checkNames(s.t, s.f, g)
	s.checkReplay(data, layout)
	s.m.root.sort(nameOrder(g))
	if got, want := newModel(s.t, g).String(), s.m.String(); got != want {
		s.t.Fatalf("the file holds\n%.2000swant\n%.2000s", got, want)
	}
	for _, f := range dctest.StrictFindingsAs(s.t, data, layout, 5) {
		if ofSource := strings.Contains(f.What, "timestamp"); !ofSource { // a save keeps it
			s.t.Errorf("VerifyStrict: %v", f)
		}
	}
	if n := s.d.Pending(); n != 0 {
		s.t.Fatalf("%d edits are pending after a save", n)
	}
	s.files, s.records = append(s.files, g), append(s.records, nil)
	s.m.rebase()
}

// checkReplay makes the edits since the last save again on the last saved file. It compares
// the result with data if that is not nil.
func (s *session) checkReplay(data []byte, layout datacenter.Layout) {
	last := len(s.files) - 1
	d, err := edit.NewDraft(s.files[last], nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range s.records[last] {
		if err := d.Replay(context.Background(), r); err != nil {
			s.t.Fatalf("Replay of %q after %d saves: %v", r, last, err)
		}
	}
	if got, want := d.Entries(), s.m.entries(); got != want {
		s.t.Fatalf("after Replay %d entries, want %d", got, want)
	}
	g, again := writeDraft(s.t, d, cmp.Or(layout, s.files[last].Layout()))
	want := s.m.clone()
	want.root.sort(nameOrder(g))
	if got := newModel(s.t, g).String(); got != want.String() {
		s.t.Fatalf("after Replay, with %d saves before, the tree is\n%.2000swant\n%.2000s", last, got, want)
	}
	if data != nil && last == 0 && !s.hasAgain && !bytes.Equal(data, again) {
		s.t.Fatal("after Replay other bytes are written")
	}
}

// TestDraftIsTheModel checks that a Draft always equals a plain tree after the same edits,
// and so do the file that it writes and the result of replaying its records.
func TestDraftIsTheModel(t *testing.T) {
	layouts := []datacenter.Layout{datacenter.LayoutAuto, datacenter.LayoutV3, datacenter.LayoutV6X86, datacenter.LayoutV6X64}
	sources := draftSources()
	property.Check(t, func(rt *rapid.T) {
		s := newSession(rapidTB{t, rt}, sources[rapid.IntRange(0, len(sources)-1).Draw(rt, "file")])
		for range rapid.IntRange(0, 4).Draw(rt, "saves") {
			for range rapid.IntRange(0, 8).Draw(rt, "batches") {
				s.stepOrRevert()
			}
			if rapid.IntRange(0, 3).Draw(rt, "store fails") == 0 {
				s.failToSave()
			}
			s.save(rapid.SampledFrom(layouts).Draw(rt, "layout"))
		}
		for range rapid.IntRange(0, 8).Draw(rt, "batches") {
			s.stepOrRevert()
		}
		s.m.check(s.t, s.d, s.f)
		s.checkReplay(nil, datacenter.LayoutAuto)
		s.revertAll()
	})
}

// failToSave writes a file and drops it. The Draft must stay unchanged.
func (s *session) failToSave() {
	pending := s.d.Pending()
	w := s.d.Snapshot()
	defer w.Close()
	if _, err := w.Write(context.Background(), datacenter.WriteOptions{}, &bytes.Buffer{}); err != nil || s.d.Pending() != pending {
		s.t.Fatalf("Write: %v, %d edits pending: want %d", err, s.d.Pending(), pending)
	}
}
