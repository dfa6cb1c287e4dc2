package dcsave

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds"
)

// someEdit makes an edit of some node, or takes one back.
func someEdit(t *testing.T, r *rand.Rand, d *edit.Draft, all []edit.Number) {
	t.Helper()
	n := all[r.IntN(len(all))]
	e := edit.Edit{Node: n}
	switch r.IntN(9) {
	case 0, 1:
		e.Op, e.Name, e.Value = edit.SetAttribute, []string{"price", "v", "new"}[r.IntN(3)], datacenter.IntValue(int32(10*r.IntN(4)))
	case 2:
		e.Op, e.Name = edit.RemoveAttribute, []string{"price", "v", "new"}[r.IntN(3)]
	case 3:
		e.Op, e.Flags = edit.SetFlags, datacenter.KeyFlags(r.IntN(2))
	case 4:
		e.Op, e.Keys = edit.SetKeys, [][]string{nil, {"tid"}}[r.IntN(2)]
	case 5:
		e.Op = edit.RemoveNode
	case 6:
		e = edit.Edit{Op: edit.AddNode, Node: d.NewNumber(), Parent: n, Name: "Made", Ordinal: uint32(r.IntN(9))}
	case 7:
		e.Op, e.Parent, e.Name = edit.MoveNode, all[r.IntN(len(all))], "Moved"
	default:
		what := []edit.Target{{Node: n}}
		if r.IntN(2) == 0 {
			what[0].Attribute = "price"
		}
		if _, err := d.Revert(t.Context(), nil, what); err != nil && !errors.Is(err, edit.ErrPart) {
			t.Fatal(err)
		}
		return
	}
	_ = d.Apply(t.Context(), e) // many can't be made
}

// TestListCountsWhatIsLeft checks that a journal alone says how many edits are left, as the draft
// does.
func TestListCountsWhatIsLeft(t *testing.T) {
	testneeds.Seconds(t)
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := newPlace(t, 0)
		p.put(shop())
		all := slices.Sorted(maps.Values(numbers(t, p.openFile())))
		e := p.mustOpen(Options{})
		for range r.IntN(12) {
			someEdit(t, r, e.Draft(), all)
		}
		want := int(e.Draft().Pending())
		journal := e.Journal() != ""
		e.close()
		if !journal || want == 0 && !p.hasJournal() {
			continue
		}
		j := p.describe()
		if j.Edits != want || (want == 0) != (j.State == save.StateSaved) {
			t.Errorf("seed %d: %d edits, %s: want %d", seed, j.Edits, j.State, want)
		}
		e = p.mustOpen(Options{})
		if e.Replayed() != want || int(e.Draft().Pending()) != want {
			t.Errorf("seed %d: %d edits after a replay: want %d", seed, e.Replayed(), want)
		}
		e.close()
	}
}

// TestListCountsOfKilled checks that the edits of a process are counted exactly that died before it
// counted them.
func TestListCountsOfKilled(t *testing.T) {
	testneeds.Seconds(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := newPlace(t, 0)
		p.put(shop())
		all := slices.Sorted(maps.Values(numbers(t, p.openFile())))
		e := p.mustOpen(Options{})
		for range 1 + r.IntN(3) {
			someEdit(t, r, e.Draft(), all)
		}
		if want := int(e.Draft().Pending()); e.Journal() != "" {
			j := p.describe()
			if j.State != save.StateInUse || j.Edits != want || j.AtMost {
				t.Errorf("seed %d: %s is %s, want %d", seed, j.Count(), j.State, want)
			}
			if left, err := countLeft(&j, j.Base()); left != want || err != nil {
				t.Errorf("seed %d: %d edits, %v, want %d", seed, left, err, want)
			}
		}
		e.close()
	}
}

// TestListCountsMoves moves nodes among their siblings.
func TestListCountsMoves(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := newPlace(t, 0)
		p.put(shop())
		at := numbers(t, p.openFile())
		twins := []edit.Number{at["Twins/Twin"], at["Twins/Twin.1"], at["Twins/Twin.2"], at["Twins/Twin.3"]}
		e := p.mustOpen(Options{})
		for i := range 1 + r.IntN(6) {
			if err := e.Draft().Apply(t.Context(), edit.Edit{
				Op: edit.MoveNode, Node: twins[r.IntN(len(twins))], Parent: at["Twins"], Name: "Twin",
				Ordinal: uint32(10 + i), Rank: edit.RankGap*uint64(1+r.IntN(5)) + uint64(i) - 8,
			}); err != nil {
				t.Fatal(err)
			}
		}
		want := int(e.Draft().Pending())
		e.close()
		if want == 0 {
			continue // TestNothingIsLeft
		}
		if j := p.describe(); j.Edits != want {
			t.Errorf("seed %d: %d edits, want %d", seed, j.Edits, want)
		}
	}
}
