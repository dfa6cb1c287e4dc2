package dcsave

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/query"
	"lorefs/internal/disk"
	"lorefs/internal/formats/datacenter/dctest"
	"lorefs/internal/formats/datacenter/identity"
	"lorefs/internal/journal"
)

// shop is a data center whose nodes are distinguished by a key, an id, another attribute, or their
// place.
func shop() []byte {
	node := func(name string, kids []*dctest.Node, attrs ...any) *dctest.Node {
		n := &dctest.Node{Name: name, Children: kids}
		for i := 0; i < len(attrs); i += 2 {
			n.Attrs = append(n.Attrs, dctest.Attr{Name: attrs[i].(string), Value: attrs[i+1]})
		}
		return n
	}
	var goods, twins []*dctest.Node
	for i := range 4 {
		item := node("Item", []*dctest.Node{node("Stat", nil, "hp", i, "kind", "k")}, "tid", i, "price", 10*i, "text", fmt.Sprint("t", i))
		item.Keys = []string{"tid"}
		goods = append(goods, item)
		twins = append(twins, node("Twin", []*dctest.Node{node("Leaf", nil)}, "v", "same"))
	}
	return dctest.Build(dctest.Doc{Root: dctest.Root(
		node("Goods", goods, "zoneId", 1),
		node("Goods", []*dctest.Node{node("Item", nil, "tid", 9, "price", 1)}, "zoneId", 2),
		node("Names", []*dctest.Node{node("Name", nil, "s", "a", "v", 1), node("Name", nil, "s", "b", "v", 2)}),
		node("Twins", twins),
	)}, dctest.Options{})
}

// numbers returns the numbers of all nodes of a file, by their paths in tree/.
func numbers(t *testing.T, f *datacenter.File) map[string]edit.Number {
	t.Helper()
	all := map[string]edit.Number{}
	l, err := identity.NewLocator(f)
	if err != nil {
		t.Fatal(err)
	}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	for number := range root.Entries() {
		way, err := l.Find(number)
		if errors.Is(err, identity.ErrNoNode) {
			continue // an attribute
		}
		if err != nil {
			t.Fatal(err)
		}
		var path []string
		for _, at := range way[1:] {
			name := at.Step.Name
			if at.Step.Place > 0 {
				name += fmt.Sprint(".", at.Step.Place)
			}
			path = append(path, name)
		}
		all[strings.Join(path, "/")] = edit.Number(number)
	}
	return all
}

func (p *place) openFile() *datacenter.File {
	p.t.Helper()
	data := p.bytes()
	f, err := datacenter.Open(p.t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// edits reads the edits of the journal.
func (p *place) edits() (list []*Edited) {
	p.t.Helper()
	j := p.describe()
	if err := EditsOf(&j, func(e *Edited) error {
		list = append(list, e)
		return nil
	}); err != nil {
		p.t.Fatal(err)
	}
	return list
}

// wantPaths checks that each path of a list of edits finds only its node in a file.
func wantPaths(t *testing.T, f *datacenter.File, edits []*Edited) {
	t.Helper()
	trees := map[edit.Number]string{}
	for path, number := range numbers(t, f) {
		trees[number] = path
	}
	check := func(b *Before) {
		if b == nil || b.Number == 0 {
			return
		}
		q, err := query.Compile(b.Path)
		if err != nil {
			t.Fatalf("%q: %v", b.Path, err)
		}
		var found []string
		for m, err := range q.Run(t.Context(), f) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, m.Path)
		}
		if !slices.Equal(found, []string{trees[b.Number]}) {
			t.Errorf("%s finds %q, want %s", b.Path, found, trees[b.Number])
		}
	}
	for _, e := range edits {
		check(e.On.Base)
		check(e.Into.Base)
		check(e.Behind)
	}
}

// spell returns a line with everything that is known about an edit.
func spell(e *Edited) string {
	spot := func(s Spot) string {
		to := fmt.Sprint("?", s.Number)
		if s.Base != nil {
			to = s.Base.Path
		}
		for _, m := range s.Made {
			to += fmt.Sprintf(" > %s by %d", m.Name, m.Edit)
		}
		return to
	}
	known := ""
	if !e.Known {
		known = " unknown"
	}
	switch e.Op {
	case edit.SetAttribute, edit.RemoveAttribute:
		old, value := "-", "-"
		if e.Old.Type() != 0 {
			old = e.Old.Text()
		}
		if e.Value.Type() != 0 {
			value = e.Value.Text()
		}
		return fmt.Sprintf("%s @%s %s to %s%s", spot(e.On), e.Name, old, value, known)
	case edit.AddNode, edit.MoveNode:
		behind := ""
		if e.Behind != nil {
			behind = " behind " + e.Behind.Path
		}
		return fmt.Sprintf("%s into %s as %s%s%s", spot(e.On), spot(e.Into), e.Name, behind, known)
	case edit.RemoveNode:
		all := ""
		if b := e.On.Base; b != nil && b.Element != nil {
			all = fmt.Sprintf(" with %d attributes and %d children", len(b.Element.Attributes), len(b.Element.Children))
		}
		return spot(e.On) + " gone" + all + known
	case edit.SetKeys:
		return fmt.Sprintf("%s keys %v to %v%s", spot(e.On), e.OldKeys, e.Keys, known)
	default:
		return fmt.Sprintf("%s flags %d to %d%s", spot(e.On), e.OldFlags, e.Flags, known)
	}
}

func wantEdits(t *testing.T, edits []*Edited, want ...string) {
	t.Helper()
	var got []string
	for _, e := range edits {
		got = append(got, spell(e))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the edits are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// editShop makes edits of all kinds in a file whose nodes have the given numbers.
func editShop(t *testing.T, d *edit.Draft, n map[string]edit.Number) (want []string) {
	t.Helper()
	made, below := d.NewNumber(), d.NewNumber()
	for _, tt := range []struct {
		edit edit.Edit
		want string
	}{
		{edit.Edit{Op: edit.SetAttribute, Node: n["Goods/Item.2"], Name: "price", Value: datacenter.IntValue(21)}, "/Goods[@zoneId=1]/Item[@tid=2] @price 20 to 21"},
		{edit.Edit{Op: edit.SetAttribute, Node: n["Goods/Item.2"], Name: "price", Value: datacenter.FloatValue(.5)}, "/Goods[@zoneId=1]/Item[@tid=2] @price 21 to 0.5"},
		{edit.Edit{Op: edit.RemoveAttribute, Node: n["Goods/Item.2"], Name: "text"}, "/Goods[@zoneId=1]/Item[@tid=2] @text t2 to -"},
		{edit.Edit{Op: edit.SetAttribute, Node: n["Goods/Item.2"], Name: "text", Value: datacenter.BoolValue(true)}, "/Goods[@zoneId=1]/Item[@tid=2] @text - to true"},
		{edit.Edit{Op: edit.SetAttribute, Node: n["Goods.1/Item"], Name: "new", Value: datacenter.IntValue(1)}, "/Goods[@zoneId=2]/Item @new - to 1"},
		// A path does not use an edited attribute if there is another.
		{edit.Edit{Op: edit.SetAttribute, Node: n["Names/Name.1"], Name: "s", Value: datacenter.IntValue(1)}, "/Names/Name[@v=2] @s b to 1"},
		{edit.Edit{Op: edit.SetAttribute, Node: n["Twins/Twin.1"], Name: "v", Value: datacenter.IntValue(1)}, "/Twins/Twin[2] @v same to 1"},
		{edit.Edit{Op: edit.SetKeys, Node: n["Goods/Item.1"], Keys: datacenter.KeyDefinition{"price", "text"}}, "/Goods[@zoneId=1]/Item[@tid=1] keys tid to price text"},
		{edit.Edit{Op: edit.SetFlags, Node: n["Goods/Item.1"], Flags: 1}, "/Goods[@zoneId=1]/Item[@tid=1] flags 0 to 1"},
		{edit.Edit{Op: edit.SetFlags, Node: n["Goods/Item.1"], Flags: 3}, "/Goods[@zoneId=1]/Item[@tid=1] flags 1 to 3"},
		{
			edit.Edit{Op: edit.AddNode, Node: made, Parent: n["Names"], Name: "Name", Ordinal: 9},
			"/Names > Name by 10 into /Names as Name behind /Names/Name[@v=2]",
		},
		{edit.Edit{Op: edit.AddNode, Node: below, Parent: made, Name: "Part"}, "/Names > Name by 10 > Part by 11 into /Names > Name by 10 as Part"},
		{edit.Edit{Op: edit.SetAttribute, Node: below, Name: "a", Value: datacenter.IntValue(1)}, "/Names > Name by 10 > Part by 11 @a - to 1"},
		{edit.Edit{Op: edit.SetAttribute, Node: below, Name: "a", Value: datacenter.IntValue(2)}, "/Names > Name by 10 > Part by 11 @a 1 to 2"},
		{
			edit.Edit{Op: edit.MoveNode, Node: n["Goods/Item/Stat"], Parent: n["Goods.1/Item"], Name: "Moved"},
			"/Goods[@zoneId=1]/Item[@tid=0]/Stat into /Goods[@zoneId=2]/Item as Moved",
		},
		{
			edit.Edit{Op: edit.SetAttribute, Node: n["Goods/Item/Stat"], Name: "hp", Value: datacenter.IntValue(7)},
			"/Goods[@zoneId=1]/Item[@tid=0]/Stat @hp 0 to 7",
		},
		{edit.Edit{Op: edit.RemoveNode, Node: n["Goods/Item.3"]}, "/Goods[@zoneId=1]/Item[@tid=3] gone with 3 attributes and 1 children"},
		{edit.Edit{Op: edit.RemoveNode, Node: n["Twins/Twin.2"]}, "/Twins/Twin[3] gone with 1 attributes and 1 children"},
		{edit.Edit{Op: edit.AddNode, Node: d.NewNumber(), Name: "Sheet"}, "/ > Sheet by 18 into / as Sheet"},
	} {
		if err := d.Apply(t.Context(), tt.edit); err != nil {
			t.Fatal(err)
		}
		want = append(want, tt.want)
	}
	return want
}

// TestEditsOfJournal checks that the edits of a journal have paths and old values, without the
// file.
func TestEditsOfJournal(t *testing.T) {
	p := newPlace(t, 0)
	p.put(shop())
	base := p.openFile()
	e := p.mustOpen(Options{})
	want := editShop(t, e.Draft(), numbers(t, base))
	e.close()
	edits := p.edits()
	wantEdits(t, edits, want...)
	wantPaths(t, base, edits)
	if err := os.Remove(p.path); err != nil {
		t.Fatal(err)
	}
	wantEdits(t, p.edits(), want...)
	for _, e := range edits {
		if len(e.On.Base.Guards) > 0 && (e.On.Base.Guards[0].Of != 4 || e.On.Base.Guards[0].Self == 0) {
			t.Errorf("%s: %+v", e.On.Base.Path, e.On.Base.Guards)
		}
	}
}

// TestEditsThatWereNotNoted checks that the next session writes the notes of a process that died at
// once, and those of a journal of an earlier version.
func TestEditsThatWereNotNoted(t *testing.T) {
	p := newPlace(t, 0)
	p.put(shop())
	base := p.openFile()
	e := p.mustOpen(Options{})
	want := editShop(t, e.Draft(), numbers(t, base))
	e.close()
	withoutNotes(t, p.journal())
	for _, x := range p.edits() {
		if x.On.Base != nil || x.Into.Base != nil || x.Behind != nil {
			t.Fatalf("%s is known", spell(x))
		}
	}
	e = p.mustOpen(Options{})
	if left := 13; e.Replayed() != left || int(e.Draft().Pending()) != left {
		t.Errorf("replayed %d, want %d", e.Replayed(), left)
	}
	e.close()
	wantEdits(t, p.edits(), want...)
	before, err := os.Stat(p.journal())
	if err != nil {
		t.Fatal(err)
	}
	p.mustOpen(Options{}).close()
	if after, err := os.Stat(p.journal()); err != nil || after.Size() != before.Size() {
		t.Errorf("what was noted is noted again: %v, %d bytes became %d", err, before.Size(), after.Size())
	}
}

// withoutNotes rewrites a journal without its notes.
func withoutNotes(t *testing.T, path string) {
	t.Helper()
	c, err := journal.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(disk.OS{}, path, c.Header())
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range c.Records() {
		if err == nil && r[0] != 'b' {
			err = j.Append(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestEditsAfterSave checks that notes after a save describe the new file.
func TestEditsAfterSave(t *testing.T) {
	p := newPlace(t, 0)
	p.put(shop())
	base := p.openFile()
	n := numbers(t, base)
	e := p.mustOpen(Options{})
	d := e.Draft()
	editShop(t, d, n)
	e.notes.work() // writes notes about the first file
	e.mustSave()
	if err := d.Apply(t.Context(),
		edit.Edit{Op: edit.SetAttribute, Node: n["Goods/Item.2"], Name: "price", Value: datacenter.IntValue(5)},
		edit.Edit{Op: edit.SetAttribute, Node: n["Goods/Item/Stat"], Name: "hp", Value: datacenter.IntValue(5)},
		edit.Edit{Op: edit.RemoveNode, Node: n["Twins/Twin"]},
	); err != nil {
		t.Fatal(err)
	}
	e.close()
	saved := p.openFile()
	edits := p.edits()
	wantEdits(t, edits,
		"/Goods[@zoneId=1]/Item[@tid=2] @price 0.5 to 5", "/Goods[@zoneId=2]/Item/Moved @hp 7 to 5", "/Twins/Twin[1] gone with 1 attributes and 1 children",
	)
	wantPaths(t, saved, edits)
}

// TestEditsOfLargeNodes checks that a note has only the hash of a node that is too large.
func TestEditsOfLargeNodes(t *testing.T) {
	p := newPlace(t, 2*maxElement)
	base := p.openFile()
	n := numbers(t, base)
	e := p.mustOpen(Options{})
	if err := e.Draft().Apply(t.Context(), edit.Edit{Op: edit.RemoveNode, Node: n["Tail.1"]}, edit.Edit{Op: edit.RemoveNode, Node: n["Sheet"]}); err != nil {
		t.Fatal(err)
	}
	e.close()
	edits := p.edits()
	if large := edits[0].On.Base; large == nil || !large.Taken || large.Element != nil || large.Hash == 0 {
		t.Errorf("%+v", large)
	}
	if small := edits[1].On.Base; small == nil || small.Element == nil || len(small.Element.Children) != 3 {
		t.Errorf("%+v", small)
	}
	wantPaths(t, base, edits)
}

// FuzzEdits checks that any journal is read or refused.
func FuzzEdits(f *testing.F) {
	value, err := datacenter.StringValue("한")
	if err != nil {
		f.Fatal(err)
	}
	b := &Before{
		Number: 1, Name: "a", Path: "/a", Keys: datacenter.KeyDefinition{"k"}, Taken: true, Hash: 1, Last: true,
		Guards: []identity.Place{{Step: 0, N: 1, Of: 2, Group: 3, Self: 4, Before: 5, After: 6}},
	}
	note := appendBefore([]byte{noteVersion}, b, []Attribute{{"x", value}, {Name: "y"}}, []byte("\x01a\x00\x00\x01\x01x\x01\x01\x05\x00\x00\x00\x01\x01b\x00\x00\x00\x00"))
	if list, err := parseNote(note); err != nil || len(list) != 1 || len(list[0].Element.Children) != 1 {
		f.Fatalf("%+v, %v", list, err)
	}
	f.Add(note, []byte("\x01\x01\x01x\x01\x05\x00\x00\x00\x04\x01"))
	f.Add(note[:len(note)-3], []byte("\x03\x81\x80\x80\x80\x01\x01\x01a\x80\x80\x80\x80\x10\x00\x00\x05\x81\x80\x80\x80\x01\x81\x80\x80\x80\x01\x01a\x01"))
	f.Add([]byte{noteVersion, 0, 1, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 7}, []byte("\x05\x01\x01\x01a\x01"))
	f.Add([]byte{noteVersion + 1, 1, 2, 3}, []byte("\x06\x01\x01\x01a\x07\x01\x02"))
	f.Fuzz(func(t *testing.T, note, record []byte) {
		r := newJournalReader()
		_ = r.note(note) // the nodes before a mistake count
		for n, b := range r.before {
			if b.Number != n || b.Attributes == nil || b.Element != nil && !b.Taken {
				t.Errorf("%+v", b)
			}
		}
		err := r.record(record)
		r.restore()
		for _, e := range r.list {
			if e.On.Base != nil && e.On.Base.Number != e.On.Number || len(e.On.Made) > datacenter.MaxDepth+1 {
				t.Errorf("%+v", e)
			}
		}
		if count, countErr := edit.RecordEdits(record); count != r.edits || (err == nil) != (countErr == nil) {
			t.Errorf("%d edits, %v: want %d, %v", r.edits, err, count, countErr)
		}
		_, _ = NetOf(func(visit func(*Edited) error) error { // it must not panic
			for _, e := range r.list {
				if err := visit(e); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
