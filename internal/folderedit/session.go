package folderedit

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/replace"
)

// Options are what Open may be told.
type Options struct {
	// NoBackup leaves no NAME.bak behind.
	NoBackup bool
	// Logger is told of what was replayed and cleaned up. Default: nobody is.
	Logger *slog.Logger

	// before is called ahead of each step of a save, and its error fails the step.
	before func(replace.Step) error
}

// Session is a folder whose files are being edited. Its methods may be called from
// many goroutines at once.
type Session struct {
	dir  string // without links
	opts Options

	lock   *filelock.Lock
	locked *os.File // the folder, locked for other users

	// saving is held while files are saved.
	saving sync.Mutex
	// mu guards what follows.
	mu sync.Mutex
	// journal is nil until there is something to keep, and info describes its file.
	journal *journal.Journal
	info    os.FileInfo
	files   map[string]*fileState
	// left is what a crash has left behind, until it is replayed.
	left     *journal.Contents
	replayed int
	// failed is why nothing can be edited any more.
	failed error
}

// Open begins to edit the files of a folder. Errors match [filelock.ErrLocked] while
// somebody else edits them, [ErrStale] if there are edits that belong to other
// files, and [journal.ErrDamaged] if there are some that can't be read. Edits that
// are left from before have to be made again by Replay, before anything else.
func Open(dir string, opts Options) (*Session, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, err
	}
	s := &Session{dir: path, opts: opts, files: map[string]*fileState{}}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Session) open() error {
	if err := writable(s.dir); err != nil {
		return err
	}
	var err error
	if s.lock, err = lockFor(s.dir); err != nil {
		return err
	}
	if s.locked, err = os.Open(s.dir); err != nil {
		return err
	}
	if err := filelock.LockFile(s.locked); errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w", s.dir, err)
	}
	return s.resume()
}

// writable tells early what saving would find out.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".lorefs-*.tmp")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Journal is the path of the journal, empty if there is none.
func (s *Session) Journal() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return ""
	}
	return s.journal.Path()
}

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

// Log keeps the record of an edit of a file, of 1 byte to some 60 MiB.
func (s *Session) Log(file string, record []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	if s.journal == nil {
		if err := s.begin(); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	if info, err := os.Lstat(s.journal.Path()); err != nil || !os.SameFile(info, s.info) {
		return fmt.Errorf("the journal %s was removed by somebody: only saving helps", s.journal.Path())
	}
	f := s.files[file]
	if f == nil {
		id, err := identify(filepath.Join(s.dir, file))
		if err != nil {
			return err
		}
		if err := s.note(recordFile, fileRecord{file, id}); err != nil {
			return err
		}
		f = &fileState{base: id}
		s.files[file] = f
	}
	if err := s.journal.Append(editRecord(file, record)); err != nil {
		return err
	}
	f.edits++
	f.saved = nil
	return nil
}

// begin makes the journal. The caller holds mu.
func (s *Session) begin() error {
	path, err := JournalPath(s.dir)
	if err != nil {
		return err
	}
	head, err := json.Marshal(header{Folder: s.dir, Began: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	j, err := journal.Create(path, head)
	if err != nil {
		return err
	}
	if err := s.take(j); err != nil {
		return errors.Join(err, j.Remove())
	}
	return nil
}

// take goes on with a journal. The caller holds mu, or is alone.
func (s *Session) take(j *journal.Journal) error {
	info, err := os.Lstat(j.Path())
	if err == nil {
		s.journal, s.info = j, info
	}
	return err
}

// note keeps a record about a file. The caller holds mu.
func (s *Session) note(kind byte, r fileRecord) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.journal.Append(append([]byte{kind}, b...))
}

// Sync returns when all edits made so far would survive a power cut.
func (s *Session) Sync() error {
	s.mu.Lock()
	j := s.journal
	s.mu.Unlock()
	if j == nil {
		return nil
	}
	err := j.Sync()
	if err == nil || !errors.Is(err, os.ErrClosed) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal != j && !errors.Is(s.failed, os.ErrClosed) {
		return nil // All that was in it was saved meanwhile.
	}
	return err
}

// retire removes the journal if all that it holds is saved. The caller holds mu, or
// is alone.
func (s *Session) retire() {
	for _, f := range s.files {
		if f.edits > 0 {
			return
		}
	}
	if s.journal == nil {
		return
	}
	if err := s.journal.Remove(); err != nil {
		s.opts.Logger.Warn("the journal of what is saved can't be removed yet", "journal", s.journal.Path(), "err", err)
		return
	}
	s.journal = nil
	clear(s.files)
}

// Close gives everything back. Edits that are not saved stay in the journal.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = os.ErrClosed
	var errs []error
	if s.left == nil {
		s.retire() // an edit that did not get into it leaves it empty
	}
	if s.journal != nil {
		errs = append(errs, s.journal.Close())
		s.journal = nil
	}
	if s.locked != nil {
		errs = append(errs, s.locked.Close())
		s.locked = nil
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
		s.lock = nil
	}
	return errors.Join(errs...)
}
