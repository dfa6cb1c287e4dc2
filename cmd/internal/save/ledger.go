package save

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"lorefs/internal/disk"
	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/shareopen"
)

// ledger holds the journal and the locks of a source that this process edits. Its methods are safe
// for parallel use.
type ledger struct {
	kind   *Kind
	source string
	log    *slog.Logger
	disk   disk.FS
	lock   *filelock.Lock
	// patch is as in Options.
	patch func(j *Journal, base string, why error) ([]byte, error)

	// mu guards the fields below.
	mu sync.Mutex
	// locked is the source, opened to lock it against other users.
	locked *os.File
	// journal is nil until there is an edit to keep. info describes its file.
	journal *journal.Journal
	info    os.FileInfo
	// spent is a journal whose edits are all saved, but that could not be removed.
	spent  *journal.Journal
	closed bool
	// tried has the files of which a base was kept, or could not be, and lacks says that one could not.
	tried map[string]Identity
	lacks bool

	// bases are being synced.
	bases sync.WaitGroup
}

// hold locks a source for this process, which edits what is at a path. It must have no links. If
// another process has the source, the error matches [filelock.ErrLocked]. If it is a file, hold
// removes what an unfinished save has left beside it. Call resume next, to get the journal that a crash has left.
func (k *Kind) hold(path string, o *Options) (*ledger, error) {
	source := cmp.Or(o.Source, path)
	e := &ledger{kind: k, source: source, log: o.Logger, disk: o.Disk, patch: o.Patch, tried: map[string]Identity{}}
	var err error
	if e.lock, err = acquire(nameOf(source), source); err != nil {
		return nil, err
	}
	// Sweep before locking the source: what a save has left may be another name of the source, and
	// a locked file looks as if its writer were alive.
	if !k.Many {
		e.sweep(source)
	}
	if e.locked, err = lockSource(path); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// lockSource locks a source against other users, whose locks are in another state folder. Nothing
// is locked where that is impossible: on Windows folders can't be locked, nor can files on some
// network file systems.
func lockSource(path string) (*os.File, error) {
	f, err := shareopen.Read(path, 0)
	if err != nil {
		return nil, err
	}
	if err := filelock.LockFile(f); errors.Is(err, filelock.ErrLocked) {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, nil
}

// lockAgain locks the file that is now at the path of the source, instead of the earlier one.
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

// path returns the path of the journal, empty if there is none.
func (e *ledger) path() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.journal == nil {
		return ""
	}
	return e.journal.Path()
}

// append adds records to the journal. If there is none it is made, with the header that head
// returns. An error is an [*AppendError], unless the ledger is closed.
func (e *ledger) append(head func() ([]byte, error), records ...[]byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return os.ErrClosed
	}
	for _, record := range records {
		err := e.appendOne(head, record)
		if err != nil && e.giveUpBases(err) {
			err = e.appendOne(head, record)
		}
		if err != nil {
			return e.appendError(err)
		}
	}
	return nil
}

func (e *ledger) appendError(err error) error {
	path, pathErr := e.kind.JournalPath(e.source)
	return &AppendError{Journal: path, Err: errors.Join(err, pathErr)}
}

// appendOne adds one record. The caller holds mu.
func (e *ledger) appendOne(head func() ([]byte, error), record []byte) error {
	if err := e.begun(head); err != nil {
		return err
	}
	if !e.inPlace() {
		return fmt.Errorf("the journal %s was removed by somebody: only saving helps", e.journal.Path())
	}
	return e.journal.Append(record)
}

// inPlace reports whether the open journal is still at its path, where the next session would find
// it. The caller holds mu.
func (e *ledger) inPlace() bool {
	info, err := os.Lstat(e.journal.Path())
	return err == nil && os.SameFile(info, e.info)
}

// begun makes the journal if there is none. The caller holds mu.
func (e *ledger) begun(head func() ([]byte, error)) error {
	if e.journal != nil {
		return nil
	}
	if err := e.begin(head); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
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

// take makes j the journal of the ledger. The caller holds mu.
func (e *ledger) take(j *journal.Journal) error {
	info, err := os.Lstat(j.Path())
	if err == nil {
		e.journal, e.info = j, info
	}
	return err
}

// announce writes to the journal, if there is one, what is about to be saved or was saved, and
// syncs it. If that fails and must is not set, it only logs the error. A save can go on without
// these records: if the process dies before the journal is removed, no edit is lost, but the
// journal is stale and the user has to decide about it.
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

// add adds a record, if there is a journal. It does not sync.
func (e *ledger) add(record []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.journal == nil || !e.inPlace() {
		return nil
	}
	return e.journal.Append(record)
}

// settle removes the journal of a source that has all edits. dir is the folder of the source or, if
// the source is a folder, that folder. settle syncs it first, since the process that saved the
// edits may have died before doing so: a power cut could bring the old file back when the journal
// is gone.
func (e *ledger) settle(dir string) error {
	if err := e.disk.SyncDir(dir); err != nil {
		return err
	}
	e.log.Info("the journal is removed: what it holds was saved", "journal", e.path())
	e.retire()
	return nil
}

// retire removes the journal, whose edits are all saved. If that fails it does no harm: the next
// edit tries again, and so does the next session.
func (e *ledger) retire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop()
}

// discard removes the journal with its edits. The next session would replay them if that fails.
func (e *ledger) discard() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop()
	if e.spent != nil {
		return fmt.Errorf("the edits are still in %s, which can't be removed", e.spent.Path())
	}
	return nil
}

// drop is retire for callers that hold mu.
func (e *ledger) drop() {
	if e.journal == nil {
		return
	}
	err := e.journal.Remove()
	if err != nil {
		e.log.Warn("the journal of what is saved can't be removed yet", "journal", e.journal.Path(), "err", err)
		e.spent = e.journal
	} else if err = e.dropBases(e.journal.Path()); err != nil {
		e.log.Warn("a copy of what was edited can't be removed yet", "err", err)
	}
	e.journal = nil
}

// dropBases calls [dropBases] when no base is being synced. The caller holds mu.
func (e *ledger) dropBases(journal string) error {
	e.bases.Wait()
	clear(e.tried)
	return dropBases(journal)
}

// sync returns when all edits made so far would survive a power cut, with the bases that they need.
func (e *ledger) sync() error {
	e.bases.Wait()
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
		return nil // All its edits were saved meanwhile.
	}
	return err
}

// syncToSave is sync before a save. A save needs the journal only if the process dies, so an error
// is logged only.
func (e *ledger) syncToSave() {
	if err := e.sync(); err != nil {
		e.log.Warn("the journal fails: a power cut before all is saved would lose edits", "err", err)
	}
}

// close releases the locks and closes the journal. Unsaved edits stay in the journal.
func (e *ledger) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.bases.Wait()
	var errs []error
	if e.journal != nil && e.journal.Records() == 0 {
		e.drop() // the first edit could not be added to it
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
