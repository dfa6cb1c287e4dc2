package casctree_test

import (
	"errors"
	"maps"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
)

// TestByID finds files by their IDs: with a name, without one, several of one ID, and several IDs of
// one name whose content is the same, of which a listing has one.
func TestByID(t *testing.T) {
	g := casctest.New()
	var files []root.File
	for _, f := range []struct {
		id     uint32
		text   string
		locale root.Locale
	}{
		{7, "seven", root.LocaleEnUS},
		{8, "eight in German", root.LocaleDeDE},
		{8, "eight", root.LocaleEnUS},
		{9, "same", root.LocaleEnUS},
		{1234567, "same", root.LocaleEnUS},
		{1 << 31, "the last", root.LocaleEnUS},
	} {
		files = append(files, root.File{ID: f.id, CKey: g.Add([]byte(f.text)).CKey, Flags: root.ContentNoNames, Locale: f.locale})
	}
	g.Root(g.Add(write.WoWRoot(3, files)))
	install, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	index := newStore()
	for range 2 { // made, and as it was kept
		opts := casctree.Options{Index: index, ListFiles: []casctree.ListFile{listFile("8;a/eight.txt\n9;a/b.txt\n1234567;a/b.txt\n")}}
		tree, _ := openBoth(t, casctest.FS(install), casc.Options{}, opts)
		if p := tree.Problems(); len(p) > 0 {
			t.Fatal(p)
		}
		for name, want := range map[string]string{
			"by-id/7": "seven", "by-id/8": "eight", "by-id/9": "same", "by-id/1234567": "same", "by-id/2147483648": "the last",
		} {
			if got := textAt(t, tree, name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		for _, name := range []string{"10", "07", "+7", "4294967296", "7.dat"} {
			if _, err := readPath(t.Context(), tree, "by-id/"+name); !errors.Is(err, nodes.ErrNotExist) {
				t.Errorf("by-id/%s: %v", name, err)
			}
		}
		ids := map[string]uint32{}
		for e, err := range nodes.Walk(t.Context(), tree, nodes.Root) {
			if err != nil {
				t.Fatal(err)
			}
			if id, ok := tree.FileID(e.ID); ok {
				ids[e.Path] = id
			}
		}
		want := map[string]uint32{
			"unnamed/0000/00000007.dat": 7, "files/a/eight.txt": 8, "files/a/eight.txt%~2": 8,
			"files/a/b.txt": 9, "unnamed/8000/80000000.dat": 1 << 31,
		}
		if !maps.Equal(ids, want) {
			t.Errorf("%v, want %v", ids, want)
		}
	}
}
