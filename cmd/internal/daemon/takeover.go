package daemon

import (
	"context"
	"errors"
	"os"
	"time"

	"lorefs/cmd/internal/save"
	"lorefs/internal/filelock"
)

const (
	// EndTimeout is how long to wait for the end of a process that has lost its mount.
	EndTimeout = 30 * time.Second
	// dyingPoll is how often a process that is about to end is checked.
	dyingPoll = 20 * time.Millisecond
	// stayTime is how long another process must have held a journal to count as its new
	// owner: a mount that is refused, or a journal drop, holds it for a moment.
	stayTime = time.Second
)

// TakeOver calls edit, which begins to edit, until it gets the locks. A process that was
// killed keeps its locks until it has ended, some time after its mount has gone, so
// TakeOver waits for it.
func TakeOver(ctx context.Context, edit func() error) error {
	for began := time.Now(); ; {
		err := edit()
		held, known := errors.AsType[*filelock.HeldError](err)
		switch waited := time.Since(began); {
		case known && isDying(held.PID) && waited < EndTimeout:
		case !known && errors.Is(err, filelock.ErrLocked) && waited < stayTime:
			// It releases its locks one after the other.
		default:
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(dyingPoll):
		}
	}
}

// AwaitJournal calls find until the process that served the mount on name, a [Name], has
// released the journal. The kernel removes the mount of a killed process before it releases
// its locks. taken says that another process holds the journal now, and so has everything
// that the first one left.
func AwaitJournal(name string, find func() (save.Journal, error)) (j save.Journal, taken bool, err error) {
	var held, since time.Time // of who took over
	for end := time.Now().Add(EndTimeout); ; time.Sleep(dyingPoll) {
		j, err := find()
		if err != nil || j.State != save.StateInUse {
			return j, false, err
		}
		taken := takenOver(name, &j)
		now := time.Now()
		switch {
		case now.After(end):
			return j, taken, nil
		case !taken:
			continue
		case !j.Held.Equal(held):
			held, since = j.Held, now
		case now.Sub(since) >= stayTime:
			return j, true, nil
		}
	}
}

// takenOver reports whether the process that holds a journal took it after the process that
// served name. The latter took its lock before it mounted, and listened after that.
func takenOver(name string, j *save.Journal) bool {
	path, err := SocketPath(name)
	if err != nil {
		return false
	}
	socket, err := os.Lstat(path)
	return err == nil && j.Held.After(socket.ModTime())
}
