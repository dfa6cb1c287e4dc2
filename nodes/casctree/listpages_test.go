package casctree_test

import (
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
)

// TestListManifests checks that the files of manifests are listed without rendering them, and are
// the same as those that are rendered.
func TestListManifests(t *testing.T) {
	l, err := casctest.NewLarge(20_000)
	if err != nil {
		t.Fatal(err)
	}
	tree := open(t, casctest.FS(l.Files), casc.Options{}, casctree.Options{})
	for _, m := range []string{"encoding", "encoding-keys", "root", "idx"} {
		before := listed(t, tree, "manifests/"+m)
		for name, e := range before {
			if e.Size != nodes.UnknownSize {
				t.Errorf("%s is rendered to list it", name)
			}
		}
		if _, err := readPath(t.Context(), tree, "manifests/"+m+"/000000.jsonl"); err != nil {
			t.Fatal(err)
		}
		after := listed(t, tree, "manifests/"+m)
		if len(before) != len(after) || len(after) < 2 {
			t.Errorf("%s: %d files are listed, and %d rendered", m, len(before), len(after))
		}
		for name, e := range after {
			if e.Size <= 0 {
				t.Errorf("%s has %d bytes", name, e.Size)
			}
		}
	}
}
