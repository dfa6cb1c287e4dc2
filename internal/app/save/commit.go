package save

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"lorefs/internal/replace"
	"lorefs/internal/source"
)

// Edited is a file that was edited, as its owner has it.
type Edited interface {
	// Check tells whether the file is still the one that was edited: nil, or an error that
	// matches [source.ErrChanged]. It is asked before and behind all work.
	Check() error
	// Snapshot is what the file is to hold with all edits made so far. Edits go on meanwhile.
	Snapshot() (Snapshot, error)
}

// Snapshot is what a file is to hold, and the way in which its bytes are made.
type Snapshot interface {
	// Size is about how many bytes the file will have.
	Size() int64
	// Write writes the new file, Check reads it back and tells whether it holds what it should.
	// Both may be called a second time, for another place.
	Write(ctx context.Context, w io.Writer) error
	Check(ctx context.Context, f *os.File) error
	// Index keeps what was found out about the file that was checked last, so that the next
	// who opens it needs no pass over it. It is called once the file is in its place.
	Index() error
	// Rebase lets nobody edit, and calls publish with the records of the edits made since the
	// snapshot, as they are of the file that was checked last. Once publish has succeeded,
	// edits are of that file.
	Rebase(ctx context.Context, publish func(later [][]byte) error) error
	// Close gives up what is kept for the snapshot.
	Close()
}

// Saved says what was saved of a file. It is empty if the file is as it was.
type Saved struct {
	// Path is where the file lies, without links.
	Path string
	// Edits is how many records the file holds that the one before did not.
	Edits int64
	// Info is what the new file looks like.
	Info os.FileInfo
	// Backup is the path of the file before, empty if it was not kept.
	Backup string
	// Problem is why nothing can be edited any more although all is saved, or nil.
	Problem error
}

// Commit puts a new file in the place of one that was edited. Other files may be saved at the
// same time, but not this one; it may be edited meanwhile.
//
// If Commit fails, the file is as it was and its edits stay in the journal, unless the error
// matches [replace.ErrUnsynced]: then the new file is in place, as Saved says, and nothing can
// be edited any more; the journal stays, and the next session decides, or a save that succeeds.
// An error matches [source.ErrChanged] if the file is not the one any more that was edited: see
// Rescue.
//
// Whenever the process dies, or the power goes, the old file or the new one is in the place,
// whole, and what the journal says is enough to go on with either.
func (s *Set) Commit(ctx context.Context, file string, edited Edited) (saved Saved, err error) {
	// Whatever was edited is to outlast a power cut from here on. The journal is needed only
	// if the process dies: that it fails is no reason not to save.
	s.ledger.syncToSave()

	// Before the work, which takes long: there is none to do in another program's place.
	if err := edited.Check(); err != nil {
		return Saved{}, err
	}

	// What is edited from here on is not part of the new file, but of the journal.
	snapshot, err := edited.Snapshot()
	if err != nil {
		return Saved{}, err
	}
	defer snapshot.Close()

	// The new file is made beside the old one, for its owner only, and locked: by that a
	// sweep knows that its writer lives. Whatever goes wrong, its temporary names go.
	f, err := replace.Begin(ctx, s.pathOf(file), replace.Options{
		Size: snapshot.Size(), NoBackup: s.opts.NoBackup || s.isUnsynced(file), Check: edited.Check,
		Logger: s.opts.Logger, Disk: s.opts.Disk,
	})
	if err != nil {
		return Saved{}, err
	}
	defer func() { err = s.cleanUp(f, &saved, err) }()

	// It is written, and its identity summed up on the way.
	id, err := write(ctx, f, snapshot)
	if err != nil {
		return Saved{}, err
	}

	// It gets the old one's owner, mode and attributes, and is synced: its name must not last
	// longer than its bytes.
	if err := f.Sync(); err != nil {
		return Saved{}, err
	}

	// It is opened anew, read, and compared with what it was to hold.
	if err := f.ReadBack(func(g *os.File) error { return snapshot.Check(ctx, g) }); err != nil {
		return Saved{}, err
	}

	// The old file is still the one that was edited, and from here on held open: no other is
	// replaced or becomes the backup.
	if err := f.Hold(); err != nil {
		return Saved{}, err
	}

	// It gets the name NAME.bak, which is synced, before it loses its own.
	if err := f.KeepOld(); err != nil {
		return Saved{}, err
	}

	err = snapshot.Rebase(ctx, func(later [][]byte) error { // nobody edits from here on
		// What was edited meanwhile is added to the journal once more, as edits of the new
		// file, and behind that the new file's identity; both are synced. From here on, who
		// finds the old file makes all edits again, and who finds the new one the later ones.
		if err := s.announce(file, id, later); err != nil {
			return err
		}

		// The two files swap their names, at one moment. If what comes out is not the old
		// file, another program was faster: it gets its place back.
		if err := f.Place(); err != nil {
			return err
		}
		saved = s.savedAs(f, file, later)

		// The temporary names go, and the folder is synced. If it can't be, nobody knows which
		// of the two files a power cut would leave: no edit is taken that could belong to
		// either.
		if err := f.SyncDir(); err != nil {
			s.unsynced(file, err)
			return err
		}

		// The journal is told. If it has no more to say, it goes.
		saved.Problem = s.done(file, id, later)
		return nil
	})
	if err != nil {
		return saved, err
	}

	// The next who opens the file needs no pass over it. That can wait, and it can fail.
	if err := snapshot.Index(); err != nil {
		s.opts.Logger.Info("what was found out about the new file is not kept", "file", saved.Path, "err", err)
	}
	return saved, nil
}

// write writes a snapshot, and gives the identity of what was written.
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

// cleanUp leaves no temporary names. If one is left all the same though the new file is in
// place, that is no reason to call it not saved: the next session sweeps it.
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

// announce notes in the journal what is about to take the place of a file, and what was
// edited since, as edits of that. Without the later edits there, the new file may not be put
// in place.
func (s *Set) announce(file string, id Identity, later [][]byte) error {
	records := make([][]byte, 0, len(later)+1)
	for _, record := range later {
		records = append(records, s.kind.editRecord(recordLater, file, record))
	}
	return s.ledger.announce(len(later) > 0, append(records, announcement(file, id, len(later)))...)
}

// savedAs tells of a file that is in place.
func (s *Set) savedAs(f *replace.File, file string, later [][]byte) Saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	saved := Saved{Path: f.Path(), Edits: s.files[file].edits - int64(len(later))}
	if !s.opts.NoBackup {
		saved.Backup = f.Path() + ".bak" // also if it is that of a save before
	}
	info, err := f.Info()
	if err != nil { // that of an open file
		info, _ = os.Stat(f.Path())
	}
	saved.Info = info
	return saved
}

// isUnsynced tells whether the file in place is one that is to be saved again:
// the one before it is the backup then.
func (s *Set) isUnsynced(file string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[file]
	return f != nil && f.unsynced
}

// unsynced notes that a file is in place that may not last. To save it anew is the only way
// to have the folder synced for certain.
func (s *Set) unsynced(file string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[file].unsynced = true
	s.failed = fmt.Errorf("%w: save again, or mount it anew, to go on", err)
	if lockErr := s.lockAgain(); lockErr != nil {
		s.failed = errors.Join(s.failed, lockErr)
	}
}

// done goes on with the file that is in place. Its error is why nothing can be edited any
// more.
func (s *Set) done(file string, id Identity, later [][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.files[file]
	if was.unsynced {
		s.failed = nil
	}
	was.become(id, 0, span{edits: int64(len(later))})
	if err := s.lockAgain(); err != nil {
		s.failed = fmt.Errorf("it can't be edited any more: %w: mount it anew to go on", err)
	}
	s.settled(file, id)
	return s.failed
}

// lockAgain locks the file that is in the source's place.
func (s *Set) lockAgain() error {
	if s.kind.Many {
		return nil // the folder is locked
	}
	return s.ledger.lockAgain()
}

// settled has the journal go if all that it holds is saved. Else it is told what is. The
// caller holds mu.
func (s *Set) settled(file string, id Identity) {
	if s.kind.Many || s.pending() > 0 {
		_ = s.ledger.announce(false, aboutFile(recordDone, file, id))
	}
	if s.pending() == 0 {
		s.ledger.retire()
	}
}

// Settle tells that a file holds all its edits as it is.
func (s *Set) Settle(file string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[file]
	if f == nil || f.edits == 0 {
		return fmt.Errorf("%s was not edited", file)
	}
	if err := mustBe(s.pathOf(file), f.base); err != nil {
		return err
	}
	f.become(f.base, 0, span{})
	s.settled(file, f.base)
	return nil
}

// CheckFile tells whether a file has the content that was edited: nil, or an error that
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

// mustBe is an error if a file is another one now.
func mustBe(path string, want Identity) error {
	now, err := identify(path)
	if err == nil && now == want {
		return nil
	}
	return errors.Join(fmt.Errorf("%s: %w", path, source.ErrChanged), err)
}

// errKept ends a Rebase, as the file that was edited stays the one that is.
var errKept = errors.New("the file stays")

// Rescue writes what was edited to a file of its own, as somebody else has taken the place of
// the file, and gives a [*ConflictError]. like is what the new file is modelled on: nil for
// what is in that place now. changed is why.
//
// The journal is told of it, so that it has done its duty once somebody puts the new file in
// the place of that one.
func (s *Set) Rescue(ctx context.Context, file string, edited Edited, like *os.File, changed error) error {
	path := s.pathOf(file)
	s.mu.Lock()
	kept := s.files[file].conflict
	s.mu.Unlock()
	if kept == "" { // else nothing was edited since
		var err error
		if kept, err = s.ledger.rescue(path, func(to string) error { return s.rescue(ctx, file, edited, like, to) }); err != nil {
			return fmt.Errorf("%w; nor could what was edited be written elsewhere: %w", changed, err)
		}
	}
	return &ConflictError{File: path, Path: kept, Err: changed}
}

// rescue writes a new file, like another.
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
	f, err := replace.BeginNew(ctx, to, like, replace.Options{
		Size: snapshot.Size(), Private: true, Logger: s.opts.Logger, Disk: s.opts.Disk,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Cleanup()) }()
	id, err := write(ctx, f, snapshot)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.ReadBack(func(g *os.File) error { return snapshot.Check(ctx, g) })
	}
	if err != nil {
		return err
	}
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
		if len(later) == 0 { // else what is edited has another rescue
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
