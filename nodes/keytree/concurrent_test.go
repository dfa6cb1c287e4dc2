package keytree_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/nodes"
)

// TestReadWhileEdited reads all links while keys and nodes are edited. What is read may be old or
// new; at the end it has to be what a new tree shows.
func TestReadWhileEdited(t *testing.T) {
	f := dctest.Open(t, dctest.Build(propertyDoc(), dctest.Options{}))
	d := draftOf(t, f)
	tree := treeOf(t, f, d)
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for !done.Load() {
				for e, err := range nodes.Walk(t.Context(), tree, nodes.Root) {
					if err == nil && e.Kind == nodes.Link {
						_, err = tree.Readlink(t.Context(), e.ID)
					}
					if err != nil && !errors.Is(err, nodes.ErrNotExist) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	first, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	numbers := numbersOf(t, first, 0, nil)
	for i := range 400 {
		n := numbers[1+i*7%(len(numbers)-1)]
		e := edit.Edit{Op: edit.SetAttribute, Node: n, Name: "id", Value: datacenter.IntValue(int32(i % 5))}
		switch i % 8 {
		case 3:
			e = edit.Edit{Op: edit.RemoveNode, Node: n}
		case 5:
			e = edit.Edit{Op: edit.MoveNode, Node: n, Parent: 0, Name: "Keyed", Ordinal: uint32(i)}
		case 6:
			e = edit.Edit{Op: edit.SetKeys, Node: n, Keys: []string{"id"}}
		case 7:
			if _, err := d.Revert(t.Context(), nil, []edit.Target{{Node: n}}); err != nil {
				t.Logf("revert: %v", err) // it is in no file, or nowhere
			}
			continue
		}
		if err := d.Apply(t.Context(), e); err != nil && !errors.Is(err, edit.ErrGone) {
			t.Fatal(err)
		}
	}
	done.Store(true)
	readers.Wait()
	got, _ := links(t, tree)
	want, _ := links(t, treeOf(t, f, d))
	if len(got) == 0 || len(got) != len(want) {
		t.Errorf("%d links, want %d", len(got), len(want))
	}
	for path, target := range want {
		if got[path] != target {
			t.Errorf("%s leads to %q, want %q", path, got[path], target)
		}
	}
}
