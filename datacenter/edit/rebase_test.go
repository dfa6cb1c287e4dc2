package edit_test

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds/property"
)

// saveWhileEdited saves a draft while it is edited. The records since the Snapshot go to a
// second journal, which belongs to the new file.
func (s *session) saveWhileEdited(layout datacenter.Layout) {
	snapshot, m := s.d.Snapshot(), s.m.clone()
	defer snapshot.Close()
	var since []edit.Edit
	s.isSaving = true
	defer func() { s.isSaving = false }()
	for range rapid.IntRange(0, 6).Draw(s.t.rt, "batches meanwhile") {
		since = append(since, s.stepOrReturn()...)
	}
	var out bytes.Buffer
	base := s.files[len(s.files)-1]
	w, err := snapshot.Write(s.t.Context(), datacenter.WriteOptions{Layout: layout}, &out)
	if err != nil {
		s.t.Fatal(err)
	}
	g := dctest.OpenAs(s.t, out.Bytes(), cmp.Or(layout, base.Layout()))
	if err := w.Compare(s.t.Context(), g); err != nil {
		s.t.Fatal(err)
	}
	s.checkReplay(nil, layout) // if the process died now, only the old journal would exist
	if rapid.IntRange(0, 3).Draw(s.t.rt, "publishing fails") == 0 {
		no, pending := errors.New("no room"), s.d.Pending()
		if err := s.d.Rebase(s.t.Context(), w, g, func([][]byte) error { return no }); !errors.Is(err, no) || s.d.Pending() != pending {
			s.t.Fatalf("Rebase: %v, %d edits pending, want %d", err, s.d.Pending(), pending)
		}
		s.m.check(s.t, s.d, s.f)
		s.checkReplay(nil, layout)
	}
	err = s.d.Rebase(s.t.Context(), w, g, func(later [][]byte) error {
		s.files, s.records = append(s.files, g), append(s.records, later)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	m.root.sort(nameOrder(g))
	m.rebase()
	for _, e := range since {
		if err := m.apply(e); err != nil {
			s.t.Fatal(err)
		}
	}
	s.m = m
	s.adopt()
	s.checkPending()
	s.m.check(s.t, s.d, s.f)
	s.checkReplay(nil, layout)
}

// TestRebaseIsTheModel saves a draft repeatedly while it is edited. It must equal a plain
// tree after the same edits, and so must each file with its journal.
func TestRebaseIsTheModel(t *testing.T) {
	layouts := []datacenter.Layout{datacenter.LayoutAuto, datacenter.LayoutV3, datacenter.LayoutV6X64}
	sources := draftSources()
	property.Check(t, func(rt *rapid.T) {
		s := newSession(rapidTB{t, rt}, sources[rapid.IntRange(0, len(sources)-1).Draw(rt, "file")])
		for range rapid.IntRange(1, 3).Draw(rt, "saves") {
			for range rapid.IntRange(0, 6).Draw(rt, "batches") {
				s.stepOrRevert()
			}
			s.saveWhileEdited(rapid.SampledFrom(layouts).Draw(rt, "layout"))
		}
		for range rapid.IntRange(0, 6).Draw(rt, "batches") {
			s.stepOrRevert()
		}
		s.m.check(s.t, s.d, s.f)
		s.checkReplay(nil, datacenter.LayoutAuto)
		listAll(t, s.d)
		s.revertAll()
	})
}

// writtenOrder returns a text for the written form of a draft, in its order.
func writtenOrder(t *testing.T, d *edit.Draft) string {
	t.Helper()
	return newModel(t, dctest.Open(t, justWrite(t, d))).String()
}

// TestRebaseKeepsWhatIsBetween checks that nodes inserted by rank during a save stay
// between the same siblings, though all siblings have other ranks in the new file.
func TestRebaseKeepsWhatIsBetween(t *testing.T) {
	sheet := &dctest.Node{Name: "Sheet"}
	for i := range 6 {
		sheet.Children = append(sheet.Children, &dctest.Node{Name: "Item", Attrs: []dctest.Attr{{Name: "n", Value: i}}})
	}
	var journal [][]byte
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(sheet)}, dctest.Options{}))
	d, err := edit.NewDraft(f, func(r []byte) error {
		journal = append(journal, bytes.Clone(r))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ordinal := uint32(10)
	add := func(value int32, rank uint64) {
		n := d.NewNumber()
		ordinal++
		done(t, d,
			edit.Edit{Op: edit.AddNode, Node: n, Parent: 1, Name: "Item", Ordinal: ordinal, Rank: rank},
			edit.Edit{Op: edit.SetAttribute, Node: n, Name: "n", Value: datacenter.IntValue(value)})
	}
	const gap = edit.RankGap // the ranks of the file are 1 to 6 times that
	done(t, d, edit.Edit{Op: edit.RemoveNode, Node: 2}, edit.Edit{Op: edit.RemoveNode, Node: 6})
	s := d.Snapshot()
	defer s.Close()
	for i, rank := range []uint64{gap / 2, 2*gap + gap, 4*gap + gap/4, 4*gap + gap/2, 4*gap + gap/2 + 1, 7 * gap, 8 * gap, 7*gap + gap/2} {
		add(int32(100+i), rank)
	}
	want := writtenOrder(t, d)
	var out bytes.Buffer
	w, err := s.Write(t.Context(), datacenter.WriteOptions{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	g := dctest.Open(t, out.Bytes())
	err = d.Rebase(t.Context(), w, g, func(later [][]byte) error {
		journal = later
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	add(200, 4*gap) // by the present ranks
	again, err := edit.NewDraft(g, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range journal {
		if i == len(journal)-1 {
			if got := writtenOrder(t, again); got != want {
				t.Errorf("the second journal makes\n%s\nwant\n%s", got, want)
			}
		}
		if err := again.Replay(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := writtenOrder(t, again), writtenOrder(t, d); got != want {
		t.Errorf("the second journal makes\n%s\nwant\n%s", got, want)
	}
}

func TestRebaseOnAnotherFileIsRefused(t *testing.T) {
	d := draftOf(t, keyedDoc(), dctest.Options{})
	done(t, d, set(1, "x"))
	s := d.Snapshot()
	defer s.Close()
	w, err := s.Write(t.Context(), datacenter.WriteOptions{}, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	other := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "Sheet"})}, dctest.Options{}))
	if err := d.Rebase(t.Context(), w, other, dropLater); !errors.Is(err, edit.ErrDiffers) || d.Pending() != 1 {
		t.Errorf("%v, %d pending", err, d.Pending())
	}
}

// TestReadersAndEditsDuringRebases checks that readers notice nothing when a draft gets a
// new base, and that no edit is lost.
func TestReadersAndEditsDuringRebases(t *testing.T) {
	var mu sync.Mutex
	var journal [][]byte
	f := dctest.Open(t, dctest.Build(keyedDoc(), dctest.Options{}))
	d, err := edit.NewDraft(f, func(r []byte) error {
		mu.Lock()
		defer mu.Unlock()
		journal = append(journal, bytes.Clone(r))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	root := newModel(t, f).root
	sheet := root.kids[slices.IndexFunc(root.kids, func(k *modelNode) bool { return k.name == "Sheet" })]
	if err := d.Open(sheet.number); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() { // listings find each child of the file once
		for {
			select {
			case <-stop:
				return
			default:
			}
			seen := 0
			for cursor := uint64(0); ; {
				part, _ := d.List(sheet.number, cursor, 3, nil)
				if len(part) == 0 {
					break
				}
				for _, e := range part {
					if e.Stored && !e.Attribute {
						seen++
					}
				}
				cursor = part[len(part)-1].Next
			}
			if seen != len(sheet.kids) {
				t.Errorf("a listing has %d of %d children", seen, len(sheet.kids))
				return
			}
		}
	})
	// Each rebase makes the edits since the snapshot again. If there were no bound for them, a slow
	// machine would have more to do in each one than in the one before.
	const between = 2000
	var left atomic.Int32
	edits := int32(0)
	work.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if left.Add(-1) < 0 {
				time.Sleep(time.Millisecond)
				continue
			}
			edits++
			n := d.NewNumber()
			done(t, d,
				edit.Edit{Op: edit.AddNode, Node: n, Parent: sheet.number, Name: "Item", Ordinal: uint32(1000 + edits)},
				edit.Edit{Op: edit.SetAttribute, Node: n, Name: "n", Value: datacenter.IntValue(edits)},
				edit.Edit{Op: edit.SetAttribute, Node: sheet.kids[edits%7].number, Name: "n", Value: datacenter.IntValue(edits)})
			if edits%2 == 0 {
				done(t, d, edit.Edit{Op: edit.RemoveNode, Node: n})
			}
		}
	})
	last := f
	for range 6 {
		left.Store(between)
		s := d.Snapshot()
		var out bytes.Buffer
		w, err := s.Write(t.Context(), datacenter.WriteOptions{}, &out)
		if err != nil {
			t.Fatal(err)
		}
		last = dctest.Open(t, out.Bytes())
		err = d.Rebase(t.Context(), w, last, func(later [][]byte) error {
			mu.Lock()
			defer mu.Unlock()
			journal = later
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	close(stop)
	work.Wait()
	again, err := edit.NewDraft(last, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range journal {
		if err := again.Replay(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := writtenOrder(t, again), writtenOrder(t, d); got != want {
		t.Errorf("the last journal makes\n%.2000s\nwant\n%.2000s", got, want)
	}
}
