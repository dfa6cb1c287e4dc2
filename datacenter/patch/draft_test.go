package patch_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/internal/testneeds/property"
)

// randomEdits edits a draft at random. Siblings of one name keep one key definition, see
// sameKeys.
func randomEdits(rt *rapid.T, d *edit.Draft, f *datacenter.File) {
	counts := f.Counts()
	for i := range rapid.IntRange(1, 12).Draw(rt, "edits") {
		n := edit.Number(rapid.IntRange(1, int(counts.Nodes+counts.Attributes)).Draw(rt, "entry"))
		e := edit.Edit{Node: n}
		switch rapid.IntRange(0, 6).Draw(rt, "op") {
		case 0:
			e.Op = edit.RemoveNode
		case 1:
			e = edit.Edit{Op: edit.AddNode, Node: d.NewNumber(), Parent: n, Name: "C", Ordinal: uint32(100 + i)}
		case 2:
			to := edit.Number(rapid.IntRange(0, int(counts.Nodes)).Draw(rt, "parent"))
			e.Op, e.Parent, e.Name, e.Ordinal = edit.MoveNode, to, "D", uint32(200+i)
			_ = d.Apply(rt.Context(), e, edit.Edit{Op: edit.SetKeys, Node: n})
			continue
		case 3:
			e.Op, e.Flags = edit.SetFlags, 2
		default:
			e.Op, e.Name = edit.SetAttribute, rapid.SampledFrom([]string{"id", "name", "v"}).Draw(rt, "attribute")
			e.Value = datacenter.IntValue(int32(100 + i))
		}
		// Numbers that are attributes' or have gone are refused.
		_ = d.Apply(rt.Context(), e)
	}
}

// rebase saves a draft and goes on with the new file. meanwhile is called while it is saved.
func rebase(t fataler, d *edit.Draft, meanwhile func()) *datacenter.File {
	t.Helper()
	s := d.Snapshot()
	defer s.Close()
	var out bytes.Buffer
	w, err := s.Write(context.Background(), datacenter.WriteOptions{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	g, err := datacenter.Open(context.Background(), bytes.NewReader(out.Bytes()), int64(out.Len()), datacenter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	meanwhile()
	if err := d.Rebase(context.Background(), w, g, func([][]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return g
}

// A patch of a draft does to the file what the draft did since that was saved, whatever is
// edited while the patch is made.
func TestMakeDraft(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		first := open(t, drawSheets(rt)...)
		f := first
		d, err := edit.NewDraft(f, nil)
		if err != nil {
			rt.Fatal(err)
		}
		edits := func() { randomEdits(rt, d, first) }
		for range rapid.IntRange(0, 2).Draw(rt, "saves") {
			edits()
			f = rebase(rt, d, edits)
		}
		edits()
		want := saved(t, d)
		s := d.Snapshot()
		defer s.Close()
		edits()
		p, err := patch.MakeDraft(t.Context(), s, "base")
		if err != nil {
			rt.Fatal(err)
		}
		p = reread(rt, p)
		got, results := apply(rt, f, p)
		if r := results[0]; r.Conflicts+r.Already > 0 {
			rt.Fatalf("%d already, %s\n%s", r.Already, conflicts(r), p.Append(nil))
		}
		after := saved(t, got)
		if text := differences(rt, want, after); text != "" {
			rt.Fatalf("%s\nafter\n%s", text, p.Append(nil))
		}
		if _, results = apply(rt, after, p); len(results[0].Edits)+results[0].Conflicts > 0 {
			rt.Fatalf("again: %d edits, %s\n%s", len(results[0].Edits), conflicts(results[0]), p.Append(nil))
		}
	})
}

// What was set and set back is no change; nor is a node that was removed and made again.
func TestNetDifference(t *testing.T) {
	f := open(t, under(of("S"), keyed(of("I", "id", 1, "v", 5), "id"), keyed(of("I", "id", 2), "id")))
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := d.NewNumber()
	key := datacenter.KeyDefinition{"id"}
	for _, e := range []edit.Edit{
		{Op: edit.SetAttribute, Node: 2, Name: "v", Value: datacenter.IntValue(6)},
		{Op: edit.SetAttribute, Node: 2, Name: "v", Value: datacenter.IntValue(5)},
		{Op: edit.RemoveNode, Node: 5},
		{Op: edit.AddNode, Node: n, Parent: 1, Name: "I", Ordinal: 7, Keys: key},
		{Op: edit.SetAttribute, Node: n, Name: "id", Value: datacenter.IntValue(2)},
	} {
		if err := d.Apply(t.Context(), e); err != nil {
			t.Fatal(fmt.Errorf("%+v: %w", e, err))
		}
	}
	if p := makeDraft(t, d, ""); len(p.Blocks) > 0 {
		t.Errorf("%s", p.Append(nil))
	}
}
