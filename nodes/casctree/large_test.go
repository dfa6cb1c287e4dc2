package casctree_test

import (
	"bytes"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
	"lorefs/nodes/nodetest"
)

// TestLarge opens a storage of many files twice: the second time the names come from the
// store.
func TestLarge(t *testing.T) {
	n := 100_000
	if testneeds.Quick() {
		n = 2500
	}
	l, err := casctest.NewLarge(n)
	if err != nil {
		t.Fatal(err)
	}
	fsys, s := casctest.FS(l.Files), newStore()
	opts := casctree.Options{Index: s, ListFiles: []casctree.ListFile{listFile(l.List)}}
	first := open(t, fsys, casc.Options{}, opts)
	second := open(t, fsys, casc.Options{}, opts)
	if s.saves != 1 || s.hits != 1 {
		t.Fatalf("the store has saved %d times and was of use %d times", s.saves, s.hits)
	}
	size := 0
	for _, data := range s.data {
		size = len(data)
	}
	if size > 60*n {
		t.Errorf("the table has %d bytes for %d files", size, n)
	}
	for i := 0; i < n; i += n / 2500 {
		name := l.Find(i)
		a, err := lookup(t.Context(), first, name)
		b, err2 := lookup(t.Context(), second, name)
		if (err == nil) != l.Local(i) || (err2 == nil) != l.Local(i) || a != b {
			t.Fatalf("%s: %+v, %v; then %+v, %v", name, a, err, b, err2)
		}
		if !l.Local(i) {
			continue
		}
		if got, err := readAll(t.Context(), second, b); err != nil || !bytes.Equal(got, casctest.LargeContent(i)) {
			t.Fatalf("%s: %x, %v", name, got, err)
		}
	}
	named, unnamed, missing := l.Counts()
	files := 0
	for w, err := range nodes.Walk(t.Context(), second, nodes.Root) {
		if err != nil {
			t.Fatal(err)
		}
		if w.Kind == nodes.File && (bytes.HasPrefix([]byte(w.Path), []byte("files/")) || bytes.HasPrefix([]byte(w.Path), []byte("unnamed/"))) {
			files++
		}
	}
	if files != named+unnamed-missing {
		t.Errorf("%d files are listed, want %d", files, named+unnamed-missing)
	}
	nodetest.Run(t, second)
}

// TestStore damages what the store keeps: the table is made anew. Another list file needs
// another table.
func TestStore(t *testing.T) {
	l, err := casctest.NewLarge(500)
	if err != nil {
		t.Fatal(err)
	}
	fsys, s := casctest.FS(l.Files), newStore()
	opts := casctree.Options{Index: s, ListFiles: []casctree.ListFile{listFile(l.List)}}
	open(t, fsys, casc.Options{}, opts)
	for key, data := range s.data {
		for i := 0; i < len(data); i += max(1, len(data)/50) {
			damaged := bytes.Clone(data)
			damaged[i] ^= 1 << (i % 8)
			s.data[key], s.saves = damaged, 0
			tree := open(t, fsys, casc.Options{}, opts)
			if got, err := readPath(t.Context(), tree, l.Find(1)); err != nil || !bytes.Equal(got, casctest.LargeContent(1)) || s.saves != 1 {
				t.Fatalf("byte %d flipped: %x, %v, saved %d times", i, got, err, s.saves)
			}
		}
		s.data[key], s.saves = data[:len(data)/2], 0
		open(t, fsys, casc.Options{}, opts)
		if s.saves != 1 {
			t.Error("half a table is taken")
		}
	}
	s.saves = 0
	opts.ListFiles[0] = listFile("1;other name")
	tree := open(t, fsys, casc.Options{}, opts)
	if _, err := lookup(t.Context(), tree, "files/other name"); err != nil || s.saves != 1 {
		t.Errorf("%v, saved %d times", err, s.saves)
	}
}
