package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"lorefs/datacenter"
	"lorefs/internal/links"
	"lorefs/internal/pending"
	"lorefs/internal/replace"
	"lorefs/internal/source"
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
	// NAME.journal.damaged. Without it, such a journal is refused.
	Salvage bool

	// before is called ahead of each step of a save, and its error fails the step.
	before func(replace.Step) error
	// system is the disk, but in tests.
	system pending.System
}

// Session is a data center that is being edited. Its methods may be called from
// many goroutines at once.
type Session struct {
	src  *source.File
	path string // of the source, without links
	dc   *datacenter.File
	opts Options

	draft    *datacenter.Draft
	edits    *pending.Edits
	replayed int

	// isSaving tells that Save runs, which takes long.
	isSaving atomic.Bool
	// saving is held while the draft is saved, and guards conflict: the file that
	// what was edited was rescued to, empty if there is none; and text: the one that has
	// the edits as text, likewise.
	saving   sync.Mutex
	conflict string
	text     string
	// base is the file that was put in place last, nil if there is none. It is used by
	// the holder of saving.
	base *newBase

	// mu guards what follows. It is taken after all locks of the draft.
	mu sync.Mutex
	id pending.Identity
	// failed is why nothing can be edited any more.
	failed error
	// unsynced is set while the new file is in place but may not outlast a power cut.
	unsynced bool
	// layout is that of the file that the path leads to.
	layout datacenter.Layout
}

// Open begins to edit the data center dc, which was opened from src. Edits that a
// crash has left behind are made again. Errors match [filelock.ErrLocked] while
// somebody else edits the file, [source.ErrChanged] if src is no longer what its
// path leads to, [pending.ErrStale] if there are edits that belong to another file, and
// [journal.ErrDamaged] if there are some that can't be made again.
func Open(ctx context.Context, src *source.File, dc *datacenter.File, opts Options) (*Session, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Reopen == nil {
		opts.Reopen = func() datacenter.Options { return datacenter.Options{} }
	}
	path, err := links.Resolve(src.Path())
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
	if s.edits, err = Journals.Hold(s.path, pending.Options{Logger: s.opts.Logger, System: s.opts.system}); err != nil {
		return err
	}
	// Whoever had the lock before may have replaced the file since src was opened.
	if err := s.src.CheckNow(); err != nil {
		return err
	}
	if s.id, err = pending.Identify(s.src, s.src.Size()); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if s.draft, err = datacenter.NewDraft(s.dc, s.log); err != nil {
		return err
	}
	if err := s.resume(ctx); err != nil {
		return err
	}
	s.src.OnChange(func(changed error) { s.KeepText(changed) })
	return nil
}

// Draft is what is edited.
func (s *Session) Draft() *datacenter.Draft { return s.draft }

// Replayed is how many edits Open found and made again.
func (s *Session) Replayed() int { return s.replayed }

// Converts tells whether saving makes another layout of the file.
func (s *Session) Converts() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opts.Write.Layout != s.layout
}

// Journal is the path of the journal, empty if there is none.
func (s *Session) Journal() string { return s.edits.Journal() }

// log keeps a record of the draft.
func (s *Session) log(record []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	// What is in the cache is of the file as it was, so that an edit can come this far.
	if err := s.src.CheckNow(); err != nil {
		return err
	}
	return s.edits.Append(s.header, append([]byte{recordEdits}, record...))
}

// header is what a journal begins with. The caller holds mu.
func (s *Session) header() ([]byte, error) {
	return json.Marshal(header{Source: s.path, Identity: s.id, Began: time.Now().UTC().Truncate(time.Second)})
}

// Sync returns when all edits made so far would survive a power cut.
func (s *Session) Sync() error { return s.edits.Sync() }

// Close gives everything back. Edits that are not saved stay in the journal.
func (s *Session) Close() error {
	s.mu.Lock()
	s.failed = os.ErrClosed
	s.mu.Unlock()
	if s.edits == nil {
		return nil // it could not be opened
	}
	return errors.Join(s.base.close(), s.edits.Close())
}
