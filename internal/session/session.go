package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lorefs/datacenter"
	"lorefs/internal/filelock"
	"lorefs/internal/replace"
	"lorefs/internal/source"
	"lorefs/internal/userdir"
)

// Options are what Open may be told.
type Options struct {
	// Write says how the file is written. Its Header is ignored.
	Write datacenter.WriteOptions
	// NoBackup leaves no NAME.bak behind.
	NoBackup bool
	// Reopen says how what was written is read back.
	Reopen func() datacenter.Options
	// Logger is told of what was replayed and cleaned up. Default: nobody is.
	Logger *slog.Logger

	// Salvage takes what is whole of a damaged journal, and keeps the journal as
	// NAME.damaged. Without it, such a journal is refused.
	Salvage bool

	// before is called ahead of each step of a save, and its error fails the step.
	before func(replace.Step) error
	// system is the disk, but in tests.
	system system
}

// Session is a data center that is being edited. Its methods may be called from
// many goroutines at once.
type Session struct {
	src  *source.File
	path string // of the source, without links
	dc   *datacenter.File
	opts Options

	draft    *datacenter.Draft
	lock     *filelock.Lock
	replayed int

	// saving is held while the draft is saved, and guards conflict: the file that
	// what was edited was rescued to, empty if there is none.
	saving   sync.Mutex
	conflict string

	// mu guards what follows. It is taken after all locks of the draft.
	mu sync.Mutex
	// locked is the source, locked for other users.
	locked *os.File
	id     identity
	// journal is nil until there is something to keep, and journalInfo describes its
	// file.
	journal     records
	journalInfo os.FileInfo
	// spent is a journal of which all is saved, but that could not be removed.
	spent records
	// failed is why nothing can be edited any more.
	failed error
	closed bool
	// unsynced is set while the new file is in place but may not outlast a power cut.
	unsynced bool
	// layout is that of the file that the path leads to.
	layout datacenter.Layout
}

// Open begins to edit the data center dc, which was opened from src. Edits that a
// crash has left behind are made again. Errors match [filelock.ErrLocked] while
// somebody else edits the file, [source.ErrChanged] if src is no longer what its
// path leads to, [ErrStale] if there are edits that belong to another file, and
// [journal.ErrDamaged] if there are some that can't be made again.
func Open(ctx context.Context, src *source.File, dc *datacenter.File, opts Options) (*Session, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Reopen == nil {
		opts.Reopen = func() datacenter.Options { return datacenter.Options{} }
	}
	if opts.system == nil {
		opts.system = disk{}
	}
	path, err := filepath.EvalSymlinks(src.Path())
	if err != nil {
		return nil, err
	}
	if opts.Write.Layout == datacenter.LayoutAuto {
		opts.Write.Layout = dc.Layout()
	}
	s := &Session{src: src, path: path, dc: dc, opts: opts, layout: dc.Layout()}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Session) open(ctx context.Context) error {
	if err := writable(s.path); err != nil {
		return err
	}
	var err error
	if s.lock, err = lockFor(s.path); err != nil {
		return err
	}
	if s.locked, err = lockSource(s.path); err != nil {
		return err
	}
	// Whoever had the lock before may have replaced the file since src was opened.
	if err := s.src.CheckNow(); err != nil {
		return err
	}
	if removed, err := replace.Sweep(s.path); err != nil || len(removed) > 0 {
		s.opts.Logger.Info("removed what a save has left that did not end", "files", removed, "err", err)
	}
	if s.id, err = identify(s.src, s.src.Size()); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if s.draft, err = datacenter.NewDraft(s.dc, s.log); err != nil {
		return err
	}
	return s.resume(ctx)
}

// lockSource locks the file for other users, as far as they ask.
func lockSource(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	err = filelock.LockFile(f)
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil // some network file systems can't
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, nil
}

// statePath is the path of a file in the state folder that belongs to a source.
func statePath(folder, source, suffix string) (string, error) {
	dir, err := userdir.State(folder)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	sum := sha256.Sum256([]byte(source))
	return filepath.Join(dir.Path(), hex.EncodeToString(sum[:8])+suffix), nil
}

// JournalPath is where the journal of a source is, whose path has no links.
func JournalPath(source string) (string, error) {
	return statePath(journalFolder, source, journalSuffix)
}

const (
	journalFolder = "journal"
	journalSuffix = ".journal"
)

// Draft is what is edited.
func (s *Session) Draft() *datacenter.Draft { return s.draft }

// Replayed is how many records of edits Open found and made again.
func (s *Session) Replayed() int { return s.replayed }

// Converts tells whether saving makes another layout of the file.
func (s *Session) Converts() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opts.Write.Layout != s.layout
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

// log keeps a record of the draft.
func (s *Session) log(record []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	if err := s.src.Check(); err != nil {
		return err
	}
	if s.journal == nil {
		if err := s.begin(); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	if !s.inPlace() {
		return fmt.Errorf("the journal %s was removed by somebody: only saving helps", s.journal.Path())
	}
	return s.journal.Append(append([]byte{recordEdits}, record...))
}

// inPlace tells whether a crash would leave the journal that is written to. The
// caller holds mu.
func (s *Session) inPlace() bool {
	info, err := os.Lstat(s.journal.Path())
	return err == nil && os.SameFile(info, s.journalInfo)
}

// begin makes the journal. The caller holds mu.
func (s *Session) begin() error {
	path, err := JournalPath(s.path)
	if err != nil {
		return err
	}
	if s.spent != nil {
		if err := s.spent.Remove(); err != nil {
			return err
		}
		s.spent = nil
	}
	head, err := json.Marshal(header{Source: s.path, identity: s.id, Began: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	j, err := s.opts.system.create(path, head)
	if err != nil {
		return err
	}
	if err := s.take(j); err != nil {
		return errors.Join(err, j.Remove())
	}
	return nil
}

// take goes on with a journal. The caller holds mu, or is alone.
func (s *Session) take(j records) error {
	info, err := os.Lstat(j.Path())
	if err == nil {
		s.journal, s.journalInfo = j, info
	}
	return err
}

// retire removes the journal, of which all is saved. If that fails, it does no
// harm: the next edit tries again, and so does the next session. The caller holds
// mu, or is alone.
func (s *Session) retire() {
	if s.journal == nil {
		return
	}
	if err := s.journal.Remove(); err != nil {
		s.opts.Logger.Warn("the journal of what is saved can't be removed yet", "journal", s.journal.Path(), "err", err)
		s.spent = s.journal
	}
	s.journal = nil
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
	if s.journal != j && !s.closed {
		return nil // All that was in it was saved meanwhile.
	}
	return err
}

// Close gives everything back. Edits that are not saved stay in the journal.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if s.journal != nil && s.journal.Records() == 0 {
		s.retire() // the first edit did not get into it
	}
	if s.journal != nil {
		errs = append(errs, s.journal.Close())
		s.journal = nil
	}
	s.closed, s.failed = true, os.ErrClosed
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
