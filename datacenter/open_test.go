package datacenter_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/testneeds"
)

func TestLegalFilesAreReadWhole(t *testing.T) {
	for _, ex := range dctest.Legal() {
		t.Run(ex.Name, func(t *testing.T) {
			data := dctest.Build(ex.Doc, ex.Options)
			opts := datacenter.Options{}
			if ex.Options.Seal.Key != nil {
				opts.Keys = []datacenter.Key{{Key: [16]byte(ex.Options.Seal.Key), IV: [16]byte(ex.Options.Seal.IV)}}
			}
			f := mustOpen(t, data, opts)
			if want := ex.Doc.Layout; want != datacenter.LayoutAuto && f.Layout() != want {
				t.Errorf("layout %v, want %v", f.Layout(), want)
			}
			root, err := f.Root()
			if err != nil {
				t.Fatal(err)
			}
			want := ex.Doc.Counts()
			if c := f.Counts(); uint64(c.Nodes) != want.Nodes || uint64(c.Attributes) != want.Attributes {
				t.Errorf("%d nodes and %d attributes, want %d and %d", c.Nodes, c.Attributes, want.Nodes, want.Attributes)
			}
			if n, err := walk(root, 1<<30); err != nil || uint64(n) != want.Nodes+want.Attributes {
				t.Errorf("walked %d entries, %v: want %d", n, err, want.Nodes+want.Attributes)
			}
			got, err := render(root)
			if err != nil {
				t.Fatal(err)
			}
			if want := renderDoc(ex.Doc.Root); got != want {
				t.Errorf("read\n%.2000s\nwant\n%.2000s", got, want)
			}
		})
	}
}

func TestLegalFilesVerify(t *testing.T) {
	for _, ex := range dctest.Legal() {
		if ex.Options.Seal.Key != nil {
			continue // opened above; findings opens with the default keys
		}
		t.Run(ex.Name, func(t *testing.T) {
			for _, f := range dctest.Findings(t, dctest.Build(ex.Doc, ex.Options), 5) {
				t.Error(f)
			}
		})
	}
}

// TestLayoutIsFoundByStructure checks that Open finds each layout by its structure alone.
func TestLayoutIsFoundByStructure(t *testing.T) {
	for _, layout := range dctest.Layouts {
		doc := dctest.Generate(dctest.GenOptions{Layout: layout, Seed: 7, Sheets: 12, Nodes: 600})
		for _, full := range []int{0, 3000} {
			data := dctest.Build(doc, dctest.Options{FullCount: full, Garbage: 99, SegmentSize: 500, StringSegmentSize: 2000})
			if f := mustOpen(t, data, datacenter.Options{}); f.Layout() != layout {
				t.Errorf("%v (full %d) taken for %v", layout, full, f.Layout())
			}
			if _, err := open(data, datacenter.Options{Layout: layout}); err != nil {
				t.Errorf("%v forced: %v", layout, err)
			}
			for _, other := range dctest.Layouts {
				if other == layout {
					continue
				}
				if _, err := open(data, datacenter.Options{Layout: other}); !isFormatError(err) {
					t.Errorf("%v forced to %v: %v, want a FormatError", layout, other, err)
				}
			}
		}
	}
}

func TestKeys(t *testing.T) {
	doc := dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "A"})}
	for _, key := range datacenter.DefaultKeys() {
		data := dctest.Build(doc, dctest.Options{Seal: dctest.SealOptions{Key: key.Key[:], IV: key.IV[:]}})
		f := mustOpen(t, data, datacenter.Options{})
		if f.Key() != key {
			t.Errorf("opened by %q, want %q", f.Key().Name, key.Name)
		}
	}
	other, err := datacenter.ParseKey("mine", "000102030405060708090a0b0c0d0e0f", "ffeeddccbbaa99887766554433221100")
	if err != nil {
		t.Fatal(err)
	}
	data := dctest.Build(doc, dctest.Options{Seal: dctest.SealOptions{Key: other.Key[:], IV: other.IV[:]}})
	if _, err := open(data, datacenter.Options{}); !errors.Is(err, datacenter.ErrKey) || !strings.Contains(err.Error(), "no known key opens it") {
		t.Errorf("unknown key: %v", err)
	}
	if _, err := open(data, datacenter.Options{Keys: []datacenter.Key{other}}); err != nil {
		t.Errorf("given key: %v", err)
	}
	for _, bad := range [][2]string{{"", ""}, {"00", "00"}, {strings.Repeat("g", 32), strings.Repeat("0", 32)}} {
		if _, err := datacenter.ParseKey("x", bad[0], bad[1]); err == nil {
			t.Errorf("ParseKey(%q, %q) accepted", bad[0], bad[1])
		}
	}
}

func TestZlibHeaders(t *testing.T) {
	doc := dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "A"})}
	for _, h := range [][2]byte{{0x78, 0x01}, {0x78, 0x5e}, {0x78, 0x9c}, {0x78, 0xda}, {0x08, 0x1d}, {0x68, 0xde}} {
		data := dctest.Build(doc, dctest.Options{Seal: dctest.SealOptions{ZlibHeader: h}})
		if _, err := open(data, datacenter.Options{}); err != nil {
			t.Errorf("%x: %v", h, err)
		}
	}
}

func TestTrailingBytesAndFooterAreTold(t *testing.T) {
	doc := dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "A"})}
	f := mustOpen(t, dctest.Build(doc, dctest.Options{Seal: dctest.SealOptions{Trailing: []byte("abc")}}), datacenter.Options{})
	if inFile, inflated := f.TrailingBytes(); inFile != 3 || inflated != 0 {
		t.Errorf("TrailingBytes = %d, %d, want 3, 0", inFile, inflated)
	}
	if marker, ok := f.Footer(); marker != 0 || !ok {
		t.Errorf("Footer = %d, %v", marker, ok)
	}
	m := dctest.NewImage(doc, dctest.Options{})
	m.Data = append(m.Data, 1, 2, 3, 4, 5)
	m.Put32(m.Footer, 77)
	f = mustOpen(t, m.Seal(dctest.SealOptions{}), datacenter.Options{})
	if inFile, inflated := f.TrailingBytes(); inFile != 0 || inflated != 5 {
		t.Errorf("TrailingBytes = %d, %d, want 0, 5", inFile, inflated)
	}
	if marker, ok := f.Footer(); marker != 77 || !ok {
		t.Errorf("Footer = %d, %v", marker, ok)
	}
	m.Data = m.Data[:m.Footer]
	f = mustOpen(t, m.Seal(dctest.SealOptions{}), datacenter.Options{})
	if _, ok := f.Footer(); ok {
		t.Error("a missing footer is not told")
	}
}

func TestIndexIsKeptAndDistrusted(t *testing.T) {
	doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 20, Nodes: 500})
	data := dctest.Build(doc, dctest.Options{FullCount: 65535}) // of several blocks
	store := dctest.Index{}
	inflates := func(opts datacenter.Options) bool {
		t.Helper()
		passed := false
		opts.Index = store
		opts.Progress = func(int64, int64) { passed = true }
		mustOpen(t, data, opts)
		return passed
	}
	first := mustOpen(t, data, datacenter.Options{Index: store})
	if len(store) != 1 {
		t.Fatalf("%d indexes kept, want 1", len(store))
	}
	if inflates(datacenter.Options{}) {
		t.Error("inflated although there was an index")
	}
	if !inflates(datacenter.Options{ModTime: time.Unix(1, 0)}) {
		t.Error("the index of a file with another ModTime was believed")
	}

	root, err := first.Root()
	if err != nil {
		t.Fatal(err)
	}
	want, err := render(root)
	if err != nil {
		t.Fatal(err)
	}
	clear(store)
	mustOpen(t, data, datacenter.Options{Index: store})
	id := slices.Collect(maps.Keys(store))[0]
	good := store[id]
	places := 97
	if testneeds.Quick() {
		places = 10
	}
	for off := 0; off < len(good); off += 1 + len(good)/places {
		bad := bytes.Clone(good)
		bad[off] ^= 0x10
		clear(store)
		store[id] = bad
		f := mustOpen(t, data, datacenter.Options{Index: store})
		root, err := f.Root()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := render(root); err != nil || got != want {
			t.Fatalf("index damaged at %d: %v", off, err)
		}
	}
	for _, cut := range []int{0, 1, 10, len(good) / 2, len(good) - 1} {
		clear(store)
		store[id] = good[:cut]
		mustOpen(t, data, datacenter.Options{Index: store})
	}
}

// TestChangedFileGivesNoWrongBytes checks that an open file that is rewritten never returns
// other bytes.
func TestChangedFileGivesNoWrongBytes(t *testing.T) {
	testneeds.Slow(t, "inflates a block for each node")
	doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 20, Nodes: 500})
	// Stored, so that the file is larger than the read-ahead of a decoder.
	data := dctest.Build(doc, dctest.Options{FullCount: 65535, Seal: dctest.SealOptions{Stored: true}})
	store := dctest.Index{}
	mustOpen(t, data, datacenter.Options{Index: store})

	src := &swapped{data: bytes.Clone(data)}
	f, err := datacenter.Open(context.Background(), src, int64(len(data)), datacenter.Options{Index: store, Blocks: noCache{}})
	if err != nil {
		t.Fatal(err)
	}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	for off := 6; off < len(src.data); off += 64 {
		src.data[off] ^= 0xff
	}
	if _, err := walk(root, 1<<30); !errors.Is(err, datacenter.ErrChanged) {
		t.Errorf("walk after the file was rewritten: %v, want ErrChanged", err)
	}
	src.data = src.data[:len(src.data)/8]
	if _, err := walk(root, 1<<30); !errors.Is(err, datacenter.ErrChanged) {
		t.Errorf("walk after the file was truncated: %v, want ErrChanged", err)
	}
}

type swapped struct{ data []byte }

func (s *swapped) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(s.data).ReadAt(p, off)
}

type noCache struct{}

func (noCache) Block(ctx context.Context, n uint64, load func(context.Context, uint64) ([]byte, error)) ([]byte, error) {
	return load(ctx, n)
}

func TestReadErrorsAreNotTakenForDamage(t *testing.T) {
	doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 5, Nodes: 3000})
	data := dctest.Build(doc, dctest.Options{})
	want := errors.New("the disk is on fire")
	for limit := int64(0); limit < int64(len(data)); limit += 1 + int64(len(data))/50 {
		r := io.NewSectionReader(failing{bytes.NewReader(data), limit, want}, 0, int64(len(data)))
		if _, err := datacenter.Open(context.Background(), r, int64(len(data)), datacenter.Options{}); !errors.Is(err, want) {
			t.Fatalf("reads failing from %d on: %v", limit, err)
		}
	}
}

type failing struct {
	r     io.ReaderAt
	limit int64
	err   error
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.limit {
		return 0, f.err
	}
	return f.r.ReadAt(p, off)
}

func TestOpenIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 5, Nodes: 500})
	data := dctest.Build(doc, dctest.Options{FullCount: 65535})
	_, err := datacenter.Open(ctx, bytes.NewReader(data), int64(len(data)), datacenter.Options{
		Progress: func(int64, int64) { cancel() },
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// foreignIndex returns its only index for every file.
type foreignIndex struct {
	data  []byte
	saved int
}

func (s *foreignIndex) Load(string) ([]byte, error) { return s.data, nil }

func (s *foreignIndex) Save(_ string, data []byte) error {
	s.saved++
	s.data = data
	return nil
}

// TestIndexOfAnotherFile checks that Open does not use the index of another file, however
// much the two have in common.
func TestIndexOfAnotherFile(t *testing.T) {
	file := dctest.Build(dctest.Doc{Root: dctest.Root(&dctest.Node{Name: "Sheet"})}, dctest.Options{})
	store := &foreignIndex{}
	for i, tt := range []struct {
		time  time.Time
		saved int
	}{
		{time.Unix(1, 0), 1},
		{time.Unix(1, 0), 1},
		{time.Unix(2, 0), 2},
		{time.Unix(2, 0), 2},
	} {
		_, err := datacenter.Open(t.Context(), bytes.NewReader(file), int64(len(file)), datacenter.Options{
			ModTime: tt.time, Index: store,
		})
		if err != nil || store.saved != tt.saved {
			t.Errorf("file %d: %v, saved %d times, want %d", i, err, store.saved, tt.saved)
		}
	}
}
