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

// Options are what Open may be told.
type Options struct {
	// NoBackup leaves no NAME.bak behind.
	NoBackup bool
	// Salvage takes what is whole of a damaged journal, and keeps the journal as
	// NAME.journal.damaged. Without it, such a journal is refused.
	Salvage bool
	// Check is asked once nobody else can edit the source any more, whether it is what the
	// caller has opened: whoever had the lock before may have replaced it since.
	Check func() error
	// Logger is told of what was replayed and cleaned up. Default: nobody is.
	Logger *slog.Logger
	// Disk is what is written to, nil for the one that is really there.
	Disk disk.FS
}

// Set is a set of files that are being edited: those of a folder, or a source that is one
// file, of which the name in the set is empty. Its methods may be called from many
// goroutines at once.
type Set struct {
	kind   *Kind
	path   string // of the source, without links
	opts   Options
	ledger *ledger

	// mu guards what follows. Nothing is called that could edit while it is held.
	mu sync.Mutex
	// files are those that were begun, and maybe edited, since they were saved.
	files map[string]*fileState
	// left is what a crash has left behind, until it is replayed.
	left     *journal.Contents
	replayed int
	// failed is why nothing can be edited any more.
	failed error
}

// Open begins to edit a source. Errors match [filelock.ErrLocked] while somebody else edits
// it, [ErrStale] if there are edits that belong to other files, and [journal.ErrDamaged] if
// there are some that can't be read. Edits that are left from before have to be made again by
// Replay, before anything else.
func Open(kind *Kind, path string, o Options) (*Set, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Disk = disk.Or(o.Disk)
	path, err := links.Resolve(path)
	if err == nil {
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

// writable tells early what saving would find out: whether a file can be replaced, or those
// of a folder.
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

// pathOf is where a file lies, which may be a link.
func (s *Set) pathOf(file string) string { return filepath.Join(s.path, file) }

// Path is where the source lies, without links.
func (s *Set) Path() string { return s.path }

// dir is the folder that has the names of the files.
func (s *Set) dir() string {
	if s.kind.Many {
		return s.path
	}
	return filepath.Dir(s.path)
}

// resume looks for a journal that was left behind.
func (s *Set) resume() error {
	contents, err := s.ledger.resume(s.opts.Salvage)
	if err != nil {
		return err
	}
	if contents != nil {
		s.left = contents // until it is known that nothing of it is to be replayed
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

// unfit is the error of a journal that can't be replayed.
func (s *Set) unfit(err error) error { return &JournalError{Path: s.ledger.path(), Err: err} }

// decide finds out which edits of a journal are to be made again. Of files that hold
// all of theirs nothing is known any more: what is edited next has a record of its own
// of what it belongs to. Whoever put such a file in place may have died before that
// would last, so it is made to; and before the journal could be told, so it is. Else
// the next session would take the file's edits for unsaved ones as soon as its owner
// changes it, or puts the one before back.
func (s *Set) decide(d *summary) error {
	edits := d.edits()
	inPlace := map[string]Identity{}
	for file, f := range d.files {
		path := s.pathOf(file)
		s.ledger.sweep(path)
		was := *f
		state, err := f.compare(path)
		if err != nil || state == StateStale {
			return errors.Join(s.ledger.stale(path, f.base, edits, d.Began), err)
		}
		if was.edits > 0 && (state == StateSaved || f.base != was.base) {
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

// syncElsewhere makes a file last that a link leads to.
func (s *Set) syncElsewhere(path string) error {
	dir, err := s.elsewhere(path)
	if err != nil || dir == "" {
		return err
	}
	return s.opts.Disk.SyncDir(dir)
}

// elsewhere is the folder in which a file is replaced that lies in another than the source
// has it: the one that a link leads to. It is empty for most files.
func (s *Set) elsewhere(path string) (dir string, err error) {
	whole, err := links.Resolve(path)
	if err != nil || filepath.Dir(whole) == s.dir() {
		return "", err
	}
	return filepath.Dir(whole), nil
}

// Notes gives what Note has kept about files whose edits Replay is about to make again.
func (s *Set) Notes(visit func(file string, note []byte)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil {
		return nil
	}
	d := summary{kind: s.kind, files: s.files}
	return d.notes(s.left, visit)
}

// Replay has apply make the edits again that a crash has left behind, in their
// order. An error matches [journal.ErrDamaged], but that of ctx.
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
	if err == nil {
		s.left = nil
	}
	return err
}

// replay makes the edits of a record.
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

// Journal is the path of the journal, empty if there is none.
func (s *Set) Journal() string { return s.ledger.path() }

// Replayed is how many edits Replay has made again.
func (s *Set) Replayed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replayed
}

// Pending is how many records are not saved yet.
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

// Begin is called before anything of a file of a folder is looked at that decides about an
// edit of it: what is logged next belongs to the file as it is now. If somebody replaces it
// from here on, saving finds out. It does nothing for a file with edits that are not saved.
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

// begin is Begin. The caller holds mu.
func (s *Set) begin(file string) error {
	id, err := identify(s.pathOf(file))
	if err == nil {
		s.files[file] = &fileState{base: id}
	}
	return err
}

// Log keeps the record of an edit of a file that was begun, of 1 byte to some 60 MiB.
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
	records := [][]byte{s.kind.editRecord(recordEdit, file, record)}
	if f.edits == 0 && s.kind.Many { // the journal knows nothing of it, or of what it was before
		records = [][]byte{aboutFile(recordFile, file, f.base), records[0]}
	}
	if err := s.ledger.append(s.header, records...); err != nil {
		return err
	}
	f.edits++
	f.saved, f.conflict = nil, ""
	return nil
}

// Note keeps something about the file that the edits of a file belong to, as long as they do:
// of 1 byte to some 60 MiB, which no edit needs. It does nothing if all is saved.
func (s *Set) Note(file string, note []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[file]
	if s.failed != nil || f == nil || f.edits == 0 {
		return s.failed
	}
	return s.ledger.note(s.kind.baseRecord(file, &f.base, note))
}

// header is what a journal begins with. The caller holds mu.
func (s *Set) header() ([]byte, error) {
	h := header{Folder: s.path, Began: time.Now().UTC().Truncate(time.Second)}
	if !s.kind.Many {
		h.Source, h.Folder, h.Identity = s.path, "", &s.files[""].base
	}
	return json.Marshal(h)
}

// Sync returns when all edits made so far would survive a power cut.
func (s *Set) Sync() error { return s.ledger.sync() }

// Close gives everything back. Edits that are not saved stay in the journal.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = os.ErrClosed
	if s.left == nil && s.pending() == 0 {
		s.ledger.retire() // an edit that did not get into it leaves it empty
	}
	return s.ledger.close()
}
