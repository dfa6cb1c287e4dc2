package datacenter_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/aes"
	"errors"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/internal/cfb"
	"lorefs/internal/testneeds"
)

func repack(t testing.TB, f *datacenter.File, opts datacenter.WriteOptions) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := writeAnew(t.Context(), f, &out, opts); err != nil {
		t.Fatalf("writing it anew: %v", err)
	}
	return out.Bytes()
}

// writeAnew writes a draft of f without edits.
func writeAnew(ctx context.Context, f *datacenter.File, w io.Writer, opts datacenter.WriteOptions) error {
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		return err
	}
	s := d.Snapshot()
	defer s.Close()
	_, err = s.Write(ctx, opts, w)
	return err
}

func TestRepackKeepsTheTree(t *testing.T) {
	for _, ex := range dctest.Legal() {
		t.Run(ex.Name, func(t *testing.T) {
			ex.Options.Seal = dctest.SealOptions{}
			f := mustOpen(t, dctest.Build(ex.Doc, ex.Options), datacenter.Options{})
			want := renderDoc(ex.Doc.Root)
			for _, layout := range dctest.SomeLayouts() {
				data := repack(t, f, datacenter.WriteOptions{Layout: layout})
				if again := repack(t, f, datacenter.WriteOptions{Layout: layout}); !bytes.Equal(again, data) {
					t.Errorf("%v: not the same bytes twice", layout)
				}
				for _, f := range dctest.Findings(t, data, 5) {
					t.Errorf("%v: %v", layout, f)
				}
				g := mustOpen(t, data, datacenter.Options{})
				if g.Layout() != layout {
					t.Errorf("written as %v, read as %v", layout, g.Layout())
				}
				root, err := g.Root()
				if err != nil {
					t.Fatal(err)
				}
				if got, err := render(root); err != nil || got != want {
					t.Errorf("%v: %v: got\n%.1000s\nwant\n%.1000s", layout, err, got, want)
				}
			}
		})
	}
}

func TestRepackOfFixtures(t *testing.T) {
	testneeds.Slow(t, "packs two files of 20 MB inflated")
	for _, name := range []string{"p115_small_x64.dat", "p115_small_x86.dat"} {
		t.Run(name, func(t *testing.T) {
			given := readFixture(t, name)
			f := mustOpen(t, given, datacenter.Options{})
			data := repack(t, f, datacenter.WriteOptions{})
			if most := len(given) + len(given)/50; len(data) > most {
				t.Errorf("%d bytes of a file of %d: want %d at most", len(data), len(given), most)
			}
			for _, f := range dctest.Findings(t, data, 5) {
				t.Error(f)
			}
			g := mustOpen(t, data, datacenter.Options{})
			if a, b := f.Counts(), g.Counts(); a != b {
				t.Errorf("counts\n%+v, want\n%+v", b, a)
			}
		})
	}
}

const manyNodes = 70_000

// buildMany adds nodes to a Builder, with so many attributes and strings that a region has several segments, and
// the tables for equal runs and strings grow.
func buildMany(t *testing.T, b *datacenter.Builder) {
	t.Helper()
	b.Begin("A", datacenter.KeyDefinition{"x"}, 0)
	for range 2 { // the second time, everything is stored already
		for i := range manyNodes {
			if i%500 == 0 {
				b.Begin("B", nil, 0)
			}
			b.Begin("B", nil, 0)
			b.Int("x", int32(i))
			b.String("y", "a string that has the number "+strconv.Itoa(i))
			b.End()
			if i%500 == 499 {
				b.End()
			}
		}
	}
	b.End()
}

func newBuilder(t *testing.T, opts datacenter.WriteOptions) *datacenter.Builder {
	t.Helper()
	b, err := datacenter.NewBuilder([]string{"A", "B", "x", "y"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeMany(t *testing.T, opts datacenter.WriteOptions) []byte {
	t.Helper()
	b := newBuilder(t, opts)
	buildMany(t, b)
	var out bytes.Buffer
	if err := b.Write(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRegionsOfManySegments writes a region of several segments, so that blocks are
// compressed before the root is known.
func TestRegionsOfManySegments(t *testing.T) {
	testneeds.Seconds(t)
	for _, layout := range dctest.SomeLayouts() {
		t.Run(layout.String(), func(t *testing.T) {
			opts := datacenter.WriteOptions{Layout: layout}
			data := writeMany(t, opts)
			if !bytes.Equal(writeMany(t, opts), data) {
				t.Error("not the same bytes twice")
			}
			for _, f := range dctest.Findings(t, data, 5) {
				t.Error(f)
			}
			got := mustOpen(t, data, datacenter.Options{}).Counts()
			const runs = manyNodes / 500
			want := datacenter.Counts{
				Nodes: 2 + 2*(manyNodes+runs), Attributes: 4 * manyNodes,
				StoredNodes: 2 + manyNodes + 2*runs, StoredAttributes: 2 * manyNodes,
				Sheets: 1, Names: 6, Values: manyNodes, Keys: 2,
			}
			if got != want {
				t.Errorf("counts\n%+v, want\n%+v", got, want)
			}
		})
	}
}

// TestRepackStops checks that a failing writer or an ended context stops the writing.
func TestRepackStops(t *testing.T) {
	f := mustOpen(t, dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 1, Sheets: 20, Nodes: 5000}), dctest.Options{}), datacenter.Options{})
	broken := errors.New("broken")
	if err := writeAnew(t.Context(), f, failingWriter{broken}, datacenter.WriteOptions{}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := writeAnew(ctx, f, io.Discard, datacenter.WriteOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := writeAnew(t.Context(), f, io.Discard, datacenter.WriteOptions{Level: new(77)}); err == nil {
		t.Error("wrote with a level that does not exist")
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestRepackLevels checks that every level writes a file with the same data.
func TestRepackLevels(t *testing.T) {
	f := mustOpen(t, dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 2, Sheets: 20, Nodes: 2000}), dctest.Options{}), datacenter.Options{})
	for level := range 10 {
		data := repack(t, f, datacenter.WriteOptions{Level: &level})
		for _, f := range dctest.Findings(t, data, 5) {
			t.Errorf("level %d: %v", level, f)
		}
	}
}

// TestRepackManyStrings checks tables of so many strings that they are compressed in another way.
func TestRepackManyStrings(t *testing.T) {
	testneeds.Seconds(t)
	const strings = 40_000
	b, err := datacenter.NewBuilder([]string{"A", "x"}, datacenter.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range strings {
		b.Begin("A", nil, 0)
		b.String("x", strconv.Itoa(i))
		b.End()
	}
	var packed bytes.Buffer
	if err := b.Write(t.Context(), &packed); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, packed.Bytes(), datacenter.Options{})
	for _, level := range []int{1, 6, 9} {
		data := repack(t, f, datacenter.WriteOptions{Level: &level})
		for _, f := range dctest.Findings(t, data, 5) {
			t.Errorf("level %d: %v", level, f)
		}
		if n := mustOpen(t, data, datacenter.Options{}).Counts().Values; n != strings {
			t.Errorf("level %d: %d strings, want %d", level, n, strings)
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	names := []string{"A", "x"}
	for name, tt := range map[string]struct {
		want  error
		build func(*datacenter.Builder)
	}{
		"a NUL in a string": {datacenter.ErrValue, func(b *datacenter.Builder) { b.Begin("A", nil, 0); b.String("x", "a\x00b"); b.End() }},
		"an attribute twice": {datacenter.ErrValue, func(b *datacenter.Builder) {
			b.Begin("A", nil, 0)
			b.Int("x", 1)
			b.Int("x", 2)
			b.End()
		}},
		"65,536 children": {datacenter.ErrTooLarge, func(b *datacenter.Builder) {
			for range 1 << 16 {
				b.Begin("A", nil, 0)
				b.End()
			}
		}},
		"nesting": {datacenter.ErrTooLarge, func(b *datacenter.Builder) {
			for range datacenter.MaxDepth + 1 {
				b.Begin("A", nil, 0)
			}
			for range datacenter.MaxDepth + 1 {
				b.End()
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := datacenter.NewBuilder(names, datacenter.WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			tt.build(b)
			var out bytes.Buffer
			if err := b.Write(t.Context(), &out); !errors.Is(err, tt.want) || out.Len() > 0 {
				t.Errorf("wrote %d bytes, %v: want %v", out.Len(), err, tt.want)
			}
		})
	}
}

// TestWrittenStreamIsZlib checks that the standard library reads a file of several deflate
// blocks as one stream.
func TestWrittenStreamIsZlib(t *testing.T) {
	b, err := datacenter.NewBuilder([]string{"A", "x"}, datacenter.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 60000 {
		b.Begin("A", nil, 0)
		b.String("x", strconv.FormatUint(rng.Uint64(), 36)+strconv.FormatUint(rng.Uint64(), 36))
		b.End()
	}
	var out bytes.Buffer
	if err := b.Write(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, out.Bytes(), datacenter.Options{})
	key := datacenter.DefaultKeys()[0]
	block, err := aes.NewCipher(key.Key[:])
	if err != nil {
		t.Fatal(err)
	}
	z, err := zlib.NewReader(io.NewSectionReader(cfb.NewReader(bytes.NewReader(out.Bytes()), block, key.IV), 4, 1<<40))
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, z)
	if err != nil || n != f.Size() || n < 3<<20 {
		t.Errorf("inflated %d bytes, %v: want %d", n, err, f.Size())
	}
}
