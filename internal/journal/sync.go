package journal

import (
	"fmt"
	"os"
	"time"
)

// Sync returns when all records that were appended before are on the disk. Those
// who call it at the same time share the work. If it fails, the journal can never
// be used again (the error matches ErrUnusable): the system may have dropped what
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
		j.syncOnce()
	}
	return j.failed
}

func (j *Journal) syncOnce() {
	f, upTo := j.file, j.size
	j.syncing = true
	j.mu.Unlock()
	err := f.Sync()
	j.mu.Lock()
	j.syncing = false
	j.idle.Broadcast()
	if err != nil {
		j.failed = fmt.Errorf("journal %s: %w: %w", j.path, ErrUnusable, err)
		j.stopLate()
		return
	}
	if j.synced = upTo; j.synced == j.size {
		j.stopLate()
	}
}

// syncLater sees to it that what was just appended is synced. It needs mu.
func (j *Journal) syncLater() {
	if j.late == nil {
		j.late = time.AfterFunc(syncAfter, j.syncLate)
	}
}

// syncLate runs by itself. An error of it stays for the next who asks.
func (j *Journal) syncLate() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	// From here on, a new record needs a new timer.
	j.late = nil
	_ = j.syncTo(j.size)
}

func (j *Journal) stopLate() {
	if j.late != nil {
		j.late.Stop()
		j.late = nil
	}
}
