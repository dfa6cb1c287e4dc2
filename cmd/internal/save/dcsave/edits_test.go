package dcsave

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/patch"
	"lorefs/internal/disk"
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

// savedDraft returns what a draft is written as.
func savedDraft(t *testing.T, d *edit.Draft) *datacenter.File {
	t.Helper()
	s := d.Snapshot()
	defer s.Close()
	var out bytes.Buffer
	if _, err := s.Write(t.Context(), datacenter.WriteOptions{}, &out); err != nil {
		t.Fatal(err)
	}
	return dctest.Open(t, out.Bytes())
}

// wantPatched checks that a patch, written and read, makes a file what a draft is.
func wantPatched(t *testing.T, f *datacenter.File, p *patch.Patch, want *datacenter.File, opts diff.Options) {
	t.Helper()
	text := p.Append(nil)
	p, err := patch.Parse("p", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := patch.NewApplier(f, d).Plan(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range r.Items {
		if it.Outcome != patch.Applied {
			t.Errorf("%s", r.Describe(it))
		}
	}
	if err := d.Apply(t.Context(), r.Edits...); err != nil {
		t.Fatal(err)
	}
	var differences []byte
	for x, err := range diff.Compare(t.Context(), savedDraft(t, d), want, opts) {
		if err != nil {
			t.Fatal(err)
		}
		differences = x.Append(differences)
	}
	if len(differences) > 0 {
		t.Errorf("%s\nafter\n%s", differences, text)
	}
}

// editShop makes edits of all kinds in a file whose nodes have the given numbers.
func editShop(t *testing.T, d *edit.Draft, n map[string]edit.Number) {
	t.Helper()
	made, below := d.NewNumber(), d.NewNumber()
	for _, e := range []edit.Edit{
		{Op: edit.SetAttribute, Node: n["Goods/Item.2"], Name: "price", Value: datacenter.IntValue(21)},
		{Op: edit.SetAttribute, Node: n["Goods/Item.2"], Name: "price", Value: datacenter.FloatValue(.5)},
		{Op: edit.RemoveAttribute, Node: n["Goods/Item.2"], Name: "text"},
		{Op: edit.SetAttribute, Node: n["Goods/Item.2"], Name: "text", Value: datacenter.BoolValue(true)},
		{Op: edit.SetAttribute, Node: n["Goods.1/Item"], Name: "new", Value: datacenter.IntValue(1)},
		{Op: edit.SetAttribute, Node: n["Names/Name.1"], Name: "s", Value: datacenter.IntValue(1)},
		{Op: edit.SetAttribute, Node: n["Twins/Twin.1"], Name: "v", Value: datacenter.IntValue(1)},
		{Op: edit.SetKeys, Node: n["Goods/Item.1"], Keys: datacenter.KeyDefinition{"price", "text"}},
		{Op: edit.SetFlags, Node: n["Goods/Item.1"], Flags: 1},
		{Op: edit.SetFlags, Node: n["Goods/Item.1"], Flags: 3},
		{Op: edit.AddNode, Node: made, Parent: n["Names"], Name: "Name", Ordinal: 9},
		{Op: edit.AddNode, Node: below, Parent: made, Name: "Part"},
		{Op: edit.SetAttribute, Node: below, Name: "a", Value: datacenter.IntValue(1)},
		{Op: edit.SetAttribute, Node: below, Name: "a", Value: datacenter.IntValue(2)},
		{Op: edit.MoveNode, Node: n["Goods/Item/Stat"], Parent: n["Goods.1/Item"], Name: "Moved"},
		{Op: edit.SetAttribute, Node: n["Goods/Item/Stat"], Name: "hp", Value: datacenter.IntValue(7)},
		{Op: edit.RemoveNode, Node: n["Goods/Item.3"]},
		{Op: edit.RemoveNode, Node: n["Twins/Twin.2"]},
		{Op: edit.AddNode, Node: d.NewNumber(), Name: "Sheet"},
	} {
		if err := d.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

// shopLeft is the number of edits that are left of those of editShop.
const shopLeft = 13

// lostBases are what may become of a file on which edits were made that are not saved.
var lostBases = map[string]func(path string) error{
	"gone":         os.Remove,
	"in its place": func(path string) error { return os.WriteFile(path, likeX86(), 0o600) },
	"cut":          func(path string) error { return os.Truncate(path, 100) },
	"there":        func(string) error { return nil },
}

// ofEachLoss edits a shop, with a session that ends or goes on, and has the file be lost.
func ofEachLoss(t *testing.T, test func(p *place, base *datacenter.File, want *datacenter.File)) {
	t.Helper()
	for how, lose := range lostBases {
		for _, ended := range []bool{false, true} {
			t.Run(fmt.Sprint(how, " ", ended), func(t *testing.T) {
				p := newPlace(t, 0)
				p.put(shop())
				base := p.openFile()
				e := p.mustOpen(Options{})
				editShop(t, e.Draft(), numbers(t, base))
				want := savedDraft(t, e.Draft())
				if ended {
					e.close()
				} else {
					defer e.close()
				}
				if err := lose(p.path); err != nil {
					t.Fatal(err)
				}
				test(p, base, want)
			})
		}
	}
}

// TestPatchOfJournal checks that all edits of a journal are counted, and are in a patch, whatever
// becomes of the file.
func TestPatchOfJournal(t *testing.T) {
	ofEachLoss(t, func(p *place, base, want *datacenter.File) {
		j := p.describe()
		on := j.Base()
		if on == "" {
			t.Fatal(j.LackError())
		}
		if left, err := countLeft(&j, on); left != shopLeft || err != nil {
			t.Errorf("%d edits, %v", left, err)
		}
		got, err := patchOf(&j, on, nil, "p")
		if err != nil {
			t.Fatal(err)
		}
		wantPatched(t, base, got, want, diff.Options{})
	})
}

// TestDamagedBase checks that a copy with other bytes is said to be damaged, and is not used.
func TestDamagedBase(t *testing.T) {
	for _, damage := range []func(path string) error{
		flip, func(path string) error { return os.Truncate(path, 100) }, func(path string) error { return os.WriteFile(path, likeX86(), 0o600) },
	} {
		p := newPlace(t, 0)
		p.put(shop())
		e := p.mustOpen(Options{})
		editShop(t, e.Draft(), numbers(t, p.openFile()))
		e.close()
		j := p.describe()
		if err := errors.Join(os.Remove(p.path), damage(j.KeptBase())); err != nil {
			t.Fatal(err)
		}
		j = p.describe()
		if on := j.Base(); on != "" || !strings.Contains(j.LackError().Error(), j.KeptBase()+" is damaged") {
			t.Errorf("%s, %v", on, j.LackError())
		}
		if _, err := p.open(Options{}); err == nil {
			t.Error("it was opened")
		}
		// Once the file is there again, it is copied again.
		p.put(shop())
		e = p.mustOpen(Options{})
		e.close()
		if err := os.Remove(p.path); err != nil {
			t.Fatal(err)
		}
		if j = p.describe(); j.Base() != j.KeptBase() {
			t.Error(j.LackError())
		}
	}
}

// TestStaleIsKeptAsPatch checks that edits whose file was replaced while nobody edited it are kept as
// a patch when it is opened next.
func TestStaleIsKeptAsPatch(t *testing.T) {
	p := newPlace(t, 0)
	p.put(shop())
	base := p.openFile()
	e := p.mustOpen(Options{})
	editShop(t, e.Draft(), numbers(t, base))
	want := savedDraft(t, e.Draft())
	e.close()
	p.put(build(first(), 0))
	_, err := p.open(Options{})
	stale, ok := errors.AsType[*save.StaleError](err)
	if !ok || stale.Edits != shopLeft || stale.AtMost {
		t.Fatalf("%+v, %v", stale, err)
	}
	text, err := os.ReadFile(stale.Patch)
	if err != nil {
		t.Fatal(err)
	}
	got, err := patch.Parse("p", text)
	if err != nil {
		t.Fatal(err)
	}
	wantPatched(t, base, got, want, diff.Options{})
}

// TestBaseAfterSave checks that the copy is one of the file that the edits belong to, and goes with
// the journal.
func TestBaseAfterSave(t *testing.T) {
	p := newPlace(t, 0)
	e := p.mustOpen(Options{})
	for i := range 3 {
		before := p.bytes()
		e.mustSet("A", fmt.Sprint("now ", i))
		j := p.describe()
		if kept, err := os.ReadFile(j.KeptBase()); err != nil || !bytes.Equal(kept, before) {
			t.Errorf("after %d saves, %d bytes are kept: %v", i, len(kept), err)
		}
		e.mustSave()
		if _, err := os.Lstat(filepath.Dir(j.KeptBase())); err == nil {
			t.Error("the copy outlasts the edits")
		}
	}
	e.close()
}

// TestNotesAreSkipped replays a journal of a version that described the edited nodes in records of
// the kind 'b'.
func TestNotesAreSkipped(t *testing.T) {
	p := newPlace(t, 0)
	p.put(shop())
	base := p.openFile()
	p.mustOpen(Options{}).close() // makes the folder
	if notes := putNoted(t, p); notes < 10 {
		t.Fatalf("%d notes", notes)
	}
	want := p.mustOpen(Options{})
	d, err := edit.NewDraft(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	editShop(t, d, numbers(t, base))
	if want.Replayed() != shopLeft || int(want.Draft().Pending()) != shopLeft {
		t.Errorf("%d edits were replayed", want.Replayed())
	}
	got, err := makePatch(want.Draft(), "p")
	if err != nil {
		t.Fatal(err)
	}
	wantPatched(t, base, got, savedDraft(t, d), diff.Options{})
	want.close()
	// The file is kept from then on.
	if err := os.Remove(p.path); err != nil {
		t.Fatal(err)
	}
	if j := p.describe(); j.Base() != j.KeptBase() || j.Edits != shopLeft {
		t.Errorf("%+v: %v", j, j.LackError())
	}
}

// putNoted puts the journal of a session of the earlier version in place, which is of editShop. It
// returns how many notes it has.
func putNoted(t *testing.T, p *place) (notes int) {
	t.Helper()
	in, err := os.Open("testdata/noted.journal.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	noted := filepath.Join(dir, "noted.journal")
	if err := os.WriteFile(noted, data, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := journal.Read(noted)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var head map[string]any
	if err := json.Unmarshal(c.Header(), &head); err != nil {
		t.Fatal(err)
	}
	head["source"] = p.path
	header, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(disk.OS{}, p.journal(), header)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range c.Records() {
		if err == nil {
			err = j.Append(r)
		}
		if err != nil {
			t.Fatal(err)
		}
		if r[0] == 'b' {
			notes++
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return notes
}
