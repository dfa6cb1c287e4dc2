package dctree_test

import (
	"strings"
	"testing"

	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/dctree"
	"lorefs/nodes/nodetest"
)

// edited is an editable tree of a file, with its log and the changes that it reported.
type edited struct {
	plain *dctree.Tree
	*dctree.Editable
	data    []byte
	draft   *edit.Draft
	log     [][]byte
	changes []nodes.Change
	// syncs counts the calls of EditOptions.Sync. full is the error that these and logging
	// return.
	syncs int
	full  error
}

func editable(t testing.TB, doc dctest.Doc) *edited {
	t.Helper()
	e, err := reopen(dctest.Build(doc, dctest.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// items returns a small document: two items with an int, a string and a shared child.
func items() dctest.Doc {
	shared := []*dctest.Node{{Name: "Effect", Attrs: []dctest.Attr{{Name: "rate", Value: float32(0.5)}}}}
	item := func(id int) *dctest.Node {
		return &dctest.Node{
			Name: "Item", Keys: []string{"id"}, Children: shared,
			Attrs: []dctest.Attr{{Name: "id", Value: id}, {Name: "name", Value: "sword"}},
		}
	}
	return dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "ItemData", Children: []*dctest.Node{item(1), item(2)}})}
}

func TestMutable(t *testing.T) {
	open := func(t *testing.T) nodes.Mutable { return editable(t, items()) }
	line := func(s string) string { return strings.TrimSuffix(s, "\n") + "\n" }
	t.Run("strings", func(t *testing.T) {
		nodetest.RunMutable(t, open, nodetest.Edits{
			Dir: []string{"ItemData", "Item"}, Files: [2]string{"title", "@motto"}, Dirs: [2]string{"Part", "Part.7"},
			Valid: [2]string{"a word", "another\n"},
		})
	})
	t.Run("ints", func(t *testing.T) {
		nodetest.RunMutable(t, open, nodetest.Edits{
			Dir: []string{"ItemData"}, Files: [2]string{"a", "b"}, Dirs: [2]string{"Item.1000", "한국"},
			Valid: [2]string{"12\n", "-7"}, Shown: line, Invalid: "x\n",
		})
	})
}

func TestEditableConformance(t *testing.T) {
	t.Run("without edits", func(t *testing.T) {
		for i, ex := range dctest.Legal() {
			if testneeds.Quick() && i%7 != 0 {
				continue // the test of the plain Tree has all of them
			}
			t.Run(ex.Name, func(t *testing.T) {
				ex.Options.Seal = dctest.SealOptions{}
				e, err := reopen(dctest.Build(ex.Doc, ex.Options))
				must(t, err)
				nodetest.Run(t, e)
			})
		}
	})
	t.Run("with edits", func(t *testing.T) {
		e, err := reopen(dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 10, Nodes: 500}), dctest.Options{}))
		must(t, err)
		editMuch(t, e, nodes.Root)
		nodetest.Run(t, e)
		again, err := reopen(e.save(t))
		must(t, err)
		nodetest.Run(t, again)
	})
}

// editMuch changes something in each directory.
func editMuch(t *testing.T, e *edited, dir nodes.ID) {
	var entries []nodes.Entry
	for entry, err := range e.ReadDir(t.Context(), dir, 0) {
		must(t, err)
		entries = append(entries, entry)
	}
	if dir != nodes.Root {
		f, err := e.Create(t.Context(), dir, "added attribute")
		must(t, err)
		must(t, e.write(t, f.ID, "1\n"))
		_, err = e.Create(t.Context(), dir, ".scratch")
		must(t, err)
	}
	_, err := e.Mkdir(t.Context(), dir, "Added node")
	must(t, err)
	for i, entry := range entries {
		switch {
		case entry.Kind == nodes.Dir:
			editMuch(t, e, entry.ID)
		case i%3 == 0:
			must(t, e.write(t, entry.ID, "1\n"))
		case i%3 == 1:
			must(t, e.Remove(t.Context(), dir, entry.Name, nodes.File))
		}
	}
}
