package kinds

import (
	"log/slog"
	"sync"
	"time"

	"lorefs/internal/userdir"
)

// maxIndexBytes is how much of the cache folder the indexes may take. The index of a large
// data center has some 25 MB.
const maxIndexBytes = 2 << 30

// Store returns the store for indexes, or nil if none are kept. If its folder can't be used,
// only the next start is slower.
func (o *Options) Store() *IndexStore {
	if o.NoIndex {
		return nil
	}
	open := userdir.Cache
	if o.CacheBase != "" {
		open = func(sub ...string) (*userdir.Dir, error) { return userdir.Below(o.CacheBase, sub...) }
	}
	dir, err := open("index")
	if err != nil {
		o.Logger.Warn("the index is not saved, so the next start will be slower", "err", err)
		return nil
	}
	return &IndexStore{Store: userdir.NewStore(dir, maxIndexBytes), log: o.Logger, closing: make(chan struct{})}
}

// StoreFor is store for the index of a file. An index is known by the time of the file, which
// on a server has whole seconds, and may be missing.
func (o *Options) StoreFor(file Original) *IndexStore {
	if d, ok := file.(*Distant); ok && !d.Settled() {
		return nil
	}
	return o.Store()
}

// IndexStore saves indexes in the background, since writing and syncing 20 MB can take as
// long as inflating the source.
type IndexStore struct {
	*userdir.Store
	log    *slog.Logger
	saving sync.WaitGroup
	// closing is closed when somebody waits.
	closing chan struct{}
	close   sync.Once
}

// saveAfter is how long making an index waits. It takes a core for a moment, which would delay the
// first listing.
const saveAfter = 300 * time.Millisecond

// Later runs work after a moment, or as soon as somebody waits for it.
func (s *IndexStore) Later(work func()) {
	s.saving.Go(func() {
		select {
		case <-time.After(saveAfter):
		case <-s.closing:
		}
		work()
	})
}

// Save returns at once; wait returns when all is saved.
func (s *IndexStore) Save(key string, data []byte) error {
	s.saving.Go(func() {
		if err := s.Store.Save(key, data); err != nil {
			s.log.Warn("the index is not saved, so the next start will be slower", "err", err)
		}
	})
	return nil
}

// Wait returns when all is saved.
func (s *IndexStore) Wait() {
	if s != nil {
		s.close.Do(func() { close(s.closing) })
		s.saving.Wait()
	}
}
