package save

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"lorefs/internal/disk"
	"lorefs/internal/filelock"
	"lorefs/internal/journal"
)

// ledger is the journal of a source that this process edits, and its locks. The methods may
// be called from many goroutines at once.
type ledger struct {
	kind   *Kind
	source string
	log    *slog.Logger
	disk   disk.FS
	lock   *filelock.Lock

	// mu guards what follows.
	mu sync.Mutex
	// locked is the source, locked for other users.
	locked *os.File
	// journal is nil until there is something to keep, and info describes its file.
	journal *journal.Journal
	info    os.FileInfo
	// spent is a journal of which all is saved, but that could not be removed.
	spent  *journal.Journal
	closed bool
}

// hold takes a source, whose path has no links, for this process alone. An error
// matches [filelock.ErrLocked] while somebody else has it. What a save has left beside it
// that did not end is removed, if the source is a file. What a crash has left behind is to
// be had by resume, before anything else.
func (k *Kind) hold(source string, o *Options) (*ledger, error) {
	e := &ledger{kind: k, source: source, log: o.Logger, disk: o.Disk}
	var err error
	if e.lock, err = acquire(nameOf(source), source); err != nil {
		return nil, err
	}
	// Before the source is locked: what a save has left can be another name of it, which
	// would look as if its writer lived.
	if !k.Many {
		e.sweep(source)
	}
	if e.locked, err = lockSource(source); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// lockSource locks a source for other users, as far as they ask and it can be locked:
// folders, and files on some network file systems, can't be.
func lockSource(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := filelock.LockFile(f); errors.Is(err, filelock.ErrLocked) {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, nil
}

// lockAgain moves the lock for other users to the file that is now in the source's
// place.
func (e *ledger) lockAgain() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var closeErr, err error
	if e.locked != nil {
		closeErr = e.locked.Close()
	}
	e.locked, err = lockSource(e.source)
	return errors.Join(closeErr, err)
}

// path is the path of the journal, empty if there is none.
func (e *ledger) path() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.journal == nil {
		return ""
	}
	return e.journal.Path()
}

// append keeps records. If there is no journal, it is made, with the header that
// head gives. An error is an [*AppendError], unless all is closed.
func (e *ledger) append(head func() ([]byte, error), records ...[]byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return os.ErrClosed
	}
	for _, record := range records {
		if err := e.appendOne(head, record); err != nil {
			path, pathErr := e.kind.JournalPath(e.source)
			return &AppendError{Journal: path, Err: errors.Join(err, pathErr)}
		}
	}
	return nil
}

// appendOne is append. The caller holds mu.
func (e *ledger) appendOne(head func() ([]byte, error), record []byte) error {
	if e.journal == nil {
		if err := e.begin(head); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	if !e.inPlace() {
		return fmt.Errorf("the journal %s was removed by somebody: only saving helps", e.journal.Path())
	}
	return e.journal.Append(record)
}

// inPlace tells whether a crash would leave the journal that is written to. The
// caller holds mu.
func (e *ledger) inPlace() bool {
	info, err := os.Lstat(e.journal.Path())
	return err == nil && os.SameFile(info, e.info)
}

// begin makes the journal. The caller holds mu.
func (e *ledger) begin(head func() ([]byte, error)) error {
	path, err := e.kind.JournalPath(e.source)
	if err != nil {
		return err
	}
	if e.spent != nil {
		if err := e.spent.Remove(); err != nil {
			return err
		}
		e.spent = nil
	}
	header, err := head()
	if err != nil {
		return err
	}
	j, err := journal.Create(e.disk, path, header)
	if err != nil {
		return err
	}
	if err := e.take(j); err != nil {
		return errors.Join(err, j.Remove())
	}
	return nil
}

// take goes on with a journal. The caller holds mu.
func (e *ledger) take(j *journal.Journal) error {
	info, err := os.Lstat(j.Path())
	if err == nil {
		e.journal, e.info = j, info
	}
	return err
}

// announce notes in the journal, if there is one, what is about to be saved or was saved,
// and makes that last. If that fails and must is not set, it is told of, and no reason not to
// save: without the note, a process that dies before the journal is removed leaves a stale
// one, of which no edit is lost, but somebody has to look at it.
func (e *ledger) announce(must bool, records ...[]byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.journal == nil {
		return nil
	}
	var err error
	for _, record := range records {
		if err == nil {
			err = e.journal.Append(record)
		}
	}
	if err == nil {
		err = e.journal.Sync()
	}
	if err == nil || must {
		return err
	}
	e.log.Warn("the journal does not know what is saved", "journal", e.journal.Path(), "err", err)
	return nil
}

// note adds a record, if there is a journal. Nothing waits for it to last.
func (e *ledger) note(record []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.journal == nil || !e.inPlace() {
		return nil
	}
	return e.journal.Append(record)
}

// settle removes the journal of a source that is known to hold all of it. Whoever put
// it there may have died before that would last: a power cut must not bring the old
// one back when the journal is gone. dir is the folder that the source's name, or
// those of its files, are in.
func (e *ledger) settle(dir string) error {
	if err := e.disk.SyncDir(dir); err != nil {
		return err
	}
	e.log.Info("the journal is removed: what it holds was saved", "journal", e.path())
	e.retire()
	return nil
}

// retire removes the journal, of which all is saved. If that fails, it does no
// harm: the next edit tries again, and so does the next session.
func (e *ledger) retire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop()
}

// drop is retire. The caller holds mu.
func (e *ledger) drop() {
	if e.journal == nil {
		return
	}
	if err := e.journal.Remove(); err != nil {
		e.log.Warn("the journal of what is saved can't be removed yet", "journal", e.journal.Path(), "err", err)
		e.spent = e.journal
	}
	e.journal = nil
}

// sync returns when all edits made so far would survive a power cut.
func (e *ledger) sync() error {
	e.mu.Lock()
	j := e.journal
	e.mu.Unlock()
	if j == nil {
		return nil
	}
	err := j.Sync()
	if err == nil || !errors.Is(err, os.ErrClosed) {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.journal != j && !e.closed {
		return nil // All that was in it was saved meanwhile.
	}
	return err
}

// syncToSave is sync ahead of a save, which needs no journal unless the process dies
// meanwhile: that it fails is told, and no reason not to save.
func (e *ledger) syncToSave() {
	if err := e.sync(); err != nil {
		e.log.Warn("the journal fails: a power cut before all is saved would lose edits", "err", err)
	}
}

// close gives everything back. Edits that are not saved stay in the journal.
func (e *ledger) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	var errs []error
	if e.journal != nil && e.journal.Records() == 0 {
		e.drop() // the first edit did not get into it
	}
	if e.journal != nil {
		errs = append(errs, e.journal.Close())
		e.journal = nil
	}
	if e.locked != nil {
		errs = append(errs, e.locked.Close())
		e.locked = nil
	}
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
		e.lock = nil
	}
	return errors.Join(errs...)
}
