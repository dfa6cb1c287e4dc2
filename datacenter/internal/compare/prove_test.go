package compare_test

import (
	"bytes"
	"compress/zlib"
	"crypto/aes"
	"io"
	"math/rand/v2"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/internal/compare"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/rewrite"
	"lorefs/internal/cfb"
	"lorefs/internal/testneeds"
)

// moveAll writes f anew, node by node, and returns the file and where everything was moved.
func moveAll(t *testing.T, f *datacenter.File, opts datacenter.WriteOptions) ([]byte, *rewrite.Moved) {
	t.Helper()
	r, err := rewrite.NewRewriter(t.Context(), f, nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	var sheets []form.Node
	for _, n := range sheetsOf(t, f) {
		sheet, err := r.Node(n)
		if err != nil {
			t.Fatal(err)
		}
		sheets = append(sheets, sheet)
	}
	r.Root(root, 0, root.Flags(), nil, sheets)
	var out bytes.Buffer
	if _, err := r.Write(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), r.Moved()
}

// proved reports whether Prove finds that all of f was moved to g. Then c needs not look at it.
func proved(t *testing.T, c *compare.Comparer, f, g *datacenter.File, m *rewrite.Moved) bool {
	t.Helper()
	proved, err := c.Prove(f, g, m, func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	return proved
}

// sameSheets compares the sheets of two files.
func sameSheets(t *testing.T, c *compare.Comparer, f, g *datacenter.File) bool {
	t.Helper()
	xs, ys := sheetsOf(t, f), sheetsOf(t, g)
	if len(xs) != len(ys) {
		return false
	}
	for i := range xs {
		if same, err := c.Same(xs[i], ys[i]); !same || err != nil {
			return false
		}
	}
	return true
}

func sheetsOf(t *testing.T, f *datacenter.File) (sheets []datacenter.Node) {
	t.Helper()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	for n, err := range root.Children() {
		if err != nil {
			t.Fatal(err)
		}
		sheets = append(sheets, n)
	}
	return sheets
}

// TestProve checks that whatever is moved can be proved to be equal, in each layout, with runs of
// any length, and with placeholders and overlapping runs.
func TestProve(t *testing.T) {
	doc := dctest.Generate(dctest.GenOptions{Seed: 5, Sheets: 30, Nodes: 6000})
	many := &dctest.Node{Name: "Many", Attrs: []dctest.Attr{{Name: "id", Value: 1}}}
	for i := range 700 {
		many.Children = append(many.Children, &dctest.Node{Name: "One", Attrs: []dctest.Attr{{Name: "id", Value: i}}})
	}
	doc.Root = dctest.Root(append(doc.Root.Children, many)...)
	for _, layout := range dctest.SomeLayouts() {
		for i, o := range []dctest.Options{{}, {NoSharing: true}, {Overlap: true, Placeholders: 2}, {ShareSuffixes: true, Garbage: 7}} {
			doc.Layout = layout
			f := openSmall(t, dctest.Build(doc, o))
			for _, to := range dctest.SomeLayouts() {
				data, moved := moveAll(t, f, datacenter.WriteOptions{Layout: to})
				g := openSmall(t, data)
				c := compare.NewComparer(t.Context(), f, g)
				if !proved(t, c, f, g, moved) || !sameSheets(t, c, f, g) {
					t.Errorf("%v with options %d, moved to %v: it is not found to be equal", layout, i, to)
				}
			}
		}
	}
}

// TestProveLengths checks runs about as long as those that are kept without a map.
func TestProveLengths(t *testing.T) {
	sheet := &dctest.Node{Name: "Sheet"}
	for _, length := range []int{1, 253, 254, 255, 256, 257} {
		group := &dctest.Node{Name: "Group", Attrs: []dctest.Attr{{Name: "id", Value: length}}}
		for i := range length {
			group.Children = append(group.Children, &dctest.Node{Name: "One", Attrs: []dctest.Attr{{Name: "id", Value: i * length}}})
		}
		sheet.Children = append(sheet.Children, group)
	}
	doc := dctest.Doc{Root: dctest.Root(sheet)}
	for _, o := range []dctest.Options{{}, {Placeholders: 1}, {Overlap: true}} {
		f := dctest.Open(t, dctest.Build(doc, o))
		data, moved := moveAll(t, f, datacenter.WriteOptions{})
		g := dctest.Open(t, data)
		c := compare.NewComparer(t.Context(), f, g)
		if !proved(t, c, f, g, moved) || !sameSheets(t, c, f, g) {
			t.Errorf("with %+v, it is not found to be equal", o)
		}
		if again, _ := moveAll(t, f, datacenter.WriteOptions{}); !bytes.Equal(again, data) {
			t.Errorf("with %+v, not the same bytes twice", o)
		}
	}
}

// TestProveNothingFalse flips bits of what was written, all over the file. With what Prove finds, a
// comparison must find each difference that one node by node finds.
func TestProveNothingFalse(t *testing.T) {
	doc := dctest.Generate(dctest.GenOptions{Seed: 6, Sheets: 4, Nodes: 300})
	f := dctest.Open(t, dctest.Build(doc, dctest.Options{}))
	data, moved := moveAll(t, f, datacenter.WriteOptions{})
	inflated := inflatedOf(t, data)
	rng := rand.New(rand.NewPCG(1, 7))
	differ, foundBySheets, flips := 0, 0, testneeds.Cases(300, 2000, 2000)
	for range flips {
		at, bit := rng.IntN(len(inflated)), byte(1)<<rng.IntN(8)
		inflated[at] ^= bit
		data := dctest.Seal(inflated, dctest.SealOptions{})
		g, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{})
		if err == nil && !sameSheets(t, compare.NewComparer(t.Context(), f, g), f, g) {
			differ++
			c := compare.NewComparer(t.Context(), f, g)
			if proved(t, c, f, g, moved) {
				foundBySheets++
			}
			if sameSheets(t, c, f, g) {
				t.Errorf("bit %#x of the byte at %#x was flipped, and the files are found to be equal", bit, at)
			}
		}
		inflated[at] ^= bit
	}
	if differ < flips/4 || foundBySheets > differ/10 {
		t.Errorf("%d of the files differ, %d of them only in the nodes of the sheets: the test shows little", differ, foundBySheets)
	}
}

// inflatedOf returns the data in a file, by the standard library.
func inflatedOf(t *testing.T, file []byte) []byte {
	t.Helper()
	key := datacenter.DefaultKeys()[0]
	block, err := aes.NewCipher(key.Key[:])
	if err != nil {
		t.Fatal(err)
	}
	z, err := zlib.NewReader(io.NewSectionReader(cfb.NewReader(bytes.NewReader(file), block, key.IV), 4, 1<<40))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// openSmall opens a file with small blocks.
func openSmall(t *testing.T, data []byte) *datacenter.File {
	t.Helper()
	f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{BlockSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
