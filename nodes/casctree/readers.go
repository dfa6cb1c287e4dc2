package casctree

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/internal/flight"
	"lorefs/nodes"
)

const (
	// maxReaders bounds the open files. Each holds the table of its chunks, some 100 KB for
	// the largest.
	maxReaders = 256
	// maxFailures is how many files are remembered as reported.
	maxFailures = 1024
)

// openFile is an open file.
type openFile struct {
	*casc.Content
	known *knownGaps
	// updates is storage.Updates when it was opened.
	updates uint64
}

// knownGaps remembers what a file lacks, once that is known.
type knownGaps struct {
	finds flight.Group[struct{}, []blte.Gap]
	found atomic.Pointer[[]blte.Gap]
}

// gaps is Content.Gaps, computed once.
func (f openFile) gaps(ctx context.Context) ([]blte.Gap, error) {
	if gaps := f.known.found.Load(); gaps != nil {
		return *gaps, nil
	}
	return f.known.finds.Do(ctx, struct{}{}, func(ctx context.Context) ([]blte.Gap, error) {
		gaps, err := f.Gaps(ctx)
		if err == nil {
			f.known.found.Store(&gaps)
		}
		return gaps, err
	})
}

// readers keeps the files open that were read last.
type readers struct {
	open func(context.Context, nodes.ID) (openFile, error)

	mu     sync.Mutex // guards the fields below; never held while a file is opened or read
	cached *simplelru.LRU[nodes.ID, openFile]
	failed *simplelru.LRU[nodes.ID, struct{}]
}

func newReaders(open func(context.Context, nodes.ID) (openFile, error)) *readers {
	kept, err := simplelru.NewLRU[nodes.ID, openFile](maxReaders, nil)
	if err != nil {
		panic(fmt.Sprintf("casctree: BUG: %v", err))
	}
	failed, err := simplelru.NewLRU[nodes.ID, struct{}](maxFailures, nil)
	if err != nil {
		panic(fmt.Sprintf("casctree: BUG: %v", err))
	}
	return &readers{open: open, cached: kept, failed: failed}
}

// get returns a file, and whether it was open already. If it can't be opened, updates is
// set all the same.
func (r *readers) get(ctx context.Context, id nodes.ID) (f openFile, before bool, err error) {
	r.mu.Lock()
	f, before = r.cached.Get(id)
	r.mu.Unlock()
	if before {
		return f, true, nil
	}
	if f, err = r.open(ctx, id); err != nil {
		return f, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if other, ok := r.cached.Get(id); ok {
		return other, false, nil
	}
	r.cached.Add(id, f)
	return f, false, nil
}

func (r *readers) drop(id nodes.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cached.Remove(id)
}

// firstFailure reports whether no error of a file has been logged yet, since programs read
// a damaged file again and again.
func (r *readers) firstFailure(id nodes.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed.Contains(id) {
		return false
	}
	r.failed.Add(id, struct{}{})
	return true
}
