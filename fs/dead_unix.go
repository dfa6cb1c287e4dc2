//go:build linux || darwin || freebsd

package fs

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// answerTime is how long a mount may take to answer at all. A call to one whose server
// hangs never returns, and can't be broken off.
const answerTime = 2 * time.Second

// Probe asks the file system on dir for something, and returns [ErrDead] or [ErrSilent]
// if it has no answer. It asks by statfs, because the kernel would answer stat from what a
// dead server once told it.
func Probe(dir string) error {
	answer := make(chan error, 1)
	go func() {
		var st unix.Statfs_t
		answer <- unix.Statfs(dir, &st)
	}()
	select {
	case err := <-answer:
		if errors.Is(err, unix.ENOTCONN) {
			return ErrDead
		}
		return nil
	case <-time.After(answerTime):
		return ErrSilent
	}
}

// Clear takes away a mount on dir that nobody serves. One that is silent is aborted
// before: its server may be a process that was killed while it waited for itself, and
// holds its locks until then. That is done only to mounts of lorefs that this user made.
func Clear(dir string) error {
	state := Probe(dir)
	if state == nil {
		return nil
	}
	if errors.Is(state, ErrSilent) {
		if err := abort(dir); err != nil {
			return fmt.Errorf("%w: %w", state, err)
		}
		if Probe(dir) == nil {
			return nil // it was in no use any more, and has gone
		}
	}
	if err := Detach(dir); err != nil {
		return fmt.Errorf("%w, and cannot be detached: %w", state, err)
	}
	return nil
}
