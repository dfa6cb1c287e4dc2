package session

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"

	"lorefs/internal/journal"
)

// damagedSuffix is what the name of a damaged journal gets behind it.
const damagedSuffix = ".damaged"

// salvage puts, in the place of a damaged journal, one of those of its records
// that lie ahead of the damage, and keeps it under another name. A power cut can
// leave damage in what nobody had synced yet, while what was synced lies ahead of
// it. Killed at any point, it leaves one or the other in place.
func (s *Session) salvage(path string) error {
	contents, err := journal.Read(path)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer contents.Close()
	if contents.Damage() == nil {
		return nil
	}
	whole := strings.TrimSuffix(path, journalSuffix) + ".salvage"
	if err := os.Remove(whole); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	if err := s.copyWhole(whole, contents); err != nil {
		return err
	}
	kept, err := keep(path)
	if err != nil {
		return errors.Join(err, os.Remove(whole))
	}
	s.opts.Logger.Warn("took what is whole of a damaged journal", "records", contents.Len(),
		"damage", contents.Damage(), "kept", kept)
	if err := os.Rename(whole, path); err != nil {
		return err
	}
	return s.opts.system.syncDir(filepath.Dir(path))
}

// copyWhole makes a journal of the whole records of another.
func (s *Session) copyWhole(path string, contents *journal.Contents) error {
	j, err := s.opts.system.create(path, contents.Header())
	if err != nil {
		return err
	}
	for record, err := range contents.Records() {
		if errors.Is(err, journal.ErrDamaged) {
			break
		}
		if err == nil {
			err = j.Append(record)
		}
		if err != nil {
			return errors.Join(err, j.Remove())
		}
	}
	return j.Close()
}

// keep gives a file a second name that no other has.
func keep(path string) (string, error) {
	for i := range 1000 {
		name := path + damagedSuffix
		if i > 0 {
			name = fmt.Sprintf("%s.%d", name, i)
		}
		if err := os.Link(path, name); !errors.Is(err, iofs.ErrExist) {
			return name, err
		}
	}
	return "", fmt.Errorf("%s%s.999: %w", path, damagedSuffix, iofs.ErrExist)
}
