package journal

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lorefs/internal/disk"
)

// Journal is an open journal. Its methods are safe for parallel use.
type Journal struct {
	fs   disk.FS
	path string
	head head

	// mu guards the fields below. It is held while a record is written, but not while the
	// file is synced.
	mu   sync.Mutex
	file disk.File // nil once closed
	// size is the end of the last whole record. The disk is known to have the records up to synced,
	// and a promise of them.
	size, synced int64
	records      int
	// promises are those of the slots. Only the goroutine that syncs changes them.
	promises promises
	// torn is set while there are bytes behind size that could not be cut off.
	torn   bool
	closed bool
	// failed says why the journal is unusable, forever.
	failed error

	// syncing is set while a goroutine syncs; idle is signaled at the end.
	syncing bool
	idle    *sync.Cond
	// late syncs what was appended and not synced since; nil if there is nothing.
	late *time.Timer

	// buf holds the last record; only small ones are kept.
	buf []byte
}

const (
	// syncAfter is how long a record waits to be synced. It should be on the disk within a
	// second, and the disk needs time too.
	syncAfter = 500 * time.Millisecond
	// maxSpareBuf is the largest buffer of a record that is kept.
	maxSpareBuf = 1 << 20
)

// newJournal takes over a file. The file is synced, but its slots may not promise all of its
// records.
func newJournal(fs disk.FS, path string, f disk.File, c *Contents) *Journal {
	j := &Journal{
		fs: fs, path: path, file: f, head: c.head,
		size: c.end, records: c.records, promises: c.promises,
	}
	if c.promises.whole() { // else the next sync repairs a slot
		j.synced = c.promises.last()
	}
	j.idle = sync.NewCond(&j.mu)
	return j
}

// Append adds a record of 1 to MaxPayload bytes. Once it returns, the record outlasts the
// process; within a second, or when Sync returns, it outlasts a power cut. If it fails, as
// for lack of space, the journal is as before and remains usable; the error wraps the
// system's.
func (j *Journal) Append(payload []byte) error {
	if len(payload) < 1 || len(payload) > MaxPayload {
		return fmt.Errorf("journal: a record of %d bytes, want 1 to %d", len(payload), MaxPayload)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return err
	}
	if err := j.cut(); err != nil {
		return j.wrap(err)
	}
	// Use a single write: a kill leaves all or a part of it, and the checksum reveals a part.
	j.buf = appendRecord(j.buf[:0], j.head.mark, j.size, payload)
	if err := disk.WriteFull(j.file, j.buf, j.size); err != nil {
		j.torn = true
		return j.wrap(errors.Join(err, j.cut()))
	}
	j.size += int64(len(j.buf))
	j.records++
	if cap(j.buf) > maxSpareBuf {
		j.buf = nil
	}
	j.syncLater()
	return nil
}

// cut cuts off what a failed write left. If that fails, it must succeed before anything else is
// written: after a shorter record, the rest would remain.
func (j *Journal) cut() error {
	if !j.torn {
		return nil
	}
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	j.torn = false
	return nil
}

// usable returns nil if the journal can be written to. The caller holds mu.
func (j *Journal) usable() error {
	if j.failed != nil {
		return j.failed
	}
	if j.closed {
		return j.wrap(os.ErrClosed)
	}
	return nil
}

func (j *Journal) wrap(err error) error { return fmt.Errorf("journal %s: %w", j.path, err) }

// Path returns the path of the journal.
func (j *Journal) Path() string { return j.path }

// Size returns the length of the journal in bytes.
func (j *Journal) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// Records returns how many records the journal holds.
func (j *Journal) Records() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.records
}

// Close syncs the journal and closes it. The file stays. Closing again does nothing.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true // no record can follow, so this syncs everything
	return errors.Join(j.syncTo(j.size), j.shut())
}

// Remove closes the journal, if that was not done before, and removes its file for good. It
// does not sync.
func (j *Journal) Remove() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	err := j.shut()
	rmErr := j.fs.Remove(j.path)
	if errors.Is(rmErr, iofs.ErrNotExist) {
		rmErr = nil
	}
	if rmErr == nil {
		rmErr = j.fs.SyncDir(filepath.Dir(j.path))
	}
	if rmErr != nil {
		err = errors.Join(err, j.wrap(rmErr))
	}
	return err
}

// shut closes the file when running syncs are done. The caller holds mu, and has set
// closed.
func (j *Journal) shut() error {
	for j.syncing {
		j.idle.Wait()
	}
	j.stopLate()
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	if err != nil {
		return j.wrap(err)
	}
	return nil
}
