package save

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

	"lorefs/internal/disk"
	"lorefs/internal/journal"
	"lorefs/internal/links"
)

// Options are the options of Open.
type Options struct {
	// NoBackup keeps no NAME.bak.
	NoBackup bool
	// Salvage uses the records before the damage in a damaged journal, and keeps the journal as
	// NAME.journal.damaged. Without it, Open refuses such a journal.
	Salvage bool
	// Check is called when the source is locked. It returns an error if the source is no longer
	// what the caller has opened: another process may have had the lock and replaced it since.
	Check func() error
	// Patch makes a patch of the unsaved edits of a journal that can't be replayed any more, as why
	// says. They were made on what is at the path base. Default: there are no patches.
	Patch func(j *Journal, base string, why error) ([]byte, error)
	// Source is the source, without links, if that has become another, and what is edited is what the
	// edits in its journal were made on. They can be taken back then, and not saved. Default: the path
	// that is edited.
	Source string
	// Logger logs what was replayed and cleaned up. Default: nothing is logged.
	Logger *slog.Logger
	// Disk is the file system to write to. Default: [disk.OS].
	Disk disk.FS
}

// Set is a set of files that are being edited: those of a folder, or a single file, whose name in
// the set is empty. Its methods are safe for parallel use.
type Set struct {
	kind   *Kind
	path   string // of what is edited, without links
	opts   Options
	ledger *ledger

	// mu guards the fields below. Nothing that could make an edit is called while it is held.
	mu sync.Mutex
	// files are the files that were begun since they were last saved. They need not have edits.
	files map[string]*fileState
	// left is the journal that a crash has left, until it is replayed.
	left     *journal.Contents
	replayed int
	// failed says why nothing can be edited any more.
	failed error
}

// Open begins to edit a source. An error matches [filelock.ErrLocked] if another process is editing
// it, [ErrStale] if there are edits of a file that has changed, and [journal.ErrDamaged] if there
// are edits that can't be read. The caller must call Replay before anything else, to make the edits
// again that a crash has left.
func Open(kind *Kind, path string, o Options) (*Set, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Disk = disk.Or(o.Disk)
	path, err := links.Resolve(path)
	if err == nil && o.Source == "" {
		err = writable(path)
	}
	if err != nil {
		return nil, err
	}
	s := &Set{kind: kind, path: path, opts: o, files: map[string]*fileState{}}
	if s.ledger, err = kind.hold(path, &s.opts); err != nil {
		return nil, err
	}
	if o.Check != nil {
		err = o.Check()
	}
	if err == nil {
		err = s.resume()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// writable returns an error if a file, or the files of a folder, can't be replaced. Otherwise only
// saving would find out.
func writable(path string) error {
	dir := path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if at, ok := errors.AsType[*os.PathError](err); ok {
			err = at.Err
		}
		if err != nil {
			return fmt.Errorf("%s can't be written to: %w", path, err)
		}
		f.Close() // Nothing was written.
		dir = filepath.Dir(path)
	}
	f, err := os.CreateTemp(dir, ".lorefs-*.tmp")
	if err != nil {
		return fmt.Errorf("the folder %s can't be written to: %w", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// pathOf returns the path of a file, which may be a link.
func (s *Set) pathOf(file string) string { return filepath.Join(s.path, file) }

// Path returns the path of the source, without links.
func (s *Set) Path() string { return s.ledger.source }

// dir returns the folder that holds the names of the files.
func (s *Set) dir() string {
	if s.kind.Many {
		return s.path
	}
	return filepath.Dir(s.path)
}

// resume opens the journal that a crash has left, if there is one.
func (s *Set) resume() error {
	contents, err := s.ledger.resume(s.opts.Salvage)
	if err != nil {
		return err
	}
	if contents != nil {
		s.left = contents // decide may find that all of it is saved
		d, err := s.kind.digest(contents)
		if err != nil {
			return s.unfit(err)
		}
		if err := s.decide(&d); err != nil {
			return err
		}
	}
	if !s.kind.Many && s.files[""] == nil {
		return s.begin("")
	}
	return nil
}

// unfit returns the error of a journal that can't be replayed.
func (s *Set) unfit(err error) error { return &JournalError{Path: s.ledger.path(), Err: err} }

// decide finds out which edits of a journal have to be replayed. Files that have all their edits
// are forgotten, so that the next edit writes a new 'F'.
//
// The process that put such a file in place may have died before it synced the folder and told the
// journal, so decide does both. Otherwise the next session would replay the edits, or call them
// stale, once the user changes the file or puts the backup back.
func (s *Set) decide(d *summary) error {
	inPlace := map[string]Identity{}
	for file, f := range d.files {
		path := s.pathOf(file)
		s.ledger.sweep(path)
		was := *f
		state, err := f.compare(path)
		if err != nil || state == StateStale {
			return errors.Join(s.ledger.stale(path, f.base, d.Began), err)
		}
		if was.edits > 0 && state == StateSaved || f.base != was.base {
			inPlace[file] = was.saved.id
			if err := s.syncElsewhere(path); err != nil {
				return err
			}
		}
		if state == StateSaved {
			delete(d.files, file)
		}
	}
	s.files = d.files
	if len(s.files) == 0 {
		err := s.ledger.settle(s.dir())
		if err == nil {
			s.left = nil
		}
		return err
	}
	if err := s.opts.Disk.SyncDir(s.dir()); err != nil {
		return err
	}
	for file, id := range inPlace {
		_ = s.ledger.announce(false, aboutFile(recordDone, file, id))
	}
	return nil
}

// syncElsewhere syncs the folder of the file that a link leads to.
func (s *Set) syncElsewhere(path string) error {
	dir, err := s.elsewhere(path)
	if err != nil || dir == "" {
		return err
	}
	return s.opts.Disk.SyncDir(dir)
}

// elsewhere returns the folder of a file that a link leads to, if it is not the folder of the
// source. It is empty for most files.
func (s *Set) elsewhere(path string) (dir string, err error) {
	whole, err := links.Resolve(path)
	if err != nil || filepath.Dir(whole) == s.dir() {
		return "", err
	}
	return filepath.Dir(whole), nil
}

// Replay calls apply for each edit that a crash has left, in their order. An error matches
// [journal.ErrDamaged], unless it is that of ctx.
func (s *Set) Replay(ctx context.Context, apply func(file string, record []byte) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil {
		return nil
	}
	d := summary{kind: s.kind, files: s.files}
	err := d.edited(s.left, func(file string, record []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return s.replay(ctx, file, record, apply)
	})
	if err != nil {
		return err
	}
	s.left = nil
	for file, f := range s.files {
		if f.edits == 0 {
			continue
		}
		// The process that made the edits may have had no room, or died while it saved.
		if err := s.keepBase(file, f); err != nil {
			return err
		}
	}
	return nil
}

// replay makes the edits of a record again.
func (s *Set) replay(ctx context.Context, file string, record []byte, apply func(file string, record []byte) error) error {
	n, err := s.kind.count(record)
	if err == nil {
		err = apply(file, record)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return s.unfit(fmt.Errorf("edit %d: %w", s.replayed+1, err))
	}
	s.replayed += n
	return nil
}

// Journal returns the path of the journal, empty if there is none.
func (s *Set) Journal() string { return s.ledger.path() }

// Replayed returns the number of edits that Replay has made again.
func (s *Set) Replayed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replayed
}

// Pending returns the number of edits that are not saved yet.
func (s *Set) Pending() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending()
}

func (s *Set) pending() (count int64) {
	for _, f := range s.files {
		count += f.edits
	}
	return count
}

// Edited returns the number of files that have edits.
func (s *Set) Edited() (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.edits > 0 {
			count++
		}
	}
	return count
}

// Begin must be called before an edit of a file of a folder looks at the file: edits that are
// logged next belong to the file as it is now. If another program replaces it later, saving finds
// out. Begin does nothing if the file has unsaved edits.
func (s *Set) Begin(file string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	if f := s.files[file]; f != nil && f.edits > 0 {
		return nil
	}
	path := s.pathOf(file)
	dir, err := s.elsewhere(path)
	if err == nil && dir != "" {
		err = writable(dir)
	}
	if err != nil {
		return err
	}
	return s.begin(file)
}

// begin is Begin for callers that hold mu.
func (s *Set) begin(file string) error {
	id, err := identify(s.pathOf(file))
	if err == nil {
		s.files[file] = &fileState{base: id}
	}
	return err
}

// Log adds the record of an edit to the journal. The file must have been begun. A record has 1 byte
// to about 60 MiB.
func (s *Set) Log(file string, record []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	f := s.files[file]
	if f == nil {
		return fmt.Errorf("%s was not begun", file)
	}
	if err := s.keepBase(file, f); err != nil {
		return err
	}
	records := [][]byte{s.kind.editRecord(recordEdit, file, record)}
	if f.edits == 0 && s.kind.Many { // the journal has no 'F' of it, or an outdated one
		records = [][]byte{aboutFile(recordFile, file, f.base), records[0]}
	}
	if err := s.ledger.append(s.header, records...); err != nil {
		return err
	}
	f.edits++
	f.saved, f.conflict, f.isCounted = nil, "", false
	return nil
}

// Count says how many edits a file has after all that was logged of it, since an edit may undo
// earlier ones. Until then a reader of the journal counts the edits of each record.
func (s *Set) Count(file string, edits int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[file]
	if s.failed != nil || f == nil || f.edits == edits && (f.isCounted || s.kind.Count == nil) {
		return
	}
	f.edits, f.isCounted = edits, true
	if err := s.ledger.add(s.kind.countRecord(file, edits)); err != nil {
		s.opts.Logger.Warn("the journal does not know how many edits it has", "err", err)
	}
}

// Settle removes the journal if none of the edits in it is left to be saved.
func (s *Set) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil && s.left == nil && s.pending() == 0 {
		s.ledger.retire()
	}
}

// header returns the header of a new journal. The caller holds mu.
func (s *Set) header() ([]byte, error) {
	h := header{Folder: s.ledger.source, Began: time.Now().UTC().Truncate(time.Second)}
	if !s.kind.Many {
		h.Source, h.Folder, h.Identity = s.ledger.source, "", &s.files[""].base
	}
	return json.Marshal(h)
}

// Sync returns when all edits made so far would survive a power cut.
func (s *Set) Sync() error { return s.ledger.sync() }

// Discard gives up all edits: it removes the journal, even if that fails to take edits or belongs to
// a file that has changed. Nothing can be edited afterwards.
func (s *Set) Discard() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed, s.left, s.files = os.ErrClosed, nil, map[string]*fileState{}
	return s.ledger.discard()
}

// Close releases the source. Unsaved edits stay in the journal.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = os.ErrClosed
	if s.left == nil && s.pending() == 0 {
		s.ledger.retire() // it is empty if the first edit could not be added
	}
	return s.ledger.close()
}
