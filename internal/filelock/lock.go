package filelock

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// ErrLocked means that somebody else holds the lock: another process, or this one by
// another opening of the same file.
var ErrLocked = errors.New("somebody else holds the lock")

const (
	// lockPerm keeps others from opening, and so from holding, a lock.
	lockPerm = 0o600
	// maxNote is how much of a lock file is read.
	maxNote = 8 << 10
)

// HeldError says who holds a lock. It matches ErrLocked.
type HeldError struct {
	Path string
	// PID is the process that holds it, or 0 if the file does not say.
	PID int
	// What is locked, as the holder wrote it.
	What string
	// Since is when the holder took the lock.
	Since time.Time
}

func (e *HeldError) Error() string {
	who, what := "another process", e.Path
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	if e.What != "" {
		what = fmt.Sprintf("%s (%s)", e.What, e.Path)
	}
	return fmt.Sprintf("%s is locked by %s", what, who)
}

// Is makes the error match ErrLocked.
func (e *HeldError) Is(target error) bool { return target == ErrLocked }

// Lock is a lock that this process holds.
type Lock struct{ file *os.File }

// Acquire takes the lock file at path, which it makes if needed, and writes the process
// and, in one line, what is locked into it. It does not wait: if somebody else holds the
// lock, the error is a *HeldError. It does not follow a link at path.
func Acquire(path, what string) (*Lock, error) {
	f, err := OpenFile(path, os.O_RDWR|os.O_CREATE, lockPerm)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	err = lockUnprobed(path, f)
	if errors.Is(err, ErrLocked) {
		err = held(path, f)
	}
	if err == nil {
		err = note(f, what)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{file: f}, nil
}

const (
	// probes is how often Acquire tries again if only a Probe is in its way, and probeTime
	// how long it waits each time: far longer than a Probe takes.
	probes    = 500
	probeTime = time.Millisecond
)

// lockUnprobed locks a lock file, and does not count a Probe as its holder.
func lockUnprobed(path string, f *os.File) error {
	for range probes {
		err := LockFile(f)
		if !errors.Is(err, ErrLocked) || Probe(path) != nil {
			return err
		}
		time.Sleep(probeTime)
	}
	return LockFile(f)
}

// Probe returns a *HeldError while somebody holds the lock file at path. It neither makes
// the file nor changes it, and keeps nobody from acquiring it.
func Probe(path string) error {
	f, err := OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil // nobody has ever held it
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer f.Close()
	err = ProbeFile(f)
	if errors.Is(err, ErrLocked) {
		return held(path, f)
	}
	return err
}

// note writes down who holds the lock. It need not be synced: readers see it through the
// same kernel that holds the lock.
func note(f *os.File, what string) error {
	line := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, what)
	err := f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(fmt.Appendf(nil, "%d\n%s\n", os.Getpid(), line), 0)
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

// held returns the error for a lock that somebody else holds.
func held(path string, f *os.File) error {
	e := heldError(path, f)
	info, err := f.Stat()
	if err != nil {
		return errors.Join(e, err)
	}
	e.Since = info.ModTime()
	return e
}

// heldError reads who holds a lock. A holder that was killed leaves its note, and the next
// one needs a moment to write its own, so this is information for people and not for
// decisions.
func heldError(path string, r io.ReaderAt) *HeldError {
	e := &HeldError{Path: path}
	s := bufio.NewScanner(io.NewSectionReader(r, 0, maxNote))
	if !s.Scan() {
		return e
	}
	pid, err := strconv.Atoi(s.Text())
	if err != nil || pid <= 0 {
		return e
	}
	e.PID = pid
	if s.Scan() {
		e.What = s.Text()
	}
	return e
}

// Close releases the lock. Closing again does nothing.
func (l *Lock) Close() error {
	if l.file == nil {
		return nil
	}
	// Empty the file while it is still locked: later the note could be another's.
	err := errors.Join(l.file.Truncate(0), l.file.Close())
	l.file = nil
	return err
}

// LockFile locks an open file for this opening of it, without waiting. The error matches
// ErrLocked if somebody else holds it, and errors.ErrUnsupported where files can't be
// locked. The lock ends when f is closed.
func LockFile(f *os.File) error { return lockFile(f, exclusive) }

// ProbeFile returns an error that matches ErrLocked while another opening of the file is locked.
func ProbeFile(f *os.File) error { return lockFile(f, shared) }

// mode says who else may hold a lock at the same time.
type mode bool

const (
	exclusive mode = false // nobody
	shared    mode = true  // all others that are shared
)

func lockFile(f *os.File, m mode) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	var lockErr error
	if err := conn.Control(func(fd uintptr) { lockErr = tryLock(fd, m) }); err != nil {
		lockErr = err
	}
	if lockErr != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), lockErr)
	}
	return nil
}
