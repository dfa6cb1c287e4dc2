package edit_test

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/formats/datacenter/dctest"
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
