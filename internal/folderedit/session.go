package folderedit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lorefs/internal/journal"
	"lorefs/internal/links"
	"lorefs/internal/pending"
	"lorefs/internal/replace"
)

// Options are what Open may be told.
type Options struct {
	// NoBackup leaves no NAME.bak behind.
	NoBackup bool
	// Logger is told of what was replayed and cleaned up. Default: nobody is.
	Logger *slog.Logger

	// Salvage takes what is whole of a damaged journal, and keeps the journal as
	// NAME.journal.damaged. Without it, such a journal is refused.
	Salvage bool

	// before is called ahead of each step of a save, and its error fails the step.
	before func(replace.Step) error
	// system is the disk, but in tests.
	system pending.System
}

// Session is a folder whose files are being edited. Its methods may be called from
// many goroutines at once.
type Session struct {
	dir   string // without links
	opts  Options
	edits *pending.Edits

	// mu guards what follows.
	mu sync.Mutex
	// files are those that were begun, and maybe edited, since they were saved.
	files map[string]*fileState
	// left is what a crash has left behind, until it is replayed.
	left     *journal.Contents
	replayed int
	// failed is why nothing can be edited any more.
	failed error
}

// Open begins to edit the files of a folder. Errors match [filelock.ErrLocked] while
// somebody else edits them, [pending.ErrStale] if there are edits that belong to other
// files, and [journal.ErrDamaged] if there are some that can't be read. Edits that
// are left from before have to be made again by Replay, before anything else.
func Open(dir string, opts Options) (*Session, error) {
	path, err := links.Resolve(dir)
	if err == nil {
		err = writable(path)
	}
	if err != nil {
		return nil, err
	}
	s := &Session{dir: path, opts: opts, files: map[string]*fileState{}}
	if s.edits, err = Journals.Hold(path, pending.Options{Logger: opts.Logger, System: opts.system}); err != nil {
		return nil, err
	}
	if err := s.resume(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// writable tells early what saving would find out.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".lorefs-*.tmp")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// resume looks for a journal that was left behind.
func (s *Session) resume() error {
	contents, err := s.edits.Resume(s.opts.Salvage)
	if err != nil || contents == nil {
		return err
	}
	s.left = contents // until it is known that nothing of it is to be replayed
	d, err := digest(contents)
	if err != nil {
		return s.unfit(err)
	}
	return s.decide(&d)
}

// unfit is the error of a journal that can't be replayed.
func (s *Session) unfit(err error) error {
	return &pending.JournalError{Path: s.edits.Journal(), Err: err}
}

// decide finds out which edits of a journal are to be made again. Of files that hold
// all of theirs nothing is known any more: what is edited next has a record of its own
// of what it belongs to. Whoever put such a file in place may have died before that
// would last, so it is made to; and before the journal could be told, so it is. Else
// the next session would take the file's edits for unsaved ones as soon as its owner
// changes it, or puts the one before back.
func (s *Session) decide(d *summary) error {
	edits := d.edits()
	saved := map[string]pending.Identity{}
	for file, f := range d.files {
		path := filepath.Join(s.dir, file)
		s.edits.Sweep(path)
		state, err := f.state(path)
		if err != nil || state == pending.Stale {
			return errors.Join(s.edits.Stale(path, f.base, edits, d.Began), err)
		}
		if state == pending.Saved {
			delete(d.files, file)
			if f.edits > 0 {
				saved[file] = *f.saved
				if err := s.syncElsewhere(path); err != nil {
					return err
				}
			}
		}
	}
	s.files = d.files
	if len(s.files) == 0 {
		err := s.edits.Settle(s.dir)
		if err == nil {
			s.left = nil
		}
		return err
	}
	if err := s.edits.SyncDir(s.dir); err != nil {
		return err
	}
	for file, id := range saved {
		s.edits.Announce(aboutFile(recordDone, file, id))
	}
	return nil
}

// syncElsewhere makes a file last that a link leads to.
func (s *Session) syncElsewhere(path string) error {
	dir, err := s.elsewhere(path)
	if err != nil || dir == "" {
		return err
	}
	return s.edits.SyncDir(dir)
}

// Replay has apply make the edits again that a crash has left behind, in their
// order. An error matches [journal.ErrDamaged].
func (s *Session) Replay(ctx context.Context, apply func(file string, record []byte) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil {
		return nil
	}
	place := -1
	for b, err := range s.left.Records() {
		place++
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if b[0] != recordEdit {
			continue
		}
		file, record, err := parseEdit(b)
		if err != nil {
			return err
		}
		if f := s.files[file]; f == nil || place < f.first {
			continue
		}
		if err := apply(file, record); err != nil {
			return s.unfit(fmt.Errorf("edit %d: %w", s.replayed+1, err))
		}
		s.replayed++
	}
	s.left = nil
	return nil
}

// Journal is the path of the journal, empty if there is none.
func (s *Session) Journal() string { return s.edits.Journal() }

// Replayed is how many edits Replay has made again.
func (s *Session) Replayed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replayed
}

// Pending is how many edits are not saved yet.
func (s *Session) Pending() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := int64(0)
	for _, f := range s.files {
		count += f.edits
	}
	return count
}

// Begin is called before anything of a file is looked at that decides about an edit of
// it: what is logged next belongs to the file as it is now. If somebody replaces it from
// here on, saving finds out. It does nothing for a file with edits that are not saved.
func (s *Session) Begin(file string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	if f := s.files[file]; f != nil && f.edits > 0 {
		return nil
	}
	path := filepath.Join(s.dir, file)
	dir, err := s.elsewhere(path)
	if err == nil && dir != "" {
		err = writable(dir)
	}
	if err != nil {
		return err
	}
	id, err := identify(path)
	if err == nil {
		s.files[file] = &fileState{base: id}
	}
	return err
}

// elsewhere is the folder in which a file is replaced that lies in another than s.dir
// has it: the one that a link leads to. It is empty for most files.
func (s *Session) elsewhere(path string) (dir string, err error) {
	whole, err := links.Resolve(path)
	if err != nil || filepath.Dir(whole) == s.dir {
		return "", err
	}
	return filepath.Dir(whole), nil
}

// Log keeps the record of an edit of a file that was begun, of 1 byte to some 60 MiB.
func (s *Session) Log(file string, record []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	f := s.files[file]
	if f == nil {
		return fmt.Errorf("%s was not begun", file)
	}
	if f.edits == 0 { // the journal knows nothing of it, or of what it was before
		if err := s.edits.Append(s.header, aboutFile(recordFile, file, f.base)); err != nil {
			return err
		}
	}
	if err := s.edits.Append(s.header, editRecord(file, record)); err != nil {
		return err
	}
	f.edits++
	f.saved, f.conflict = nil, ""
	return nil
}

// header is what a journal begins with.
func (s *Session) header() ([]byte, error) {
	return json.Marshal(header{Folder: s.dir, Began: time.Now().UTC().Truncate(time.Second)})
}

// Sync returns when all edits made so far would survive a power cut.
func (s *Session) Sync() error { return s.edits.Sync() }

// retire removes the journal if all that it holds is saved. The caller holds mu.
func (s *Session) retire() {
	for _, f := range s.files {
		if f.edits > 0 {
			return
		}
	}
	s.edits.Retire()
}

// Close gives everything back. Edits that are not saved stay in the journal.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = os.ErrClosed
	if s.left == nil {
		s.retire() // an edit that did not get into it leaves it empty
	}
	return s.edits.Close()
}
