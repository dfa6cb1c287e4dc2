// Package dcsave edits a data center in its place: it joins the draft, the journal and the
// save of package save, for which a data center is a set of one file.
//
// If the open file itself is no longer what it was, as another program wrote over it, nothing
// can be saved: the edits become a text. If the journal fails, edits are refused, but saving
// goes on without it, as the draft has all that it holds.
//
// A record of edits has numbers of nodes, which mean nothing without the file. A note beside
// it has what the file held (see noteVersion), so that [EditsOf] can tell the edits by paths
// and old values when that file is gone.
package dcsave

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/app/save"
	"lorefs/internal/disk"
	"lorefs/internal/source"
)

// Kind are data centers.
var Kind = &save.Kind{Folder: "journal", What: "a data center", Count: edit.RecordEdits}

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
	// Salvage takes what is whole of a damaged journal, see [save.Options].
	Salvage bool
	// Disk is what is written to, nil for the one that is really there.
	Disk disk.FS
}

// Session is a data center that is being edited. Its methods may be called from
// many goroutines at once.
type Session struct {
	src   *source.File
	opts  Options
	draft *edit.Draft
	files *save.Set
	notes *noter

	// isSaving tells that Save runs, which takes long.
	isSaving atomic.Bool
	// saving is held while the draft is saved, which takes long, and guards what follows.
	saving sync.Mutex
	// text is the file that has the edits as text, empty if there is none. isRescued tells
	// that there is no need for one.
	text      string
	isRescued bool
	// edits is how many the last snapshot had that are in no file yet.
	edits int64
	// base is what the draft is based on, nil as long as nothing was saved: then it is src.
	base *base
	// layout is that of the file that the path leads to.
	layout atomic.Int64
}

// Open begins to edit the data center dc, which was opened from src. Edits that a
// crash has left behind are made again. Errors are those of [save.Open], and match
// [source.ErrChanged] if src is no longer what its path leads to.
func Open(ctx context.Context, src *source.File, dc *datacenter.File, opts Options) (*Session, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Reopen == nil {
		opts.Reopen = func() datacenter.Options { return datacenter.Options{} }
	}
	if opts.Write.Layout == datacenter.LayoutAuto {
		opts.Write.Layout = dc.Layout()
	}
	s := &Session{src: src, opts: opts}
	s.layout.Store(int64(dc.Layout()))
	var err error
	if s.files, err = save.Open(Kind, src.Path(), save.Options{
		NoBackup: opts.NoBackup, Salvage: opts.Salvage, Check: src.CheckNow, Logger: opts.Logger, Disk: opts.Disk,
	}); err != nil {
		return nil, err
	}
	s.notes = newNoter(func(note []byte) error { return s.files.Note("", note) }, opts.Logger)
	if s.draft, err = edit.NewDraft(dc, s.log); err == nil {
		err = s.replay(ctx, dc)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.src.OnChange(func(changed error) { s.KeepText(changed) })
	return s, nil
}

// replay makes edits again that a crash has left behind. What they were made on is noted where
// the process that made them had no time to.
func (s *Session) replay(ctx context.Context, dc *datacenter.File) error {
	d, err := newDescriber(dc, s.src.Intact)
	if err != nil {
		return err
	}
	err = s.files.Notes(func(_ string, note []byte) {
		nodes, err := parseNote(note)
		if err != nil {
			s.opts.Logger.Warn("what the journal says of the file that was edited can't be read", "err", err)
		}
		d.told(nodes)
	})
	if err != nil {
		return err
	}
	s.notes.describe(d, nil)
	s.notes.hold() // files call while they hold what a note needs
	defer s.notes.release()
	return s.files.Replay(ctx, func(_ string, record []byte) error {
		err := s.draft.Replay(ctx, record)
		if err == nil {
			s.notes.take(record)
		}
		return err
	})
}

// Draft is what is edited.
func (s *Session) Draft() *edit.Draft { return s.draft }

// Replayed is how many edits Open found and made again.
func (s *Session) Replayed() int { return s.files.Replayed() }

// Converts tells whether saving makes another layout of the file.
func (s *Session) Converts() bool { return int64(s.opts.Write.Layout) != s.layout.Load() }

// Pending tells whether there is something to save.
func (s *Session) Pending() bool { return s.draft.Pending() > 0 || s.Converts() }

// Journal is the path of the journal, empty if there is none.
func (s *Session) Journal() string { return s.files.Journal() }

// log keeps a record of the draft.
func (s *Session) log(record []byte) error {
	// What is in the cache is of the file as it was, so that an edit can come this far.
	if err := s.src.CheckNow(); err != nil {
		return err
	}
	err := s.files.Log("", record)
	if err == nil {
		s.notes.take(record)
	}
	return err
}

// Sync returns when all edits made so far would survive a power cut.
func (s *Session) Sync() error { return s.files.Sync() }

// Close gives everything back. Edits that are not saved stay in the journal.
func (s *Session) Close() error {
	s.notes.close(s.files.Pending() > 0)
	return errors.Join(s.files.Close(), s.base.close())
}

// Save writes what was edited in the place of the source, if anything was. See
// [save.Set.Commit]. If the source is not the one any more that was edited, the error is a
// [*save.ConflictError] as far as that is possible, and else a [*save.TextError].
func (s *Session) Save(ctx context.Context) (r save.Report, err error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.isSaving.Store(true)
	defer s.isSaving.Store(false)
	began := time.Now()
	if !s.Pending() {
		return r, nil
	}
	s.notes.hold()
	defer s.notes.release()
	saved, err := s.files.Commit(ctx, "", s)
	if saved.Info != nil {
		r.Add(saved.Path, saved)
		r.Edits = s.edits
	}
	if errors.Is(err, source.ErrChanged) {
		err = s.rescue(ctx, err)
	}
	r.Seconds = time.Since(began).Seconds()
	return r, err
}

// rescue writes what was edited to a file of its own, if the source has changed
// but the file that was edited is still there for this process. Edits that were
// made after a commit are on top of a file that nobody else has any more: their
// journal could never be replayed. If that file was written over, the edits are kept
// as text.
func (s *Session) rescue(ctx context.Context, changed error) error {
	if s.src.Intact() == nil {
		err := s.files.Rescue(ctx, "", onFirst{s}, s.src.Opened(), changed)
		if _, ok := errors.AsType[*save.ConflictError](err); ok {
			s.isRescued = true
			s.dropText()
		}
		if s.src.Intact() == nil {
			return err
		}
	}
	path, err := s.keepText(changed)
	if err != nil || path == "" {
		return errors.Join(changed, err)
	}
	return &save.TextError{File: s.files.Path(), Path: path, Err: changed}
}

// dropText removes the text of edits that a file has now. That it stays is no harm.
func (s *Session) dropText() {
	if s.text != "" {
		_ = os.Remove(s.text)
		s.text = ""
	}
}
