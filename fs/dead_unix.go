//go:build linux || darwin || freebsd

package fs

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// answerTime is how long a mount may take to answer. A call to a mount whose server hangs
// never returns, and can't be canceled.
const answerTime = 2 * time.Second

// Probe asks the file system on dir for its statistics. If it does not answer, Probe
// returns [ErrDead] or [ErrSilent]. It uses statfs, because the kernel would answer stat
// from its cache even after the server died.
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

// Clear removes a mount on dir that has no server. It first aborts a mount that does not
// answer: the server may be a process that was killed while it waited for itself, and would
// hold its locks forever. It aborts only mounts of lorefs that this user made.
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
			return nil // it was not in use any more, and has gone
		}
	}
	if err := Detach(dir); err != nil {
		return fmt.Errorf("%w, and cannot be detached: %w", state, err)
	}
	return nil
}
