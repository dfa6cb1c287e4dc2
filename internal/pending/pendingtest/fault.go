// Package pendingtest fails what those who save edits ask of the disk, and stops the
// world before each step of theirs, for tests.
package pendingtest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"lorefs/internal/journal"
	"lorefs/internal/pending"
	"lorefs/internal/replace"
)

// ErrFault is the error of what was made to fail.
var ErrFault = errors.New("a fault")

// Steps are those of a save with a backup, in their order.
var Steps = steps()

func steps() []replace.Step {
	all := []replace.Step{
		replace.StepFind, replace.StepSpace, replace.StepCreate, replace.StepWrite, replace.StepMode, replace.StepSync,
		replace.StepVerify, replace.StepCheck, replace.StepReady, replace.StepLink, replace.StepBackup,
		replace.StepSyncBackup, replace.StepName, replace.StepRename, replace.StepLook, replace.StepSyncDir,
	}
	if runtime.GOOS == "linux" {
		return all
	}
	return slices.DeleteFunc(all, func(s replace.Step) bool { // nothing is exchanged there
		return s == replace.StepName || s == replace.StepLook
	})
}

// OfNew are the steps of a new file where there was none, until it is in place.
var OfNew = slices.DeleteFunc(steps(), func(s replace.Step) bool {
	switch s {
	case replace.StepCheck, replace.StepLink, replace.StepBackup, replace.StepSyncBackup, replace.StepName,
		replace.StepLook, replace.StepSyncDir:
		return true
	}
	return false
})

// FaultAt is a hook of replace that fails one step, the nth time that it begins.
func FaultAt(step replace.Step, nth int) func(replace.Step) error {
	var mu sync.Mutex
	n := 0
	return func(s replace.Step) error {
		mu.Lock()
		defer mu.Unlock()
		if s == step {
			n++
		}
		if s == step && n == nth {
			return ErrFault
		}
		return nil
	}
}

// Failing gives a disk on which one operation fails a number of times: "create",
// "resume", "sync folder", "append K" of a record of kind K, "sync" or "remove". Once a
// sync has failed, the journal can't be used, as a real one.
func Failing(op string, times int) pending.System {
	return &broken{fault: func(now string) error {
		if now == op && times > 0 {
			times--
			return fmt.Errorf("%w: %w", ErrFault, syscall.ENOSPC)
		}
		return nil
	}}
}

// broken is a disk on which fault is asked before each operation of the journal, and
// its error is that of the operation.
type broken struct {
	pending.Disk
	fault func(op string) error
}

func (b *broken) Create(path string, header []byte) (pending.Log, error) {
	if err := b.fault("create"); err != nil {
		return nil, err
	}
	j, err := b.Disk.Create(path, header)
	if err != nil {
		return nil, err
	}
	return &brokenJournal{j, b, nil}, nil
}

func (b *broken) Resume(path string) (pending.Log, *journal.Contents, error) {
	if err := b.fault("resume"); err != nil {
		return nil, nil, err
	}
	j, contents, err := b.Disk.Resume(path)
	if err != nil {
		return nil, nil, err
	}
	return &brokenJournal{j, b, nil}, contents, nil
}

func (b *broken) SyncDir(path string) error {
	if err := b.fault("sync folder"); err != nil {
		return err
	}
	return b.Disk.SyncDir(path)
}

type brokenJournal struct {
	pending.Log
	b        *broken
	unusable error
}

func (j *brokenJournal) Append(p []byte) error {
	if j.unusable != nil {
		return j.unusable
	}
	if err := j.b.fault("append " + string(p[:1])); err != nil {
		return err
	}
	return j.Log.Append(p)
}

func (j *brokenJournal) Sync() error {
	if j.unusable != nil {
		return j.unusable
	}
	if err := j.b.fault("sync"); err != nil {
		j.unusable = fmt.Errorf("%w: %w", journal.ErrUnusable, err)
		return j.unusable
	}
	return j.Log.Sync()
}

func (j *brokenJournal) Remove() error {
	if err := j.b.fault("remove"); err != nil {
		return err
	}
	return j.Log.Remove()
}
