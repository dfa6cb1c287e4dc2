package dctree_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/dctree"
	"lorefs/nodes/nodetest"
)

// Readers, editors and saves run at the same time: every read and save is consistent, and there
// is no data race.
func TestConcurrentEdits(t *testing.T) {
	e, err := reopen(dctest.Build(weapon(), dctest.Options{}))
	must(t, err)
	tree := dctree.NewEditable(e.plain, e.draft, dctree.EditOptions{})
	tree.Watch(func(nodes.Change) {})
	rounds := 60
	if testneeds.Quick() {
		rounds = 15
	}
	var work sync.WaitGroup
	for worker := range 3 {
		work.Go(func() { editAtOnce(t, tree, fmt.Sprintf("w%d", worker), rounds) })
		work.Go(func() {
			for range rounds {
				readAtOnce(t, tree, nodes.Root)
			}
		})
	}
	work.Go(func() {
		for range rounds / 5 {
			snapshot := e.draft.Snapshot()
			_, err := snapshot.Write(t.Context(), datacenter.WriteOptions{}, &bytes.Buffer{})
			snapshot.Close()
			err = errors.Join(err, tree.RemoveHidden(t.Context()))
			if err != nil {
				t.Error(err)
			}
			tree.Loose()
		}
	})
	work.Wait()
}

// editAtOnce does what tools do, with names of its own and of others.
func editAtOnce(t *testing.T, tree *dctree.Editable, own string, rounds int) {
	ctx := context.Background()
	fail := func(err error) {
		if err != nil && !errors.Is(err, nodes.ErrExist) && !errors.Is(err, nodes.ErrNotExist) && !errors.Is(err, nodes.ErrInvalid) {
			t.Error(err)
		}
	}
	sheet, err := tree.Lookup(ctx, nodes.Root, "Weapon")
	fail(err)
	item, err := tree.Lookup(ctx, sheet.ID, "Item")
	fail(err)
	for i := range rounds {
		f, err := tree.Create(ctx, item.ID, "."+own)
		fail(err)
		if w, err := tree.OpenWrite(ctx, f.ID); err == nil {
			_, err = w.WriteAt(ctx, []byte("word\n"), 0)
			fail(err)
			fail(w.Flush(ctx))
			fail(w.Release())
		}
		fail(tree.Rename(ctx, item.ID, "."+own, item.ID, []string{"name", own}[i%2], nodes.RenameReplace))
		fail(tree.Rename(ctx, item.ID, "name", item.ID, "."+own, nodes.RenameReplace))
		fail(tree.Remove(ctx, item.ID, "."+own, nodes.File))
		_, err = tree.Mkdir(ctx, item.ID, "Part")
		fail(err)
		fail(tree.Rename(ctx, item.ID, "Part", sheet.ID, own, nodes.RenameReplace))
		fail(tree.SetXattr(ctx, item.ID, "user.lorefs.keys", []byte("id")))
		fail(tree.Remove(ctx, sheet.ID, own, nodes.Dir))
		tree.Forget(f.ID)
	}
}

// readAtOnce reads the whole tree while parts of it are removed.
func readAtOnce(t *testing.T, tree *dctree.Editable, dir nodes.ID) {
	ctx := context.Background()
	seen := map[string]bool{}
	for entry, err := range tree.ReadDir(ctx, dir, 0) {
		switch {
		case errors.Is(err, nodes.ErrNotExist):
			return
		case err != nil || entry.Name == "" || entry.ID == 0:
			t.Errorf("%+v, %v", entry, err)
			return
		case entry.Kind == nodes.Dir:
			readAtOnce(t, tree, entry.ID)
		}
		seen[entry.Name] = true
		_, attrErr := tree.Attr(ctx, entry.ID)
		_, xattrErr := tree.Xattrs(ctx, entry.ID)
		_, lookupErr := tree.Lookup(ctx, dir, entry.Name)
		_, readErr := nodetest.ReadFile(ctx, tree, entry.ID)
		for _, err := range []error{attrErr, xattrErr, lookupErr} {
			if err != nil && !errors.Is(err, nodes.ErrNotExist) {
				t.Error(err)
			}
		}
		_ = readErr // the file may have become shorter meanwhile
	}
}
