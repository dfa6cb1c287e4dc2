package journal

import (
	"fmt"
	"os"
	"time"

	"lorefs/internal/disk"
)

// Sync returns when all records that were appended before are on the disk. Those
// who call it at the same time share the work. If the system fails to sync, the journal
// can never be used again (the error matches ErrUnusable): it may have dropped what
// it could not write, and would not fail a second time.
func (j *Journal) Sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return err
	}
	return j.syncTo(j.size)
}

// syncTo syncs until the disk has the journal up to end. It needs mu, which it
// gives up while it waits.
func (j *Journal) syncTo(end int64) error {
	for j.failed == nil && j.synced < end {
		if j.syncing {
			// That one may have begun too early for end; then one of those who wait
			// syncs for all.
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

// syncOnce syncs what there is now, and a promise that it is there.
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
		return j.wrap(promiseErr) // as for want of room: the next sync writes the same slot again
	}
	j.promises[slot] = upTo
	if j.synced = upTo; j.synced == j.size {
		j.stopLate()
	}
	return nil
}

// promise writes to a slot that the journal is whole up to end.
func (j *Journal) promise(f disk.File, slot int, end int64) error {
	return disk.WriteFull(f, appendSlot(nil, j.head.mark, end), j.head.slots+int64(slot)*slotBlock)
}

// syncLater sees to it that what was just appended is synced. It needs mu.
func (j *Journal) syncLater() {
	if j.late == nil {
		j.late = time.AfterFunc(syncAfter, j.syncLate)
	}
}

// syncLate runs by itself. If the disk fails, that stays for the next who asks; else it
// tries again.
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
