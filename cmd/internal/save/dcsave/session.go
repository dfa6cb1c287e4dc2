package dcsave

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/disk"
	"lorefs/internal/source"
)

// Kind is the kind of data centers.
var Kind = &save.Kind{
	Folder: "journal", What: "a data center", Count: edit.RecordEdits, Left: countLeft,
}

// Options are the options of Open.
type Options struct {
	// Write says how to write the file. Its Header is ignored.
	Write datacenter.WriteOptions
	// Source is the source if that has become another file; see [save.Options].
	Source string
	// NoBackup keeps no NAME.bak.
	NoBackup bool
	// Keys are tried in turn to open the copy of a file that is gone. Default: [datacenter.DefaultKeys].
	Keys []datacenter.Key
	// Reopen returns the options for reading back the new file.
	Reopen func() datacenter.Options
	// Carry is called when to is in place, which was made of from and differs from it in the sheets
	// with the given names only. It may store what is known about the others. Default: nothing.
	Carry func(from, to *datacenter.File, sheets []string) error
	// Spare is called before a file is packed as a whole, and may free memory for that; what it
	// returns is called when the file was checked. Default: nothing is called.
	Spare func() (end func())
	// Logger logs what was replayed and cleaned up. Default: nothing is logged.
	Logger *slog.Logger
	// Salvage uses the records before the damage in a damaged journal; see [save.Options].
	Salvage bool
	// Disk is the file system to write to. Default: [disk.OS].
	Disk disk.FS
}

// Session is a data center that is being edited. Its methods are safe for parallel use.
type Session struct {
	src   *source.File
	first *datacenter.File // in src
	opts  Options
	draft *edit.Draft
	files *save.Set
	count counter
	// replayed is the number of edits that a crash had left. isOpen says that all of them were
	// made again.
	replayed int
	isOpen   bool

	// reading is held for reading by who reads a file that the draft was based on when it began.
	reading sync.RWMutex
	// isSaving is set while Save runs, which takes long.
	isSaving atomic.Bool
	// saving is held while the draft is saved, which takes long. It guards the fields below, up to
	// base.
	saving sync.Mutex
	// show is called with the progress of a save.
	show func(save.Progress)
	// how says how the save is done.
	how save.How
	// patch is the path of a patch of the edits, empty if there is none. isRescued means that none
	// is needed.
	patch     string
	isRescued bool
	// edits is the number of edits in the last snapshot that are in no file yet.
	edits int64
	// base is the file that the draft is based on. It is nil until the first save: then it is src.
	base *base
	// layout is the layout of the file in place.
	layout atomic.Int64
}

// Open begins to edit the data center dc, which was opened from src, and makes the edits again that
// a crash has left. Errors are those of [save.Open], and match [source.ErrChanged] if src is no
// longer the file at its path.
func Open(ctx context.Context, src *source.File, dc *datacenter.File, opts Options) (*Session, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Reopen == nil {
		opts.Reopen = func() datacenter.Options { return datacenter.Options{} }
	}
	if opts.Spare == nil {
		opts.Spare = func() (end func()) { return func() {} }
	}
	if opts.Write.Layout == datacenter.LayoutAuto {
		opts.Write.Layout = dc.Layout()
	}
	s := &Session{src: src, first: dc, opts: opts}
	s.layout.Store(int64(dc.Layout()))
	var err error
	if s.files, err = save.Open(Kind, src.Path(), save.Options{
		NoBackup: opts.NoBackup, Salvage: opts.Salvage, Source: opts.Source, Check: src.CheckNow, Patch: s.patchStale, Logger: opts.Logger, Disk: opts.Disk,
	}); err != nil {
		return nil, err
	}
	s.count.count = s.countEdits
	if s.draft, err = edit.NewDraft(dc, s.log); err == nil {
		err = s.replay(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.isOpen = true
	s.src.OnChange(func(changed error) { s.KeepPatch(changed) })
	return s, nil
}

// replay makes the edits again that a crash has left, and counts them.
func (s *Session) replay(ctx context.Context) error {
	err := s.files.Replay(ctx, func(_ string, record []byte) error { return s.draft.Replay(ctx, record) })
	if err != nil {
		return err
	}
	if s.replayed = int(s.draft.Pending()); s.replayed > 0 { // else settle removes the journal
		s.files.Count("", int64(s.replayed))
	}
	return nil
}

// countEdits writes to the journal how many edits there are.
func (s *Session) countEdits() {
	s.draft.Counted(func(pending int64) { s.files.Count("", pending) })
}

// Draft returns the draft.
func (s *Session) Draft() *edit.Draft { return s.draft }

// PinBase keeps the file open on which the draft is based at the moment, until release is called.
func (s *Session) PinBase() (release func()) {
	s.reading.RLock()
	return s.reading.RUnlock
}

// Revert takes back what choose returns, see [edit.Draft.Revert], and returns when that would survive
// a power cut. It waits for a running save, and none begins before it returns: so choose need not call
// PinBase, and must not, since a save may wait for its release. If nothing is left to be saved, the
// journal is removed.
func (s *Session) Revert(ctx context.Context, choose func() ([]edit.Target, error)) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	what, err := choose()
	if err != nil || len(what) == 0 {
		return err
	}
	if _, err = s.draft.Revert(ctx, nil, what); err != nil || s.draft.Pending() > 0 {
		return errors.Join(err, s.Sync())
	}
	return s.settle(ctx)
}

// Replayed returns the number of edits that were left when Open had made all again.
func (s *Session) Replayed() int { return s.replayed }

// Converts reports whether saving changes the layout of the file.
func (s *Session) Converts() bool { return int64(s.opts.Write.Layout) != s.layout.Load() }

// Pending reports whether there is something to save.
func (s *Session) Pending() bool { return s.draft.Pending() > 0 || s.Converts() }

// Journal returns the path of the journal, empty if there is none.
func (s *Session) Journal() string { return s.files.Journal() }

// log adds a record of the draft to the journal.
func (s *Session) log(record []byte) error {
	// The cache still has the old content of a file that has changed, so an edit can get here.
	if err := s.src.CheckNow(); err != nil {
		return err
	}
	err := s.files.Log("", record)
	if err == nil {
		s.count.wake()
	}
	return err
}

// Sync returns when all edits made so far would survive a power cut.
func (s *Session) Sync() error { return s.files.Sync() }

// Discard gives up all edits and removes the journal. Nothing can be edited afterwards.
func (s *Session) Discard() error {
	s.count.close()
	return s.files.Discard()
}

// Close releases the source. Unsaved edits stay in the journal.
func (s *Session) Close() error {
	s.count.close()
	switch {
	case !s.isOpen || s.files.Pending() == 0:
	case s.draft.Pending() == 0:
		s.dropJournal()
	default:
		s.countEdits()
	}
	return errors.Join(s.files.Close(), s.base.close())
}

// Save replaces the source by a new file if there is something to save; see [save.Set.Commit]. If
// the source is no longer the file that was edited, the error is a [*save.ConflictError] or, if the
// edited file can't be read either, a [*save.PatchError]. show is called with the progress, by
// several goroutines.
func (s *Session) Save(ctx context.Context, how save.How, show func(save.Progress)) (r save.Report, err error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.how, s.show = how, show
	s.isSaving.Store(true)
	defer s.isSaving.Store(false)
	began := time.Now()
	if !s.Pending() {
		return r, s.settle(ctx)
	}
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

// edited returns the file that the edits belong to. The caller holds saving.
func (s *Session) edited() *source.File {
	if s.base != nil {
		return s.base.from
	}
	return s.src
}

// settle removes the journal if the edits in it undo each other. The caller holds saving.
func (s *Session) settle(ctx context.Context) error {
	if s.files.Pending() == 0 {
		return nil
	}
	drop := func() error {
		s.dropJournal()
		return nil
	}
	_, err := s.draft.Settle(ctx, drop)
	if errors.Is(err, source.ErrChanged) {
		err = drop() // nothing can be edited any more, and nothing is left to be saved
	}
	return err
}

// dropJournal removes the journal, of whose edits none is left.
func (s *Session) dropJournal() {
	s.files.Count("", 0)
	s.files.Settle()
}

// rescue keeps the edits of a source that has changed. If another file has its place, the edited
// one is still open here, but maybe nobody else has it any more: then the journal could never be
// replayed, so the edits are written to a file of their own. If the edited file was overwritten,
// they are written as a patch.
func (s *Session) rescue(ctx context.Context, changed error) error {
	if edited := s.edited(); edited.Intact() == nil {
		err := s.files.Rescue(ctx, "", s, edited.Opened(), changed)
		if _, ok := errors.AsType[*save.ConflictError](err); ok {
			s.isRescued = true
			s.dropPatch()
		}
		if edited.Intact() == nil {
			return err
		}
	}
	path, err := s.keepPatch(changed)
	if err != nil || path == "" {
		return errors.Join(changed, err)
	}
	return &save.PatchError{File: s.files.Path(), Path: path, Err: changed}
}

// dropPatch removes the patch of edits that are in a file now. A patch that stays does no harm.
func (s *Session) dropPatch() {
	if s.patch != "" {
		_ = os.Remove(s.patch)
		s.patch = ""
	}
}
