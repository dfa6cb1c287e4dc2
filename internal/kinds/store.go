package kinds

import (
	"log/slog"
	"sync"

	"lorefs/internal/userdir"
)

// maxIndexBytes is how much of the cache folder the indexes of sources may take;
// that of a large data center has some 25 MB.
const maxIndexBytes = 2 << 30

// store returns where indexes are kept between runs, or nil if none are kept. If the folder
// can't be used, only the next start is slower.
func (o *Options) store() *indexStore {
	if o.NoIndex {
		return nil
	}
	open := userdir.Cache
	if o.CacheBase != "" {
		open = func(sub ...string) (*userdir.Dir, error) { return userdir.Below(o.CacheBase, sub...) }
	}
	dir, err := open("index")
	if err != nil {
		o.Logger.Warn("the index is not kept for the next time", "err", err)
		return nil
	}
	return &indexStore{Store: userdir.NewStore(dir, maxIndexBytes), log: o.Logger}
}

// indexStore saves in the background: writing and syncing 20 MB can take as long as
// inflating the source.
type indexStore struct {
	*userdir.Store
	log    *slog.Logger
	saving sync.WaitGroup
}

// Save returns at once; wait waits until it is done.
func (s *indexStore) Save(key string, data []byte) error {
	s.saving.Go(func() {
		if err := s.Store.Save(key, data); err != nil {
			s.log.Warn("the index is not kept for the next time", "err", err)
		}
	})
	return nil
}

// wait returns when everything is saved. s may be nil.
func (s *indexStore) wait() {
	if s != nil {
		s.saving.Wait()
	}
}
