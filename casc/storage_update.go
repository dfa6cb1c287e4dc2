package casc

import (
	"cmp"
	"errors"
	"log/slog"
	"sync/atomic"

	"lorefs/casc/config"
	"lorefs/casc/internal/store"
)

// update has the build that Refresh found.
type update struct {
	// list is the list of builds that Open read, nil if the storage has none or an installed
	// build does not matter.
	list *store.Builds
	// times counts the changes of the archives or their index.
	times atomic.Uint64
	// build is the build that is installed now, or nil if it is the one that is open.
	build atomic.Pointer[config.Build]
}

// Refresh looks whether a game or its updater has written to the storage, and takes over
// the new index so that files that moved are found again. It returns false if nothing
// changed since the last call. Open files keep what they were opened from: they read as
// before or fail, and can then be opened again.
func (s *Storage) Refresh() (bool, error) {
	changed, err := s.archives.Refresh()
	if changed {
		s.update.times.Add(1)
		s.log.Info("the archives have changed: the index is read again")
	}
	return changed, errors.Join(err, s.refreshBuild())
}

// Updates returns how often Refresh returned true.
func (s *Storage) Updates() uint64 { return s.update.times.Load() }

// NewBuild returns the installed build if the last Refresh found that it is not the open
// one.
func (s *Storage) NewBuild() (config.Build, bool) {
	if b := s.update.build.Load(); b != nil {
		return *b, true
	}
	return config.Build{}, false
}

// refreshBuild looks whether another build was installed.
func (s *Storage) refreshBuild() error {
	if s.update.list == nil {
		return nil
	}
	list, err := s.objects.NewBuilds(s.update.list)
	if err != nil {
		return err
	}
	if list == nil {
		s.update.build.Store(nil) // the file is back
		return nil
	}
	b, err := config.SelectBuild(list.All, cmp.Or(s.opts.Product, s.Build.Product))
	if err != nil {
		return err
	}
	if b.BuildKey == s.Build.BuildKey {
		s.update.build.Store(nil) // the build is back
		return nil
	}
	if s.update.build.Swap(&b) == nil {
		s.log.Warn("another build is installed now; the one before stays open", slog.Any("build", b.BuildKey), slog.String("version", b.Version))
	}
	return nil
}
