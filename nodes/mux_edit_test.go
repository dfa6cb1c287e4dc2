package nodes_test

import (
	"errors"
	"testing"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/nodetest"
)

// plainEdits is a Mutable without extended attributes.
type plainEdits struct{ nodes.Mutable }

// readEdits has extended attributes that can't be set.
type readEdits struct {
	nodes.Mutable
	nodes.Xattrer
}

func newMux(t *testing.T, mounts ...nodes.Mount) nodes.Tree {
	t.Helper()
	m, err := nodes.NewMux(testTime, mounts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMuxCanDoWhatItsTreesCan(t *testing.T) {
	mem := nodetest.NewMutable(nil)
	for name, c := range map[string]struct {
		tree                    nodes.Tree
		mutable, xattrs, setter bool
	}{
		"files":                {plainTree{testFiles()}, false, false, false},
		"attributes":           {testFiles(), false, true, false},
		"edits":                {plainEdits{mem}, true, false, false},
		"edits and attributes": {readEdits{mem, mem}, true, true, false},
		"all":                  {mem, true, true, true},
	} {
		for _, beside := range []nodes.Tree{plainTree{testFiles()}, c.tree} {
			m := newMux(t, nodes.Mount{Name: "other", Tree: plainTree{testFiles()}}, nodes.Mount{Name: "it", Tree: c.tree},
				nodes.Mount{Name: "beside", Tree: beside})
			_, mutable := nodes.Edits(m)
			_, xattrs := nodes.Xattrs(m)
			_, setter := nodes.XattrSets(m)
			if mutable != c.mutable || xattrs != c.xattrs || setter != c.setter {
				t.Errorf("%s: Mutable %v, Xattrer %v, XattrSetter %v", name, mutable, xattrs, setter)
			}
		}
	}
}

// plainTree hides everything but the tree.
type plainTree struct{ nodes.Tree }

func TestMuxIsMutable(t *testing.T) {
	open := func(t *testing.T) nodes.Mutable {
		return newMux(t,
			nodes.Mount{Name: "files", Tree: testFiles()},
			nodes.Mount{Name: "it", Tree: nodetest.NewMutable(map[string]string{"a/": ""})},
			nodes.Mount{Name: "info", Content: "text"},
		).(nodes.Mutable)
	}
	nodetest.RunMutable(t, open, nodetest.Edits{
		Dir: []string{"it", "a"}, Files: [2]string{"x", "y"}, Dirs: [2]string{"d", "e"}, Valid: [2]string{"one", "two"},
	})
}

// edits mounts two trees that can be changed, one that can't, and a file.
type edits struct {
	nodes.Tree
	nodes.Mutable
	nodes.XattrSetter
	one, two *nodetest.Mutable
	changes  []nodes.Change
}

func newEdits(t *testing.T) *edits {
	t.Helper()
	e := &edits{one: nodetest.NewMutable(map[string]string{"a": "1"}), two: nodetest.NewMutable(map[string]string{"b": "2"})}
	e.Tree = newMux(t, nodes.Mount{Name: "files", Tree: testFiles()}, nodes.Mount{Name: "one", Tree: e.one},
		nodes.Mount{Name: "info", Content: "text"}, nodes.Mount{Name: "two", Tree: e.two})
	e.Mutable, e.XattrSetter = e.Tree.(nodes.Mutable), e.Tree.(nodes.XattrSetter)
	e.Watch(func(c nodes.Change) { e.changes = append(e.changes, c) })
	return e
}

func (e *edits) find(t *testing.T, path ...string) nodes.Entry {
	t.Helper()
	entry := nodes.Entry{ID: nodes.Root}
	for _, name := range path {
		var err error
		if entry, err = e.Tree.Lookup(t.Context(), entry.ID, name); err != nil {
			t.Fatal(err)
		}
	}
	return entry
}

func TestMuxRefusesOutsideOfMutableTrees(t *testing.T) {
	e, ctx := newEdits(t), t.Context()
	files, info, one := e.find(t, "files").ID, e.find(t, "info").ID, e.find(t, "one").ID
	for name, dir := range map[string]nodes.ID{"root": nodes.Root, "files": files} {
		_, create := e.Create(ctx, dir, "x")
		_, mkdir := e.Mkdir(ctx, dir, "x")
		for what, err := range map[string]error{
			"Create": create, "Mkdir": mkdir, "Remove": e.Remove(ctx, dir, "one", nodes.Dir),
			"Rename from": e.Rename(ctx, dir, "one", one, "x", 0), "Rename to": e.Rename(ctx, one, "a", dir, "x", 0),
			"SetModTime": e.SetModTime(ctx, dir, time.Now()), "SetXattr": e.SetXattr(ctx, dir, "user.x", nil),
			"RemoveXattr": e.RemoveXattr(ctx, dir, "user.x"),
		} {
			if !errors.Is(err, nodes.ErrReadOnly) {
				t.Errorf("%s in %s: %v, want ErrReadOnly", what, name, err)
			}
		}
	}
	if _, err := e.OpenWrite(ctx, info); !errors.Is(err, nodes.ErrReadOnly) {
		t.Errorf("OpenWrite of a file of the mux: %v, want ErrReadOnly", err)
	}
	if _, err := e.Create(ctx, 7<<60|1, "x"); !errors.Is(err, nodes.ErrNotExist) {
		t.Errorf("Create in no tree: %v, want ErrNotExist", err)
	}
	for name, want := range map[string]bool{"files": false, "info": false, "one": true, "two": true} {
		if got := e.find(t, name).Writable; got != want {
			t.Errorf("%s is Writable: %v", name, got)
		}
	}
}

func TestMuxKeepsTreesApart(t *testing.T) {
	e, ctx := newEdits(t), t.Context()
	one, two, a := e.find(t, "one").ID, e.find(t, "two").ID, e.find(t, "one", "a").ID
	if err := e.Rename(ctx, one, "a", two, "a", 0); !errors.Is(err, nodes.ErrCross) {
		t.Errorf("Rename between trees: %v, want ErrCross", err)
	}
	made, err := e.Create(ctx, two, "c")
	if err != nil || made.ID != e.find(t, "two", "c").ID {
		t.Errorf("Create = %+v, %v", made, err)
	}
	if err := e.SetXattr(ctx, a, "user.x", []byte("y")); err != nil {
		t.Error(err)
	}
	if v, err := e.Tree.(nodes.Xattrer).Xattr(ctx, a, "user.x"); string(v) != "y" || err != nil {
		t.Errorf("Xattr = %q, %v", v, err)
	}
	if err := e.RemoveXattr(ctx, a, "user.x"); err != nil {
		t.Error(err)
	}
	if err := errors.Join(e.Sync(ctx), e.SetModTime(ctx, a, testTime)); err != nil || e.one.Syncs() != 1 || e.two.Syncs() != 1 {
		t.Errorf("Sync: %v, %d and %d times", err, e.one.Syncs(), e.two.Syncs())
	}
	own, err := e.one.Lookup(ctx, nodes.Root, "a")
	if err != nil {
		t.Fatal(err)
	}
	e.Forget(a)
	e.Forget(nodes.Root) // of no tree that would care
	if e.one.Forgotten(own.ID) != 1 || e.two.Forgotten(own.ID) != 0 {
		t.Error("the wrong node was forgotten")
	}
	e.one.Put(own.ID, "new")
	e.two.Replace(nodes.Root, "d", "new", false)
	want := []nodes.Change{{ID: a}, {Dir: two, Name: "d"}}
	if len(e.changes) != 2 || e.changes[0] != want[0] || e.changes[1] != want[1] {
		t.Errorf("told %+v, want %+v", e.changes, want)
	}
}
