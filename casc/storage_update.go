package casc

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
)

// update is what Refresh found out.
type update struct {
	// file is the .build.info or .build.db, "" if there is none.
	file  string
	parse func([]byte) ([]Build, error)
	stamp stamp // when Open read it
	// times is how often the archives or their index had changed.
	times atomic.Uint64
	// build is the one that is installed now, nil if it is still the one that is
	// open.
	build atomic.Pointer[Build]
}

// Refresh looks whether a game or its updater has written to the storage: what the
// index says now is taken over, so that files that moved are found again. It is
// false if all is as it was when it was last looked at. Files that are open stay
// with what they were opened from: they read what they did or fail, and may then be
// opened again.
func (s *Storage) Refresh() (bool, error) {
	changed, err := s.archives.refresh()
	if changed {
		s.update.times.Add(1)
		s.log.Info("the archives have changed: the index is read again")
	}
	return changed, errors.Join(err, s.refreshBuild())
}

// Updates returns how often Refresh was true.
func (s *Storage) Updates() uint64 { return s.update.times.Load() }

// NewBuild returns the build that is installed, if the last Refresh found another than
// the one that is open.
func (s *Storage) NewBuild() (Build, bool) {
	if b := s.update.build.Load(); b != nil {
		return *b, true
	}
	return Build{}, false
}

// refreshBuild looks whether another build was installed.
func (s *Storage) refreshBuild() error {
	if s.update.file == "" {
		return nil
	}
	now, err := stampOf(s.fsys, s.update.file)
	if err != nil {
		return err
	}
	if now.same(s.update.stamp) {
		s.update.build.Store(nil) // it was put back, if it was another
		return nil
	}
	data, err := readFile(s.fsys, s.update.file, maxText)
	if err != nil {
		return err
	}
	builds, err := s.update.parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", s.update.file, err)
	}
	b, err := SelectBuild(builds, cmp.Or(s.opts.Product, s.Build.Product))
	if err != nil {
		return err
	}
	if b.BuildKey == s.Build.BuildKey {
		s.update.build.Store(nil) // it is back
		return nil
	}
	if s.update.build.Swap(&b) == nil {
		s.log.Warn("another build is installed now; the one before stays open", slog.Any("build", b.BuildKey), slog.String("version", b.Version))
	}
	return nil
}
