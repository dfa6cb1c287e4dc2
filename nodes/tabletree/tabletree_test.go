package tabletree_test

import (
	"bytes"
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"lorefs/casc/db2/dbd"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/tabletree"
)

// words is a table of WDBC with rows of two numbers, the ID and its square.
func words(n int) []byte {
	b := []byte("WDBC")
	put := func(v int) { b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24)) }
	for _, v := range []int{n, 2, 8, 1} {
		put(v)
	}
	for i := range n {
		put(i)
		put(i * i)
	}
	return append(b, 0)
}

func table(name string, data []byte) tabletree.Table {
	return tabletree.Table{Name: name, File: name + ".dbc", Read: func(context.Context) ([]byte, error) { return data, nil }}
}

var modTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func library(t *testing.T) *dbd.Library {
	t.Helper()
	l, err := dbd.OpenLibrary(fstest.MapFS{
		"Squares.dbd": {Data: []byte("COLUMNS\nint ID\nint Square\n\nBUILD 3.3.5.12340\n$id$ID<32>\nSquare<32>\n")},
		"Wrong.dbd":   {Data: []byte("COLUMNS\nint ID\n\nBUILD 3.3.5.12340\n$id$ID<32>\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func read(t *testing.T, tree nodes.Tree, path ...string) string {
	t.Helper()
	e := nodes.Entry{ID: nodes.Root}
	for _, name := range path {
		var err error
		if e, err = tree.Lookup(t.Context(), e.ID, name); err != nil {
			t.Fatal(err)
		}
	}
	e, err := nodes.WithSize(t.Context(), tree, e)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, e.Size)
	if n, err := tree.ReadAt(t.Context(), e.ID, p, 0); n != len(p) {
		t.Fatal(n, err)
	}
	return string(p)
}

// TestTree shows tables with and without definitions, and one that is none.
func TestTree(t *testing.T) {
	var told []string
	tree := tabletree.New([]tabletree.Table{
		table("Empty", words(0)), table("Nonsense", []byte("PTCH....")), table("Squares", words(1000)), table("Wrong", words(3)),
	}, tabletree.Options{
		ModTime: modTime, Library: library(t), Build: dbd.Build{3, 3, 5, 12340},
		Unnamed: func(name string, why error) { told = append(told, name+": "+why.Error()) },
	})
	if got := read(t, tree, "tables", "Squares.csv"); !strings.HasPrefix(got, "ID,Square\n0,0\n1,1\n2,4\n") || !strings.HasSuffix(got, "\n999,998001\n") {
		t.Errorf("got %.100s", got)
	}
	if got := read(t, tree, "tables", "Wrong.jsonl"); got != "{\"Field_0\":0,\"Field_1\":0}\n{\"Field_0\":1,\"Field_1\":1}\n{\"Field_0\":2,\"Field_1\":4}\n" {
		t.Error(got)
	}
	for _, want := range []string{
		`{"name":"Empty","file":"Empty.dbc","format":"WDBC","unnamed":"no definition","rows":0}`,
		`"error":"Nonsense.dbc: casc: table: offset 0x0: a table that begins with \"PTCH\", which no known format does"`,
		`{"name":"Squares","file":"Squares.dbc","format":"WDBC","definition":"build of the game","rows":1000}`,
		`"unnamed":"the definition does not fit the table: it has records of 4 bytes, the table has 8"`,
	} {
		if got := read(t, tree, tabletree.ListName); !strings.Contains(got, want) {
			t.Errorf("%s has no %s", got, want)
		}
	}
	if len(told) != 1 {
		t.Errorf("told %q", told)
	}
	id, err := tree.Lookup(t.Context(), nodes.Root, "tables")
	if err == nil {
		id, err = tree.Lookup(t.Context(), id.ID, "Nonsense.csv")
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Attr(t.Context(), id.ID); err == nil {
		t.Error("a file that is no table has a size")
	}
}

// TestConformance checks all that a tree promises.
func TestConformance(t *testing.T) {
	for _, memory := range []int64{0, 1} {
		nodetest.Run(t, tabletree.New([]tabletree.Table{table("Empty", words(0)), table("Squares", words(1000))}, tabletree.Options{
			ModTime: modTime, Library: library(t), Build: dbd.Build{3, 3, 5, 12340}, Memory: memory,
		}))
	}
}

// TestBeside checks what a tree promises that has tables beside other files.
func TestBeside(t *testing.T) {
	var b nodetest.Builder
	b.File(nodes.Root, "casc.json", "{}")
	b.File(b.Dir(nodes.Root, "files"), "a.txt", "some text")
	other, err := b.Build(modTime)
	if err != nil {
		t.Fatal(err)
	}
	tree := tabletree.Beside(other, tabletree.New([]tabletree.Table{table("Squares", words(100))}, tabletree.Options{ModTime: modTime}))
	nodetest.Run(t, tree)
	if got := read(t, tree, "files", "a.txt"); got != "some text" {
		t.Error(got)
	}
	if got := read(t, tree, "tables", "Squares.csv"); !strings.HasPrefix(got, "Field_0,Field_1\n0,0\n1,1\n") {
		t.Errorf("%.100s", got)
	}
}

// TestPieces reads a file from each offset, in pieces that begin and end anywhere.
func TestPieces(t *testing.T) {
	tree := tabletree.New([]tabletree.Table{table("Squares", words(300))}, tabletree.Options{ModTime: modTime})
	whole := read(t, tree, "tables", "Squares.csv")
	id, err := tree.Lookup(t.Context(), 2, "Squares.csv")
	if err != nil {
		t.Fatal(err)
	}
	for off := range len(whole) {
		p := make([]byte, 1+off%997)
		n, _ := tree.ReadAt(t.Context(), id.ID, p, int64(off))
		if want := whole[off:min(len(whole), off+len(p))]; string(p[:n]) != want {
			t.Fatalf("at %d: %q, want %q", off, p[:n], want)
		}
	}
	var b bytes.Buffer
	if n, ok, err := tree.Stream(t.Context(), id.ID, &b); b.String() != whole || n != int64(len(whole)) || !ok || err != nil {
		t.Errorf("a stream of %d bytes, %v, %v", n, ok, err)
	}
}

// store keeps data in memory.
type store map[string][]byte

func (s store) Load(key string) ([]byte, error) {
	if data, ok := s[key]; ok {
		return data, nil
	}
	return nil, iofs.ErrNotExist
}

func (s store) Save(key string, data []byte) error {
	s[key] = data
	return nil
}

// TestKept has sizes of a run before: nothing is read for them, unless something is another that a file
// is made from.
func TestKept(t *testing.T) {
	index, reads := store{}, 0
	key, text := "a", "COLUMNS\nint ID\nint Square\n\nBUILD 3.3.5.12340\n$id$ID<32>\nSquare<32>\n"
	size := func(change func(*tabletree.Options)) (size int64) {
		t.Helper()
		lib, err := dbd.OpenLibrary(fstest.MapFS{"Squares.dbd": {Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		one := table("Squares", words(1000))
		one.Key = func() string { return key }
		read := one.Read
		one.Read = func(ctx context.Context) ([]byte, error) {
			reads++
			return read(ctx)
		}
		o := tabletree.Options{Library: lib, Build: dbd.Build{3, 3, 5, 12340}, Index: index, Source: "here"}
		change(&o)
		tree := tabletree.New([]tabletree.Table{one}, o)
		for e, err := range tree.ReadDir(t.Context(), 2, 0) {
			if err != nil {
				t.Fatal(err)
			}
			attr, err := tree.Attr(t.Context(), e.ID)
			if err != nil {
				t.Fatal(err)
			}
			size += attr.Size
		}
		tree.Keep()
		return size
	}
	same := func(*tabletree.Options) {}
	want := size(same)
	for _, one := range []struct {
		name   string
		change func(*tabletree.Options)
		reads  int
	}{
		{"the same", same, 0},
		{"other keys", func(o *tabletree.Options) { o.Secrets = "another" }, 1},
		{"another build", func(o *tabletree.Options) { o.Build[3]++ }, 1},
		{"another source", func(o *tabletree.Options) { o.Source = "there" }, 1},
		{"another language", func(o *tabletree.Options) { o.Locale = 3 }, 1},
		{"other names", func(o *tabletree.Options) { o.Underscores = true }, 1},
	} {
		reads = 0
		size(one.change)
		if reads != one.reads {
			t.Errorf("%s: %d reads, want %d", one.name, reads, one.reads)
		}
	}
	for _, change := range []func(){func() { key = "b" }, func() { text += "\n" }} {
		change()
		reads = 0
		if size(same); reads != 1 {
			t.Errorf("%d reads after a change, want 1", reads)
		}
	}
	key, text = "a", text[:len(text)-1]
	reads = 0
	if got := size(same); got != want || reads > 0 {
		t.Errorf("%d bytes after %d reads, want %d", got, reads, want)
	}
	for _, data := range index {
		data[len(data)/2] ^= 1
	}
	if got := size(same); got != want || reads != 1 {
		t.Errorf("of a damaged index: %d bytes after %d reads, want %d", got, reads, want)
	}
}

// TestChanged reads nothing of a source that has changed.
func TestChanged(t *testing.T) {
	tree := tabletree.New([]tabletree.Table{table("Squares", words(3))}, tabletree.Options{Check: func() error { return nodes.ErrChanged }})
	if _, err := tree.Attr(t.Context(), nodes.Root); !errors.Is(err, nodes.ErrChanged) {
		t.Error(err)
	}
}

// TestFixtures shows the tables of all formats that somebody else made.
func TestFixtures(t *testing.T) {
	dir := testneeds.Fixture(t, "db2/WDC5")
	lib, err := dbd.OpenLibrary(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.db2"))
	if err != nil {
		t.Fatal(err)
	}
	var tables []tabletree.Table
	for _, file := range files {
		tables = append(tables, tabletree.Table{
			Name: strings.TrimSuffix(filepath.Base(file), ".db2"), File: file,
			Read: func(context.Context) ([]byte, error) { return os.ReadFile(file) },
		})
	}
	tree := tabletree.New(tables, tabletree.Options{ModTime: modTime, Library: lib})
	nodetest.Run(t, tree)
	for name, want := range map[string]string{"LorefsAll": "LorefsAll.csv", "LorefsInline": "LorefsInline.csv"} {
		data, err := os.ReadFile(filepath.Join(dir, want))
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, tree, "tables", name+".csv"); got != string(data) {
			t.Errorf("%s: %.300s", name, got)
		}
	}
}
