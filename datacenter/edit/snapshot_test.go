package edit_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds/property"
)

// moment is a Snapshot with the model at that moment.
type moment struct {
	s       *edit.Snapshot
	layout  datacenter.Layout
	m       *model
	changes string
	// nodes are the edited nodes, and reader a Reader that was made then but is asked for them later.
	nodes  string
	reader *edit.Reader
}

func (s *session) snapshot() moment {
	at := moment{s: s.d.Snapshot(), layout: s.files[len(s.files)-1].Layout(), m: s.m.clone()}
	changes := at.s.Changes()
	at.changes = fmt.Sprintf("%+v", changes)
	at.nodes = readNodes(at.s.Reader(), changes)
	at.reader = at.s.Reader()
	return at
}

// readNodes returns a text of the draft nodes that changes are about.
func readNodes(r *edit.Reader, changes []edit.Change) string {
	var b strings.Builder
	for _, c := range changes {
		n, ok := r.Node(c.Node)
		fmt.Fprintln(&b, c.Node, ok, n.Name, n.Ordinal, n.Parent, n.Keys, n.Flags)
		attributes, _ := r.Attributes(c.Node)
		for _, a := range attributes {
			fmt.Fprintln(&b, "\t", a.Number, a.Name, a.Value)
		}
		children, _, err := r.OrderedChildren(c.Node)
		for _, k := range children {
			fmt.Fprintln(&b, "\t", k.Number, k.Name, k.Ordinal)
		}
		if err != nil {
			fmt.Fprintln(&b, "\t", err)
		}
	}
	return b.String()
}

// check writes the Snapshot, and checks that it is what the Draft was.
func (at *moment) check(t rapidTB) {
	defer at.s.Close()
	var out bytes.Buffer
	w, err := at.s.Write(t.Context(), datacenter.WriteOptions{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	g := dctest.OpenAs(t, out.Bytes(), at.layout)
	if err := w.Compare(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	at.m.root.sort(nameOrder(g))
	if got, want := newModel(t, g).String(), at.m.String(); got != want {
		t.Fatalf("the snapshot is\n%.2000swant\n%.2000s", got, want)
	}
	if got := fmt.Sprintf("%+v", at.s.Changes()); got != at.changes {
		t.Fatalf("the changes of the snapshot are\n%.2000swant\n%.2000s", got, at.changes)
	}
	if got := readNodes(at.reader, at.s.Changes()); got != at.nodes {
		t.Fatalf("the edited nodes of the snapshot are\n%.2000swant\n%.2000s", got, at.nodes)
	}
}

// TestSnapshotStaysAsItWas checks that a Snapshot never changes, whatever is edited later,
// and however many others there are.
func TestSnapshotStaysAsItWas(t *testing.T) {
	sources := draftSources()
	property.Check(t, func(rt *rapid.T) {
		s := newSession(rapidTB{t, rt}, sources[rapid.IntRange(0, len(sources)-1).Draw(rt, "file")])
		var open []moment
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				open = append(open, s.snapshot())
			case 1:
				if len(open) > 0 {
					i := rapid.IntRange(0, len(open)-1).Draw(rt, "which")
					open[i].check(s.t)
					open = append(open[:i], open[i+1:]...)
				}
			default:
				s.isSaving = len(open) > 0 // each may be saved
				s.stepOrRevert()
			}
		}
		for i := range open {
			open[i].check(s.t)
		}
		s.m.check(s.t, s.d, s.f)
	})
}

// TestEditsWhileASnapshotIsWritten checks that edits while a Snapshot is written are not in
// the written file.
func TestEditsWhileASnapshotIsWritten(t *testing.T) {
	d, err := edit.NewDraft(dctest.Open(t, dctest.Build(keyedDoc(), dctest.Options{})), nil)
	if err != nil {
		t.Fatal(err)
	}
	sheet := newModel(t, dctest.Open(t, dctest.Build(keyedDoc(), dctest.Options{}))).root.kids[0]
	change := func(i int) {
		x, item := d.NewNumber(), sheet.kids[i%len(sheet.kids)].number
		done(t, d,
			edit.Edit{Op: edit.AddNode, Node: x, Parent: item, Name: fmt.Sprintf("New%d", i%50), Ordinal: uint32(i)},
			edit.Edit{Op: edit.SetAttribute, Node: x, Name: "id", Value: datacenter.IntValue(int32(i))},
			edit.Edit{Op: edit.SetAttribute, Node: item, Name: "n", Value: datacenter.IntValue(int32(i))},
		)
		if i%3 == 0 {
			done(t, d, edit.Edit{Op: edit.RemoveNode, Node: x})
		}
	}
	for i := range 100 {
		change(i)
	}
	for round := range 5 {
		s := d.Snapshot()
		changes, want := told(s.Changes()), justWrite(t, d)
		var work sync.WaitGroup
		work.Go(func() {
			for i := range 200 {
				change(1000*(round+1) + i)
			}
		})
		for range 3 {
			work.Go(func() {
				var out bytes.Buffer
				w, err := s.Write(t.Context(), datacenter.WriteOptions{}, &out)
				if err != nil {
					t.Error(err)
					return
				}
				if !bytes.Equal(out.Bytes(), want) || told(s.Changes()) != changes {
					t.Error("edits show in a snapshot")
				}
				if err := w.Compare(t.Context(), dctest.Open(t, out.Bytes())); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		s.Close()
	}
}

// BenchmarkSnapshot takes snapshots of a draft with 100,000 edits.
func BenchmarkSnapshot(b *testing.B) {
	const edits = 100_000 // 100 new nodes at the top
	d, err := edit.NewDraft(dctest.Open(b, dctest.Build(keyedDoc(), dctest.Options{})), nil)
	if err != nil {
		b.Fatal(err)
	}
	var parent edit.Number
	for i := range edits {
		n := d.NewNumber()
		if i%1000 == 0 {
			parent = 0
		}
		err := d.Apply(b.Context(), edit.Edit{Op: edit.AddNode, Node: n, Parent: parent, Name: "New", Ordinal: uint32(i)})
		if err != nil {
			b.Fatal(err)
		}
		if i%1000 == 0 {
			parent = n
		}
	}
	for b.Loop() {
		s := d.Snapshot()
		if s.Pending() != 100 {
			b.Fatalf("%d edits", s.Pending())
		}
		s.Close()
	}
}
