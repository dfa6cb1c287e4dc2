// Package diskspace knows how much room there is on a disk, and keeps what writes much from
// filling it: a system whose disk is full fails in many ways that nobody connects with a
// file that was exported.
package diskspace

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// Space is what the file system of a folder offers this process, in bytes.
type Space struct{ Free, Total int64 }

// maxReserve is the most that is left free.
const maxReserve = 1 << 30

// Reserve returns what is left free: a hundredth of the file system, or 1 GiB if that is less.
func (s Space) Reserve() int64 { return min(s.Total/100, maxReserve) }

// Room returns what may be written.
func (s Space) Room() int64 { return max(s.Free-s.Reserve(), 0) }

// For asks the file system that a folder is on, or will be.
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

// LowError tells that so little is free that writing has ended. It matches
// [syscall.ENOSPC].
type LowError struct{ Space }

func (e *LowError) Error() string {
	return fmt.Sprintf("the disk is nearly full: %d bytes are free, and %d are left for others", e.Free, e.Reserve())
}

// Is makes the error match syscall.ENOSPC.
func (e *LowError) Is(target error) bool { return target == syscall.ENOSPC }

// IsFull reports whether an error means that there is no room left, or none for this user:
// what is written next will fail as well.
func IsFull(err error) bool {
	for _, full := range fullErrors {
		if errors.Is(err, full) {
			return true
		}
	}
	return false
}

// Guard watches the room while much is written. It is safe for parallel use.
type Guard struct {
	dir string
	// left is how many bytes may be written until the next look.
	left atomic.Int64
	of   func(dir string) (Space, error)
}

// NewGuard makes one for a folder and all below it.
func NewGuard(dir string) *Guard { return &Guard{dir: dir, of: Of} }

const (
	// maxStep is the most that is written from one look at the file system to the next:
	// others write as well.
	maxStep = 8 << 20
	// EntrySize is about what a file or a folder takes besides its content.
	EntrySize = 4 << 10
)

// Take is told of n bytes ahead of writing them. The error is a [LowError].
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
