package edit_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
	"unicode/utf16"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/internal/hash"
	"lorefs/internal/testneeds"
)

// forgetful is a BlockCache that keeps nothing. It counts the blocks that are loaded.
type forgetful struct {
	mu    sync.Mutex
	loads int
}

func (c *forgetful) Block(ctx context.Context, n uint64, load func(context.Context, uint64) ([]byte, error)) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads++
	return load(ctx, n)
}

// TestSpliceLoadsOnce edits values all over a file whose cache keeps nothing. To splice it, about each
// block is inflated once; to compare what is wanted, none.
func TestSpliceLoadsOnce(t *testing.T) {
	testneeds.Seconds(t)
	data := dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 7, Sheets: 20, Nodes: 20000}), dctest.Options{})
	opts := datacenter.Options{BlockSize: 16 << 10}
	open := func(data []byte) (*datacenter.File, *forgetful) {
		cache := &forgetful{}
		opts := opts
		opts.Blocks = cache
		f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), opts)
		if err != nil {
			t.Fatal(err)
		}
		return f, cache
	}
	f, cache := open(data)
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	setInts(t, d, f, 20)
	s := d.Snapshot()
	defer s.Close()
	cache.loads = 0
	var out bytes.Buffer
	w, spliced, err := s.Splice(t.Context(), datacenter.WriteOptions{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	blocks := int((f.Size() + opts.BlockSize - 1) / opts.BlockSize)
	// Two goroutines may load the same block.
	if most := blocks * 3 / 2; cache.loads > most || cache.loads < blocks/4 {
		t.Errorf("%d blocks were loaded of a file of %d", cache.loads, blocks)
	}

	written := bytes.NewReader(out.Bytes())
	if err := checkSpliced(t.Context(), spliced, written, out.Bytes()); err != nil {
		t.Fatal(err)
	}
	there := &forgetful{}
	g, err := spliced.Open(written, written.Size(), datacenter.Options{Blocks: there})
	if err != nil {
		t.Fatal(err)
	}
	cache.loads, there.loads = 0, 0
	if err := w.CompareSpliced(t.Context(), spliced.Wanted(g)); err != nil {
		t.Fatal(err)
	}
	if cache.loads > 0 || there.loads > 0 {
		t.Errorf("to compare them, %d blocks of the old file were loaded and %d of the new one", cache.loads, there.loads)
	}
	// The new file itself is equal to what is wanted.
	if err := w.CompareSpliced(t.Context(), g); err != nil {
		t.Error(err)
	}
}

// setInts changes ints of every nth stored child of the sheets.
func setInts(t *testing.T, d *edit.Draft, f *datacenter.File, nth int) {
	t.Helper()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	var edits []edit.Edit
	next, seen := edit.Number(1+root.AttributeCount()), 0
	for sheet, err := range root.Children() {
		if err != nil {
			t.Fatal(err)
		}
		at := next + 1 + edit.Number(sheet.AttributeCount())
		next += edit.Number(sheet.Entries())
		for n, err := range sheet.Children() {
			if err != nil {
				t.Fatal(err)
			}
			number := at
			at += edit.Number(n.Entries())
			if seen++; seen%nth != 0 {
				continue
			}
			for a, err := range n.Attributes() {
				if err != nil {
					t.Fatal(err)
				}
				if a.Type() == datacenter.Int {
					v := datacenter.IntValue(int32(1_000_000 + seen))
					edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: number, Name: a.Name(), Value: v})
					break
				}
			}
		}
	}
	if err := d.Apply(t.Context(), edits...); err != nil {
		t.Fatal(err)
	}
}

// TestSpliceOfOneBucket edits a file whose strings are all in one bucket of their table: the work
// must not grow with the number of strings times that of edits.
func TestSpliceOfOneBucket(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.Alone(t)
	const there, wanted, most = 4000, 2000, 128 << 20
	texts := inBucket(0, there+wanted)
	sheet := &dctest.Node{Name: "Sheet"}
	for _, text := range texts[:there] {
		sheet.Children = append(sheet.Children, &dctest.Node{Name: "Node", Attrs: []dctest.Attr{{Name: "text", Value: text}}})
	}
	data := dctest.Build(dctest.Doc{Root: dctest.Root(sheet)}, dctest.Options{})
	f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	const sheets, step = 1, 2 // numbers: of the sheet, and from a node to the next
	var edits []edit.Edit
	for i, text := range texts[there:] {
		v, err := datacenter.StringValue(text)
		if err != nil {
			t.Fatal(err)
		}
		edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: edit.Number(sheets + 1 + step*i), Name: "text", Value: v})
	}
	if err := d.Apply(t.Context(), edits...); err != nil {
		t.Fatal(err)
	}
	s := d.Snapshot()
	defer s.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := s.Splice(t.Context(), datacenter.WriteOptions{}, io.Discard); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > most {
		t.Errorf("%d bytes were allocated", n)
	}
}

// inBucket returns strings of a bucket of the table of values.
func inBucket(bucket uint32, n int) (texts []string) {
	for i := 0; len(texts) < n; i++ {
		text := fmt.Sprint("text ", i)
		if h := hash.String(utf16.Encode([]rune(text))); (h^h>>16)%1024 == bucket {
			texts = append(texts, text)
		}
	}
	return texts
}
