package diskspace

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// Space is the space of a folder's file system for this process, in bytes.
type Space struct{ Free, Total int64 }

// maxReserve is the most that is left free.
const maxReserve = 1 << 30

// Reserve returns how much is left free: a hundredth of the file system, at most 1 GiB.
func (s Space) Reserve() int64 { return min(s.Total/100, maxReserve) }

// Room returns how much may be written.
func (s Space) Room() int64 { return max(s.Free-s.Reserve(), 0) }

// For returns the space of the file system that a folder is on, or will be once it is made.
func For(dir string) (Space, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Space{}, err
	}
	for {
		s, err := Of(dir)
		if up := filepath.Dir(dir); errors.Is(err, iofs.ErrNotExist) && up != dir {
			dir = up
			continue
		}
		return s, err
	}
}

// LowError says that writing stopped because little space is left. It matches
// [syscall.ENOSPC].
type LowError struct{ Space }

func (e *LowError) Error() string {
	return fmt.Sprintf("the disk is nearly full: %d bytes are free, and %d are left for others", e.Free, e.Reserve())
}

// Is makes the error match syscall.ENOSPC.
func (e *LowError) Is(target error) bool { return target == syscall.ENOSPC }

// IsFull reports whether an error means that there is no space left, or none for this user,
// so that further writes will fail too.
func IsFull(err error) bool {
	for _, full := range fullErrors {
		if errors.Is(err, full) {
			return true
		}
	}
	return false
}

// Guard checks the free space while much is written. It is safe for parallel use.
type Guard struct {
	dir string
	// left is how many bytes may be written until the next check.
	left atomic.Int64
	of   func(dir string) (Space, error)
}

// NewGuard makes a Guard for a folder and everything below it.
func NewGuard(dir string) *Guard { return &Guard{dir: dir, of: Of} }

const (
	// maxStep is the most that is written between two checks, because others write as well.
	maxStep = 8 << 20
	// EntrySize is about what a file or a folder takes besides its content.
	EntrySize = 4 << 10
)

// Take must be called before n bytes are written. The error is a [LowError].
func (g *Guard) Take(n int64) error {
	if g.left.Add(-n) >= 0 {
		return nil
	}
	s, err := g.of(g.dir)
	if err != nil {
		g.left.Store(maxStep)
		return nil //nolint:nilerr // not every file system says: writing fails when it is full
	}
	if s.Room() < n {
		return &LowError{s}
	}
	const share = 4 // of the room, as several may look at the same time
	g.left.Store(min(s.Room()/share, maxStep))
	return nil
}
