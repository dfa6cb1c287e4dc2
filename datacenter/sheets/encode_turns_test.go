package sheets_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets"
	"lorefs/internal/cores"
)

// slowBlocks caches no block, and counts how many are loaded at the same time.
type slowBlocks struct{ now, most atomic.Int64 }

func (b *slowBlocks) Block(ctx context.Context, n uint64, load func(context.Context, uint64) ([]byte, error)) ([]byte, error) {
	defer b.now.Add(-1)
	for now := b.now.Add(1); ; {
		most := b.most.Load()
		if now <= most || b.most.CompareAndSwap(most, now) {
			break
		}
	}
	time.Sleep(time.Millisecond)
	return load(ctx, n)
}

// TestReadersWaitForACore checks that of many readers only one for each core works at a
// time.
func TestReadersWaitForACore(t *testing.T) {
	blocks := &slowBlocks{}
	doc := dctest.Generate(dctest.GenOptions{Seed: 1, Sheets: 5, Nodes: 300, Layout: datacenter.LayoutV6X64})
	data := dctest.Build(doc, dctest.Options{})
	f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, f, nil, sheets.Options{})
	var readers sync.WaitGroup
	blocks.most.Store(0)
	for range 32 {
		readers.Go(func() {
			for _, family := range s.Families() {
				for sheet := range family.Sheets(0) {
					if _, err := s.ReadAt(t.Context(), sheet, make([]byte, 1<<10), 0); err != nil && err != io.EOF { //nolint:errorlint // not wrapped
						t.Error(err)
					}
				}
			}
		})
	}
	readers.Wait()
	if most := blocks.most.Load(); most > int64(cores.Count()) {
		t.Errorf("%d at work at once, want %d", most, cores.Count())
	}
}
