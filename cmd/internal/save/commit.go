package save

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"lorefs/internal/replace"
	"lorefs/internal/source"
)

// Edited is an edited file. Its owner implements it.
type Edited interface {
	// Check returns nil if the file is still the one that was edited, or else an error that matches
	// [source.ErrChanged]. It is called before and after all work.
	Check() error
	// Snapshot returns the content of the file with all edits made so far. Users may go on editing
	// meanwhile.
	Snapshot() (Snapshot, error)
}

// Snapshot is the content of a new file, and writes it.
type Snapshot interface {
	// Size returns the approximate size of the new file, in bytes.
	Size() int64
	// Write writes the new file. Check reads it back and returns an error if it is not as expected;
	// id identifies what was written. Both may be called again, for another place. If one of them
	// fails with [ErrAnotherWay], the file has to be written again: Write does it in another way.
	Write(ctx context.Context, w io.Writer) error
	Check(ctx context.Context, f *os.File, id Identity) error
	// Index stores the index of the file that was checked last, so that the next open need not read
	// the whole file. It is called when the file is in place.
	Index() error
	// Rebase blocks edits and calls publish with the records of the edits made since the snapshot,
	// as edits of the file that was checked last. If publish succeeds, further edits belong to that
	// file.
	Rebase(ctx context.Context, publish func(later [][]byte) error) error
	// Close releases the snapshot.
	Close()
}

// ErrAnotherWay means that a new file was not written as expected, but that there is another way to
// write it.
var ErrAnotherWay = errors.New("it is written in another way")

// Saved describes a saved file. It is empty if the file was not replaced.
type Saved struct {
	// Path is the path of the file, with links resolved.
	Path string
	// Edits is the number of records that were saved.
	Edits int64
	// Info describes the new file.
	Info os.FileInfo
	// Backup is the path of the old file, empty if it was not kept.
	Backup string
	// Problem says why nothing can be edited any more although everything is saved, or is nil.
	Problem error
}

// Commit replaces an edited file by a new one. Other files may be saved at the same time, but not
// this one. Users may go on editing it.
//
// If Commit fails, the file is unchanged and its edits stay in the journal. The exception is an
// error that matches [replace.ErrUnsynced]: then the new file is in place, as Saved says, and
// nothing can be edited any more. The journal stays until a save succeeds, or the next session
// compares it with the file. If the file is no longer the one that was edited, the error matches
// [source.ErrChanged]; call Rescue then.
//
// If the process dies or the power fails, at any point, either the whole old file or the whole new
// file is in place, and the journal has what is needed to go on with either.
func (s *Set) Commit(ctx context.Context, file string, edited Edited) (saved Saved, err error) {
	if s.opts.Source != "" {
		return Saved{}, fmt.Errorf("%s is no longer what was edited: %w", s.opts.Source, ErrStale)
	}
	// From here on, earlier edits survive a power cut. A save needs the journal only if the process
	// dies, so it goes on if the journal fails.
	s.ledger.syncToSave()

	// Check now, because the work takes long and is useless if another program's file is in place.
	if err := edited.Check(); err != nil {
		return Saved{}, err
	}

	// Later edits are in the journal, but not in the new file.
	snapshot, err := edited.Snapshot()
	if err != nil {
		return Saved{}, err
	}
	defer snapshot.Close()

	// Write the new file beside the old one, sync it, and compare it with the snapshot. If the way
	// in which it was written has failed, and there is another, do that again from the start.
	begin := func() (*replace.File, error) {
		return replace.Begin(ctx, s.pathOf(file), replace.Options{
			Size: snapshot.Size(), NoBackup: s.opts.NoBackup || s.isUnsynced(file), Check: edited.Check,
			Logger: s.opts.Logger, Disk: s.opts.Disk,
		})
	}
	f, id, err := s.prepare(ctx, begin, snapshot)
	if errors.Is(err, ErrAnotherWay) {
		s.opts.Logger.Warn("the new file is written again, as a whole", "file", s.pathOf(file), "err", err)
		f, id, err = s.prepare(ctx, begin, snapshot)
	}
	if err != nil {
		return Saved{}, err
	}
	defer func() { err = s.cleanUp(f, &saved, err) }() // removes the temporary names, whatever fails

	// Check that the old file is still the one that was edited, and keep it open, so that no other
	// file is replaced or becomes the backup.
	if err := f.Pin(); err != nil {
		return Saved{}, err
	}

	// Give the old file the name NAME.bak, and sync that, before it loses its own name.
	if err := f.KeepOld(); err != nil {
		return Saved{}, err
	}

	err = snapshot.Rebase(ctx, func(later [][]byte) error { // edits are blocked from here on
		// Add the edits made meanwhile to the journal again, as edits of the new file, then the
		// identity of the new file, and sync both. From here on, a session that finds the old file
		// replays all edits, and one that finds the new file replays the later ones.
		if err := s.announce(file, id, later); err != nil {
			return err
		}

		// Exchange the two files atomically. If the file that comes out is not the old one, another
		// program was faster: its file is put back.
		if err := f.Place(); err != nil {
			return err
		}
		saved = s.savedAs(f, file, later)

		// Remove the temporary names and sync the folder. If that fails, either file may be there
		// after a power cut. No more edits are taken, since they would belong to one of the two
		// only.
		if err := f.SyncDir(); err != nil {
			s.unsynced(file, &placed{id, filepath.Dir(saved.Path), int64(len(later))}, err)
			return err
		}

		// Tell the journal. If everything is saved, it is removed.
		saved.Problem = s.done(file, id, int64(len(later)))
		return nil
	})
	if err != nil {
		return saved, err
	}

	// Store the index, so that the next open need not read the whole file. This may fail.
	if err := snapshot.Index(); err != nil {
		s.opts.Logger.Info("what was found out about the new file is not kept", "file", saved.Path, "err", err)
	}
	return saved, nil
}

// prepare makes a new file of a snapshot, up to the point that it can be put in place. If it fails,
// nothing is left of the file.
func (s *Set) prepare(ctx context.Context, begin func() (*replace.File, error), snapshot Snapshot) (_ *replace.File, id Identity, err error) {
	// Create it, readable only by its owner. It is locked, so that a sweep sees that its writer is
	// alive.
	f, err := begin()
	if err != nil {
		return nil, id, err
	}
	ready := false
	defer func() {
		if !ready { // it may have panicked
			err = errors.Join(err, f.Cleanup())
		}
	}()

	// Write it, and compute its identity on the way.
	if id, err = write(ctx, f, snapshot); err != nil {
		return nil, id, err
	}

	// Give it the old file's owner, mode and attributes, and sync it: the name must not become
	// durable before the content. Meanwhile open it again, read it, and compare it with the snapshot.
	err = f.SyncAndReadBack(func(g *os.File) error { return snapshot.Check(ctx, g, id) })
	ready = err == nil
	return f, id, err
}

// write writes a snapshot and returns the identity of the written file.
func write(ctx context.Context, f *replace.File, snapshot Snapshot) (Identity, error) {
	var sum *summer
	err := f.Write(func(w io.Writer) error {
		sum = newSummer(w)
		return snapshot.Write(ctx, sum)
	})
	if err != nil {
		return Identity{}, err
	}
	return sum.identity(), nil
}

// cleanUp removes the temporary names. If that fails although the new file is in place, the save
// has still succeeded: the next session sweeps them.
func (s *Set) cleanUp(f *replace.File, saved *Saved, err error) error {
	cleanErr := f.Cleanup()
	switch {
	case cleanErr == nil:
		return err
	case saved.Info == nil:
		return errors.Join(err, cleanErr)
	}
	s.opts.Logger.Warn("something is left beside the file that was saved", "err", cleanErr)
	return err
}

// announce writes to the journal that a new file is about to replace an old one, with the edits
// made since the snapshot as edits of the new file. If it can't write these edits it fails, and the
// new file must not be put in place.
func (s *Set) announce(file string, id Identity, later [][]byte) error {
	records := make([][]byte, 0, len(later)+1)
	for _, record := range later {
		records = append(records, s.kind.editRecord(recordLater, file, record))
	}
	return s.ledger.announce(len(later) > 0, append(records, announcement(file, id, len(later)))...)
}

// savedAs describes a file that is in place.
func (s *Set) savedAs(f *replace.File, file string, later [][]byte) Saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	saved := Saved{Path: f.Path(), Edits: s.files[file].edits - int64(len(later))}
	if !s.opts.NoBackup {
		saved.Backup = f.Path() + ".bak" // may be the one of an earlier save
	}
	info, err := f.Info()
	if err != nil { // the open file can't be examined
		info, _ = os.Stat(f.Path())
	}
	saved.Info = info
	return saved
}

// isUnsynced reports whether the file in place is a new one whose folder could not be synced. The
// save is repeated then, and the backup is already the right one.
func (s *Set) isUnsynced(file string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[file]
	return f != nil && f.unsynced != nil
}

// unsynced records that the file in place may not survive a power cut. Only another save, or
// SyncAgain, makes sure that the folder is synced.
func (s *Set) unsynced(file string, in *placed, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[file].unsynced = in
	s.failed = fmt.Errorf("%w: save again, or mount it anew, to go on", err)
	if lockErr := s.lockAgain(); lockErr != nil {
		s.failed = errors.Join(s.failed, lockErr)
	}
}

// SyncAgain makes sure that new files survive a power cut that are in place, but whose folders could
// not be synced. Afterwards files can be edited again. It is for who goes on with such a file: who
// goes on with the old one saves again.
func (s *Set) SyncAgain() (err error) {
	s.mu.Lock()
	left := s.allUnsynced()
	s.mu.Unlock()
	for _, file := range slices.Sorted(maps.Keys(left)) {
		in := left[file]
		if err := s.opts.Disk.SyncDir(in.dir); err != nil {
			return fmt.Errorf("%s: %w: %w", s.pathOf(file), replace.ErrUnsynced, err)
		}
		err = s.done(file, in.id, in.later) // the last one knows whether anything is wrong
	}
	return err
}

// allUnsynced returns the files in place that may not survive a power cut. The caller holds mu.
func (s *Set) allUnsynced() map[string]*placed {
	left := map[string]*placed{}
	for file, f := range s.files {
		if f.unsynced != nil {
			left[file] = f.unsynced
		}
	}
	return left
}

// done continues with the new file, which lacks some later edits. Its error says why nothing can be
// edited any more.
func (s *Set) done(file string, id Identity, later int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.files[file]
	again := was.unsynced != nil
	was.become(id, 0, span{edits: later})
	if again && len(s.allUnsynced()) == 0 {
		s.failed = nil
	}
	if err := s.lockAgain(); err != nil {
		s.failed = fmt.Errorf("it can't be edited any more: %w: mount it anew to go on", err)
	}
	s.settled(file, id)
	if s.failed == nil && later > 0 {
		s.failed = s.keepBase(file, was) // an edit of the new file was made already
	}
	return s.failed
}

// lockAgain locks the file that is now at the path of the source.
func (s *Set) lockAgain() error {
	if s.kind.Many {
		return nil // the folder is locked
	}
	return s.ledger.lockAgain()
}

// settled removes the journal if everything in it is saved. Otherwise it writes to the journal that
// the file is. The caller holds mu.
func (s *Set) settled(file string, id Identity) {
	if s.kind.Many || s.pending() > 0 {
		_ = s.ledger.announce(false, aboutFile(recordDone, file, id))
	}
	if s.pending() == 0 {
		s.ledger.retire()
	}
}

// CheckFile returns nil if a file still has the content that was edited, or else an error that
// matches [source.ErrChanged].
func (s *Set) CheckFile(file string) error {
	s.mu.Lock()
	f := s.files[file]
	s.mu.Unlock()
	if f == nil {
		return fmt.Errorf("%s was not edited", file)
	}
	return mustBe(s.pathOf(file), f.base)
}

// mustBe returns an error if a file does not have the content want.
func mustBe(path string, want Identity) error {
	now, err := identify(path)
	if err == nil && now == want {
		return nil
	}
	return errors.Join(fmt.Errorf("%s: %w", path, source.ErrChanged), err)
}

// errKept ends a Rebase without success, so that further edits still belong to the old file.
var errKept = errors.New("the file stays")

// Rescue writes the edited content to a file of its own, since another program has replaced the
// file, and returns a [*ConflictError]. The new file gets the attributes of like or, if that is
// nil, of the file that is in place now. changed says what happened.
//
// Rescue announces the new file in the journal. So if the user puts it in place, the next session
// sees that all edits are saved.
func (s *Set) Rescue(ctx context.Context, file string, edited Edited, like *os.File, changed error) error {
	path := s.pathOf(file)
	s.mu.Lock()
	kept := s.files[file].conflict
	s.mu.Unlock()
	if kept == "" { // else there was no edit since the last rescue
		var err error
		if kept, err = s.ledger.rescue(path, func(to string) error { return s.rescue(ctx, file, edited, like, to) }); err != nil {
			return fmt.Errorf("%w; nor could what was edited be written elsewhere: %w", changed, err)
		}
	}
	return &ConflictError{File: path, Path: kept, Err: changed}
}

// rescue writes a new file with the attributes of like.
func (s *Set) rescue(ctx context.Context, file string, edited Edited, like *os.File, to string) (err error) {
	if like == nil {
		if there, err := source.Open(s.pathOf(file)); err == nil {
			defer there.Close() // It was only read.
			like = there.Opened()
		}
	}
	snapshot, err := edited.Snapshot()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	f, id, err := s.prepare(ctx, func() (*replace.File, error) {
		return replace.BeginNew(ctx, to, like, replace.Options{
			Size: snapshot.Size(), Private: true, Logger: s.opts.Logger, Disk: s.opts.Disk,
		})
	}, snapshot)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Cleanup()) }()
	err = snapshot.Rebase(ctx, func(later [][]byte) error {
		if err := s.announce(file, id, later); err != nil {
			return err
		}
		if err := f.Place(); err != nil {
			return err
		}
		if err := f.SyncDir(); err != nil {
			return err
		}
		if len(later) == 0 { // else the next rescue has to write the later edits
			s.mu.Lock()
			defer s.mu.Unlock()
			s.files[file].conflict = to
		}
		return errKept
	})
	if errors.Is(err, errKept) {
		return nil
	}
	return err
}
