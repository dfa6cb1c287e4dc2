package diskspace

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOf(t *testing.T) {
	s, err := Of(t.TempDir())
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("the file system does not tell how much room it has")
	}
	if err != nil || s.Total <= 0 || s.Free < 0 || s.Free > s.Total {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := Of(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Errorf("of a folder that is not there: %+v", s)
	}
}

func TestReserve(t *testing.T) {
	for _, tt := range []struct{ free, total, reserve, room int64 }{
		{500, 1000, 10, 490},
		{10, 1000, 10, 0},
		{9, 1000, 10, 0},
		{0, 0, 0, 0},
		{50 << 30, 100 << 30, 1 << 30, 49 << 30},
		{50 << 30, 1 << 45, 1 << 30, 49 << 30},
		{math.MaxInt64, math.MaxInt64, 1 << 30, math.MaxInt64 - 1<<30},
	} {
		if s := (Space{tt.free, tt.total}); s.Reserve() != tt.reserve || s.Room() != tt.room {
			t.Errorf("%+v: reserve %d, room %d", tt, s.Reserve(), s.Room())
		}
	}
}

func TestIsFull(t *testing.T) {
	for _, err := range []error{syscall.ENOSPC, fmt.Errorf("wrapped: %w", &os.PathError{Err: syscall.ENOSPC}), &LowError{}, fullErrors[1]} {
		if !IsFull(err) {
			t.Errorf("%v is not taken for a full disk", err)
		}
	}
	for _, err := range []error{nil, os.ErrExist, syscall.EIO} {
		if IsFull(err) {
			t.Errorf("%v is taken for a full disk", err)
		}
	}
}

// TestGuard checks that the file system is asked now and then, and that everybody gets the
// error when space is low.
func TestGuard(t *testing.T) {
	const size = 100 << 20
	written, asked := int64(0), 0
	g := NewGuard("dir")
	g.of = func(dir string) (Space, error) {
		asked++
		if dir != "dir" {
			t.Errorf("asked of %q", dir)
		}
		return Space{size - written, size}, nil
	}
	const step = 64 << 10
	for ; written < size; written += step {
		if err := g.Take(step); err != nil {
			if low, ok := errors.AsType[*LowError](err); !ok || low.Free != size-written {
				t.Error(err)
			}
			break
		}
	}
	if left := size - written; left > size/100+2*step || left < size/100 || asked > 100 {
		t.Errorf("%d bytes were left, after %d looks", left, asked)
	}
	if err := g.Take(step); !IsFull(err) {
		t.Errorf("the next one: %v", err)
	}
	g.of = func(string) (Space, error) { return Space{}, errors.ErrUnsupported }
	for range 3 {
		if err := g.Take(maxStep); err != nil {
			t.Errorf("where nobody knows: %v", err)
		}
	}
}
