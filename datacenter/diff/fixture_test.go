package diff_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds"
	"lorefs/nodes/blockcache"
)

func fixture(t testing.TB, name string) *datacenter.File {
	t.Helper()
	data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return dctest.Open(t, data)
}

// TestLayoutsHoldTheSame compares the small files, which are one tree in three layouts.
// Three of them were written by novadrop-dc.
func TestLayoutsHoldTheSame(t *testing.T) {
	testneeds.Slow(t, "reads files whole")
	a := fixture(t, "p115_small_x64.dat")
	for _, name := range []string{
		"p115_small_x86.dat", "novadrop_p115_small_v3.dat", "novadrop_p115_small_x86.dat", "novadrop_p115_small_x64.dat",
	} {
		if got := compare(t, a, fixture(t, name), diff.Options{}); len(got) > 0 {
			t.Errorf("%s: %d differences, such as %+v", name, len(got), got[0])
		}
	}
}

// TestOneEdit checks that a real file and a copy with one edit differ in that edit only.
func TestOneEdit(t *testing.T) {
	testneeds.Slow(t, "reads files whole")
	a := fixture(t, "p115_small_x64.dat")
	root, err := a.Root()
	if err != nil {
		t.Fatal(err)
	}
	number, owner, at := findAttribute(t, root, 300_000)
	for _, tt := range []struct {
		kind diff.Kind
		edit edit.Edit
	}{
		{diff.AttributeChanged, edit.Edit{Op: edit.SetAttribute, Node: number, Name: at.Name(), Value: datacenter.IntValue(-77)}},
		{diff.AttributeRemoved, edit.Edit{Op: edit.RemoveAttribute, Node: number, Name: at.Name()}},
		{diff.AttributeAdded, edit.Edit{Op: edit.SetAttribute, Node: number, Name: "an attribute", Value: datacenter.BoolValue(true)}},
		{diff.FlagsChanged, edit.Edit{Op: edit.SetFlags, Node: number, Flags: 1}},
		{diff.NodeRemoved, edit.Edit{Op: edit.RemoveNode, Node: number}},
	} {
		got := compare(t, a, edited(t, a, tt.edit), diff.Options{})
		if len(got) != 1 || got[0].Kind != tt.kind {
			t.Errorf("%v of %s: %s", tt.kind, owner.Name(), text(got))
		}
	}
}

// findAttribute finds the first node after a number of entries that has an attribute which
// is neither a key nor an id.
func findAttribute(t *testing.T, root datacenter.Node, behind edit.Number) (of edit.Number, n datacenter.Node, a datacenter.Attribute) {
	t.Helper()
	next := edit.Number(0)
	var visit func(n datacenter.Node) bool
	visit = func(x datacenter.Node) bool {
		number := next
		next++
		for y, err := range x.Attributes() {
			if err != nil {
				t.Fatal(err)
			}
			if next > behind && y.Name() != "id" && y.Type() == datacenter.Int && len(x.Keys()) == 0 {
				of, n, a = number, x, y
				return true
			}
			next++
		}
		for k, err := range x.Children() {
			if err != nil {
				t.Fatal(err)
			}
			if visit(k) {
				return true
			}
		}
		return false
	}
	if !visit(root) {
		t.Fatal("no such attribute")
	}
	return of, n, a
}

// edited returns a file after an edit.
func edited(t *testing.T, f *datacenter.File, e edit.Edit) *datacenter.File {
	t.Helper()
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Apply(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := d.Snapshot()
	defer s.Close()
	if _, err = s.Write(t.Context(), datacenter.WriteOptions{}, &out); err != nil {
		t.Fatal(err)
	}
	return dctest.Open(t, out.Bytes())
}

// BenchmarkEqual compares the large fixture, or a generated file, with itself.
func BenchmarkEqual(b *testing.B) {
	data, err := os.ReadFile(filepath.Join(testneeds.Root(b), "..", "shared/fixtures/datacenter/p100_x64.dat"))
	if err != nil {
		b.Logf("a generated file stands in for the fixture: %v", err)
		data = dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 1, Sheets: 1200, Nodes: 600_000}), dctest.Options{})
	}
	var files [2]*datacenter.File
	for i := range files {
		files[i], err = datacenter.Open(b.Context(), bytes.NewReader(data), int64(len(data)),
			datacenter.Options{Blocks: blockcache.New(512 << 20).View()})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if all := compare(b, files[0], files[1], diff.Options{}); len(all) > 0 {
			b.Fatalf("%d differences", len(all))
		}
	}
}
