//go:build darwin || freebsd || linux

package diskspace

import (
	"errors"
	"math"
	"math/bits"

	"golang.org/x/sys/unix"
)

// Of returns the space of a folder's file system. If that does not say, the error matches
// [errors.ErrUnsupported].
func Of(dir string) (Space, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return Space{}, err
	}
	if st.Blocks == 0 {
		return Space{}, errors.ErrUnsupported // file systems in user space often do not say
	}
	// Bavail is signed on some systems, and negative if the rest is reserved for root.
	return Space{
		Free:  inBytes(uint64(max(int64(st.Bavail), 0)), blockSize(&st)),
		Total: inBytes(st.Blocks, blockSize(&st)),
	}, nil
}

func inBytes(blocks, size uint64) int64 {
	hi, lo := bits.Mul64(blocks, size)
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}
