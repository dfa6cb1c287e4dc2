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

// Journal is an open journal. Its methods may be called from many goroutines at
// once.
type Journal struct {
	fs   disk.FS
	path string
	head head

	// mu guards what follows. It is held while a record is written, but not while
	// the file is synced.
	mu   sync.Mutex
	file disk.File // nil once closed
	// size is where the last whole record ends, and synced up to where the disk is
	// known to have them, and to promise them.
	size, synced int64
	records      int
	// promises are those of the slots. Whoever syncs changes them.
	promises promises
	// torn is set while behind size lies what could not be cut off.
	torn   bool
	closed bool
	// failed is why the journal is unusable, for ever.
	failed error

	// syncing is set while somebody syncs; idle is told when that is over.
	syncing bool
	idle    *sync.Cond
	// late syncs what was appended and nobody synced since; nil if there is nothing.
	late *time.Timer

	// buf holds the last record; only small ones are kept.
	buf []byte
}

const (
	// syncAfter is how long a record waits for somebody to sync it. It is to be on
	// the disk within a second, and the disk takes its time.
	syncAfter = 500 * time.Millisecond
	// keepBuf is the size up to which the buffer of a record is used again.
	keepBuf = 1 << 20
)

// newJournal takes over a file that is synced, though maybe not as far as it promises.
func newJournal(fs disk.FS, path string, f disk.File, c *Contents) *Journal {
	j := &Journal{
		fs: fs, path: path, file: f, head: c.head,
		size: c.end, records: c.records, promises: c.promises,
	}
	if c.promises.whole() { // else the next sync has a slot to mend
		j.synced = c.promises.last()
	}
	j.idle = sync.NewCond(&j.mu)
	return j
}

// Append adds a record of 1 to MaxPayload bytes. Once it returns, the record
// outlasts the process; within a second, or when Sync returns, it outlasts a power
// cut. If it fails, as for want of room, the journal is as it was before and can
// be used on; the error wraps the system's.
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
	// One buffer makes one write, of which a kill leaves all or, to be found by
	// its checksum, a part.
	j.buf = appendRecord(j.buf[:0], j.head.mark, j.size, payload)
	if err := disk.WriteFull(j.file, j.buf, j.size); err != nil {
		j.torn = true
		return j.wrap(errors.Join(err, j.cut()))
	}
	j.size += int64(len(j.buf))
	j.records++
	if cap(j.buf) > keepBuf {
		j.buf = nil
	}
	j.syncLater()
	return nil
}

// cut cuts off what a failed write left. If that fails, it is tried again before
// anything else is written: a shorter record would leave the rest behind it.
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

// usable is nil if the journal can be written to. It needs mu.
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

// Path is where the journal lies.
func (j *Journal) Path() string { return j.path }

// Size is the length of the journal in bytes.
func (j *Journal) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// Records is how many records the journal holds.
func (j *Journal) Records() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.records
}

// Close syncs the journal and closes it. The file stays. Closing again does
// nothing.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true // Nothing more comes, so this is all that there is to sync.
	return errors.Join(j.syncTo(j.size), j.shut())
}

// Remove closes the journal, if that was not done before, and removes its file
// for good. What was not synced yet is not.
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

// shut closes the file. Whoever still syncs it does so to the end. It needs mu,
// and closed to be set.
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
