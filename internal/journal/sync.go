package journal

import (
	"fmt"
	"os"
	"time"

	"lorefs/internal/disk"
)

// Sync returns when all records that were appended before are on the disk. Concurrent
// callers share the work. If the system fails to sync, the journal can never be used again
// (the error matches ErrUnusable): the system may have dropped what it could not write, and
// would not fail a second time.
func (j *Journal) Sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return err
	}
	return j.syncTo(j.size)
}

// syncTo syncs until the disk has the journal up to end. The caller holds mu; syncTo
// releases it while it waits.
func (j *Journal) syncTo(end int64) error {
	for j.failed == nil && j.synced < end {
		if j.syncing {
			// That sync may have begun too early for end; then one of the waiting
			// goroutines syncs for all.
			j.idle.Wait()
			continue
		}
		if j.file == nil {
			return j.wrap(os.ErrClosed) // removed while this one waited
		}
		if err := j.syncOnce(); err != nil {
			return err
		}
	}
	return j.failed
}

// syncOnce syncs what is there now, and a promise of it.
func (j *Journal) syncOnce() error {
	f, upTo, slot := j.file, j.size, j.promises.older()
	j.syncing = true
	j.mu.Unlock()
	promiseErr := j.promise(f, slot, upTo)
	err := f.Sync()
	j.mu.Lock()
	j.syncing = false
	j.idle.Broadcast()
	if err != nil {
		j.failed = fmt.Errorf("journal %s: %w: %w", j.path, ErrUnusable, err)
		j.stopLate()
		return j.failed
	}
	if promiseErr != nil {
		return j.wrap(promiseErr) // as for lack of space: the next sync writes the same slot again
	}
	j.promises[slot] = upTo
	if j.synced = upTo; j.synced == j.size {
		j.stopLate()
	}
	return nil
}

// promise writes into a slot that the journal is whole up to end.
func (j *Journal) promise(f disk.File, slot int, end int64) error {
	return disk.WriteFull(f, appendSlot(nil, j.head.mark, end), j.head.slots+int64(slot)*slotBlock)
}

// syncLater makes sure that what was just appended is synced. The caller holds mu.
func (j *Journal) syncLater() {
	if j.late == nil {
		j.late = time.AfterFunc(syncAfter, j.syncLate)
	}
}

// syncLate runs by a timer. If the disk fails, the next caller gets that error; otherwise
// it tries again.
func (j *Journal) syncLate() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	// From here on, a new record needs a new timer.
	j.late = nil
	if err := j.syncTo(j.size); err != nil && j.failed == nil {
		j.syncLater()
	}
}

func (j *Journal) stopLate() {
	if j.late != nil {
		j.late.Stop()
		j.late = nil
	}
}
