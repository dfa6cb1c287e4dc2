package worldtree_test

import (
	"testing"
	"testing/fstest"
	"time"

	"lorefs/geometry/geomtest"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/overlay"
	"lorefs/nodes/worldtree"
)

// TestDirectoryTimes checks that a directory has the time of the last edit in it.
func TestDirectoryTimes(t *testing.T) {
	ctx, now := t.Context(), geomtest.FolderTime
	fsys := fstest.MapFS{"x1000y1000.zgd": {Data: geomtest.ZoneFile(geomtest.Empty), ModTime: now}}
	tree := newTree(t, fsys, worldtree.Options{Blocks: blockcache.New(1 << 20).View(), ModTime: now})
	e := worldtree.NewEditable(tree, worldtree.EditOptions{EditOptions: overlay.EditOptions{Now: func() time.Time { return now }}})
	dir := find(t, e, "zones").ID
	for _, edit := range []struct {
		name string
		do   func() error
	}{
		{"create", func() error { _, err := e.Create(ctx, dir, "a"); return err }},
		{"mkdir", func() error { _, err := e.Mkdir(ctx, dir, "d"); return err }},
		{"rename", func() error { return e.Rename(ctx, dir, "a", dir, "b", nodes.RenameReplace) }},
		{"exchange", func() error { return e.Rename(ctx, dir, "b", dir, "d", nodes.RenameExchange) }},
		{"remove", func() error { return e.Remove(ctx, dir, "d", nodes.File) }},
	} {
		now = now.Add(time.Minute)
		if err := edit.do(); err != nil {
			t.Fatalf("%s: %v", edit.name, err)
		}
		if attr, err := e.Attr(ctx, dir); err != nil || !attr.ModTime.Equal(now) {
			t.Errorf("%s: the directory has the time %v, %v; want %v", edit.name, attr.ModTime, err, now)
		}
	}
}
