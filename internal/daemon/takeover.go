package daemon

import (
	"context"
	"errors"
	"os"
	"time"

	"lorefs/internal/filelock"
	"lorefs/internal/save"
)

const (
	// EndTimeout is how long a process is waited for that has lost its mount.
	EndTimeout = 30 * time.Second
	// dyingPoll is how often a process is looked at that is about to end.
	dyingPoll = 20 * time.Millisecond
	// stayTime is how long who takes over a journal has to keep it to be believed: a mount
	// that is refused, or a journal drop, has it for a moment.
	stayTime = time.Second
)

// TakeOver begins to edit, by edit. A process that was killed has its locks until it has
// ended, which may be some time after its mount has gone, and is waited for.
func TakeOver(ctx context.Context, edit func() error) error {
	for began := time.Now(); ; {
		err := edit()
		held, known := errors.AsType[*filelock.HeldError](err)
		switch waited := time.Since(began); {
		case known && isDying(held.PID) && waited < EndTimeout:
		case !known && errors.Is(err, filelock.ErrLocked) && waited < stayTime:
			// Of its locks, one goes after the other.
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

// AwaitJournal gives what find finds as soon as the process that served the mount on name, a
// [Name], holds that journal no more: the kernel takes the mount from a process that was
// killed before it takes its locks. taken tells that another process has the journal now, and
// so has all that the first one left.
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

// takenOver tells whether whoever has a journal in use came behind the process that
// served name, and so has all that it left. That one took the lock before it mounted,
// and listened behind that.
func takenOver(name string, j *save.Journal) bool {
	path, err := SocketPath(name)
	if err != nil {
		return false
	}
	socket, err := os.Lstat(path)
	return err == nil && j.Held.After(socket.ModTime())
}
