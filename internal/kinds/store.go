package kinds

import (
	"log/slog"
	"sync"

	"lorefs/internal/userdir"
)

// maxIndexBytes is how much of the cache folder the indexes of sources may take;
// that of a large data center has some 25 MB.
const maxIndexBytes = 2 << 30

// store is where indexes are kept between runs, nil if none are. A folder that can't be
// used makes the start slower and nothing else.
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

// indexStore saves behind the back of the one who asks for it: writing and
// syncing 20 MB can take as long as inflating the source does.
type indexStore struct {
	*userdir.Store
	log    *slog.Logger
	saving sync.WaitGroup
}

// Save returns at once.
func (s *indexStore) Save(key string, data []byte) error {
	s.saving.Go(func() {
		if err := s.Store.Save(key, data); err != nil {
			s.log.Warn("the index is not kept for the next time", "err", err)
		}
	})
	return nil
}

// wait returns when all is saved. s may be nil.
func (s *indexStore) wait() {
	if s != nil {
		s.saving.Wait()
	}
}
