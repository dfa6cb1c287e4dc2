package sheets_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets"
	"lorefs/internal/testneeds"
)

// sources are files with everything that the format allows.
var sources = sync.OnceValue(func() (files [][]byte) {
	for _, ex := range dctest.Legal() {
		ex.Options.Seal = dctest.SealOptions{}
		files = append(files, dctest.Build(ex.Doc, ex.Options))
	}
	for seed := range uint64(6) {
		doc := dctest.Generate(dctest.GenOptions{Seed: seed, Sheets: 5, Nodes: 3000, Layout: datacenter.Layout(seed%3 + 1)})
		files = append(files, dctest.Build(doc, dctest.Options{NoSharing: seed%4 == 1, Overlap: seed%4 == 2, Placeholders: int(seed % 3)}))
	}
	return files
})

// TestReadAtAnywhere checks that a read from any offset returns that part of the text, in
// any order of reads, with sizes that were just computed and with saved ones.
func TestReadAtAnywhere(t *testing.T) {
	testneeds.Seconds(t)
	for i, data := range sources() {
		f := dctest.Open(t, data)
		index := &memoryIndex{}
		first, err := sheets.New(f, nil, sheets.Options{Index: index})
		if err != nil {
			continue // a name occurs twice
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			want := texts(t, first)
			again := newSource(t, f, nil, sheets.Options{Index: index})
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for _, s := range []*sheets.Source{first, again} {
				for _, family := range s.Families() {
					for sheet := range family.Sheets(0) {
						readAnywhere(t, s, sheet, want[family.File+"/"+family.SheetFile(sheet.Ordinal)], rng)
					}
				}
			}
			if got := texts(t, again); !maps.Equal(got, want) {
				t.Error("what is remembered gives other texts")
			}
			if !index.loaded && len(want) > 0 {
				t.Error("nothing was remembered")
			}
		})
	}
}

func readAnywhere(t *testing.T, s *sheets.Source, sheet sheets.Sheet, want string, rng *rand.Rand) {
	t.Helper()
	off := int64(0)
	for range 12 {
		p := make([]byte, rng.IntN(5000))
		n, err := s.ReadAt(t.Context(), sheet, p, off)
		wantN := min(len(p), len(want)-int(off))
		wantErr := error(nil)
		if off == int64(len(want)) || wantN < len(p) {
			wantErr = io.EOF
		}
		if n != wantN || err != wantErr || string(p[:n]) != want[off:int(off)+n] { //nolint:errorlint // io.EOF must not be wrapped
			t.Fatalf("%s %d: a read of %d at %d of %d = %d, %v", sheet.Name, sheet.Ordinal, len(p), off, len(want), n, err)
		}
		if off += int64(n); rng.IntN(3) == 0 || off >= int64(len(want)) {
			off = rng.Int64N(int64(len(want)) + 1)
		}
	}
}

// memoryIndex is an IndexStore.
type memoryIndex struct {
	data   map[string][]byte
	loaded bool
}

func (m *memoryIndex) Load(key string) ([]byte, error) {
	b, ok := m.data[key]
	if !ok {
		return nil, fmt.Errorf("index %s: %w", key, iofs.ErrNotExist)
	}
	m.loaded = true
	return bytes.Clone(b), nil
}

func (m *memoryIndex) Save(key string, data []byte) error {
	m.data = map[string][]byte{key: bytes.Clone(data)}
	return nil
}

// TestDamagedIndex checks that an index is not used if it is damaged, or of another file.
func TestDamagedIndex(t *testing.T) {
	testneeds.Seconds(t)
	data := sources()[len(sources())-1]
	f := dctest.Open(t, data)
	index := &memoryIndex{}
	want := texts(t, newSource(t, f, nil, sheets.Options{Index: index}))
	key := slices.Collect(maps.Keys(index.data))[0]
	whole := index.data[key]
	rapid.Check(t, func(t *rapid.T) {
		bad := bytes.Clone(whole)
		if rapid.Bool().Draw(t, "cut") {
			bad = bad[:rapid.IntRange(0, len(bad)-1).Draw(t, "length")]
		} else {
			bad[rapid.IntRange(0, len(bad)-1).Draw(t, "place")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		}
		s, err := sheets.New(f, nil, sheets.Options{Index: &memoryIndex{data: map[string][]byte{key: bad}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range s.Families() {
			for sheet := range family.Sheets(0) {
				size, err := s.Size(context.Background(), sheet)
				if w := want[family.File+"/"+family.SheetFile(sheet.Ordinal)]; err != nil || size != int64(len(w)) {
					t.Fatalf("%s: size %d, %v, want %d", sheet.Name, size, err, len(w))
				}
			}
		}
	})
}

// TestCancelled checks that a read which is cancelled returns the context's error, and that
// others who wait for the same sizes then compute them.
func TestCancelled(t *testing.T) {
	s := newSource(t, dctest.Open(t, sources()[len(sources())-1]), nil, sheets.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range s.Families() {
		for sheet := range f.Sheets(0) {
			if _, err := s.Size(ctx, sheet); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("Size: %v, want context.Canceled", err)
			}
			if _, err := s.Size(t.Context(), sheet); err != nil {
				t.Error(err)
			}
		}
	}
}

// BenchmarkFirstBytes reads the first bytes of a sheet, which should not cost more than
// that.
func BenchmarkFirstBytes(b *testing.B) {
	s := newSource(b, openFixture(b, "p100_x64.dat", datacenter.Options{}), nil, sheets.Options{})
	largest, size := sheets.Sheet{}, int64(0)
	for _, f := range s.Families() {
		for sheet := range f.Sheets(0) {
			if n, err := s.Size(b.Context(), sheet); err == nil && n > size {
				largest, size = sheet, n
			}
		}
	}
	p := make([]byte, 800)
	b.ReportMetric(float64(size), "file-bytes")
	for b.Loop() {
		if _, err := s.ReadAt(b.Context(), largest, p, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExport writes all sheets on all cores and discards them: once when the schemas
// must be computed, and once when they are known.
func BenchmarkExport(b *testing.B) {
	f := openFixture(b, "p100_x64.dat", datacenter.Options{})
	index := &memoryIndex{}
	for _, c := range []struct {
		name  string
		index datacenter.IndexStore
	}{{"first", nil}, {"next", index}} {
		b.Run(c.name, func(b *testing.B) {
			if c.index != nil && index.data == nil {
				exportAll(b, newSource(b, f, nil, sheets.Options{Index: index}))
			}
			for b.Loop() {
				b.SetBytes(exportAll(b, newSource(b, f, nil, sheets.Options{Index: c.index})))
			}
		})
	}
}

func exportAll(b *testing.B, s *sheets.Source) int64 {
	var sum atomic.Int64
	err := everySheet(s, func(j job) error {
		n, err := s.WriteSheet(b.Context(), io.Discard, j.sheet)
		sum.Add(n)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return sum.Load()
}
