package dctree_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/verify"
	"lorefs/nodes"
	"lorefs/nodes/dctree"
	"lorefs/nodes/nodetest"
)

// fatal has what the helpers need of a test, from rapid or from testing.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// at returns the entry of a path, or the error of the first Lookup that fails.
func (e *edited) at(path string) (nodes.Entry, error) {
	entry := nodes.Entry{ID: nodes.Root, Kind: nodes.Dir}
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' }) {
		var err error
		if entry, err = e.Lookup(context.Background(), entry.ID, name); err != nil {
			return entry, err
		}
	}
	return entry, nil
}

// split returns the directory of a path, and its last name.
func (e *edited) split(t fatal, path string) (nodes.ID, string) {
	t.Helper()
	i := strings.LastIndexByte(path, '/')
	dir, err := e.at(path[:max(i, 0)])
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return dir.ID, path[i+1:]
}

func (e *edited) mustAt(t fatal, path string) nodes.ID {
	t.Helper()
	entry, err := e.at(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return entry.ID
}

func (e *edited) create(t fatal, path string) nodes.ID {
	t.Helper()
	dir, name := e.split(t, path)
	entry, err := e.Create(context.Background(), dir, name)
	if err != nil {
		t.Fatalf("create %s: %v", path, err)
	}
	return entry.ID
}

func (e *edited) open(t fatal, id nodes.ID) nodes.Writer {
	t.Helper()
	w, err := e.OpenWrite(context.Background(), id)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return w
}

func (e *edited) rename(t fatal, from, to string) error {
	t.Helper()
	dir, name := e.split(t, from)
	toDir, toName := e.split(t, to)
	return e.Rename(context.Background(), dir, name, toDir, toName, nodes.RenameReplace)
}

func (e *edited) remove(t fatal, path string) error {
	t.Helper()
	dir, name := e.split(t, path)
	return e.Remove(context.Background(), dir, name, nodes.File)
}

// write writes text as cp does and closes the file. It returns the first error.
func (e *edited) write(t fatal, id nodes.ID, text string) (err error) {
	t.Helper()
	w := e.open(t, id)
	defer func() { err = cmp.Or(err, w.Release()) }()
	if err := w.Truncate(context.Background(), 0); err != nil {
		return err
	}
	if _, err := w.WriteAt(context.Background(), []byte(text), 0); err != nil {
		return err
	}
	return w.Flush(context.Background())
}

// must fails the test if err is not nil.
func must(t fatal, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// text returns the content of a file.
func (e *edited) text(t fatal, id nodes.ID) string {
	t.Helper()
	b, err := nodetest.ReadFile(context.Background(), e, id)
	if err != nil {
		t.Fatalf("read %d: %v", id, err)
	}
	return string(b)
}

// typeOf returns the extended attribute with the type, or "" if there is none.
func typeOf(t fatal, x nodes.Xattrer, id nodes.ID) string {
	t.Helper()
	b, err := x.Xattr(context.Background(), id, "user.lorefs.type")
	if err != nil && !errors.Is(err, nodes.ErrNoXattr) {
		t.Fatalf("type of %d: %v", id, err)
	}
	return string(b)
}

// shown returns the contents of a tree by path: type and text, with the final newline if there
// is one. A file that is not an attribute has no type.
func shown(t fatal, tree nodes.Tree) map[string]string {
	t.Helper()
	all := map[string]string{}
	var dir func(id nodes.ID, path string)
	dir = func(id nodes.ID, path string) {
		for entry, err := range tree.ReadDir(context.Background(), id, 0) {
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			p := path + "/" + entry.Name
			if _, twice := all[p]; twice {
				t.Errorf("%s is listed twice", p)
			}
			if entry.Kind == nodes.Dir {
				keys, _ := tree.(nodes.Xattrer).Xattr(context.Background(), entry.ID, "user.lorefs.keys")
				all[p] = "keys " + string(keys)
				dir(entry.ID, p)
				continue
			}
			b, err := nodetest.ReadFile(context.Background(), tree, entry.ID)
			if err != nil || int64(len(b)) != entry.Size {
				t.Fatalf("%s: %d bytes of %d, %v", p, len(b), entry.Size, err)
			}
			all[p] = typeOf(t, tree.(nodes.Xattrer), entry.ID) + " " + string(b)
		}
	}
	dir(nodes.Root, "")
	return all
}

// kept returns what is left of that after a save or a crash: attributes and nodes, with a
// newline behind each value.
func kept(all map[string]string) map[string]string {
	out := map[string]string{}
	for p, v := range all {
		switch {
		case strings.HasPrefix(v, " "):
			continue
		case strings.HasPrefix(v, "string ") && !strings.HasSuffix(v, "\n"):
			v += "\n"
		}
		out[p] = v
	}
	return out
}

// differ reports the differences of two trees as errors.
func differ(t fatal, what string, got, want map[string]string) {
	t.Helper()
	for _, p := range slices.Sorted(maps.Keys(got)) {
		if w, ok := want[p]; !ok || w != got[p] {
			t.Errorf("%s: %s is %q, want %q (%v)", what, p, got[p], w, ok)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[p]; !ok {
			t.Errorf("%s: %s is missing, want %q", what, p, want[p])
		}
	}
}

// replayed returns the tree of the same file after a crash, with the logged edits applied again.
func (e *edited) replayed(t fatal) *edited {
	t.Helper()
	again, err := reopen(e.data)
	must(t, err)
	for i, r := range e.log {
		if err := again.draft.Replay(context.Background(), r); err != nil {
			t.Fatalf("record %d of %d: %v", i, len(e.log), err)
		}
	}
	return again
}

// save returns the bytes of the saved file, after checking it by Compare and Verify.
func (e *edited) save(t fatal) []byte {
	t.Helper()
	ctx := context.Background()
	must(t, e.RemoveHidden(ctx))
	snapshot := e.draft.Snapshot()
	defer snapshot.Close()
	var out bytes.Buffer
	w, err := snapshot.Write(ctx, datacenter.WriteOptions{}, &out)
	must(t, err)
	g, err := datacenter.Open(ctx, bytes.NewReader(out.Bytes()), int64(out.Len()), datacenter.Options{})
	must(t, err)
	must(t, w.Compare(ctx, g))
	must(t, e.draft.Rebase(ctx, w, g, func([][]byte) error { return nil }))
	for f, err := range verify.File(context.Background(), bytes.NewReader(out.Bytes()), int64(out.Len()), datacenter.Options{}) {
		t.Errorf("Verify: %v, %v", f, err)
	}
	return out.Bytes()
}

// reopen returns an editable tree of a file.
func reopen(data []byte) (*edited, error) {
	f, err := datacenter.Open(context.Background(), bytes.NewReader(data), int64(len(data)), datacenter.Options{})
	if err != nil {
		return nil, err
	}
	tree, err := dctree.New(f, dctree.Options{ModTime: time.Unix(1_600_000_000, 0)})
	if err != nil {
		return nil, err
	}
	e := &edited{data: data, plain: tree}
	e.draft, err = edit.NewDraft(f, func(r []byte) error {
		if e.full == nil {
			e.log = append(e.log, bytes.Clone(r))
		}
		return e.full
	})
	if err != nil {
		return nil, err
	}
	e.Editable = dctree.NewEditable(tree, e.draft, dctree.EditOptions{Sync: func() error {
		e.syncs++
		return e.full
	}})
	e.Watch(func(c nodes.Change) { e.changes = append(e.changes, c) })
	return e, nil
}

// readAll reads a file in small pieces.
func readAll(t fatal, tree nodes.Tree, id nodes.ID) string {
	t.Helper()
	var all []byte
	for {
		var p [3]byte
		n, err := tree.ReadAt(context.Background(), id, p[:], int64(len(all)))
		all = append(all, p[:n]...)
		if errors.Is(err, io.EOF) {
			return string(all)
		}
		if err != nil || n == 0 {
			t.Fatalf("read: %d, %v", n, err)
		}
	}
}

func (e *edited) describe(id nodes.ID) string {
	attr, err := e.Attr(context.Background(), id)
	return fmt.Sprintf("%+v, %v", attr, err)
}
