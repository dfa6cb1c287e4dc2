//go:build darwin || freebsd || linux

package replace

import (
	"errors"
	"math"
	"math/bits"

	"golang.org/x/sys/unix"
)

// freeSpace is how many bytes this process may still write in a folder.
func freeSpace(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	if st.Blocks == 0 {
		return 0, errors.ErrUnsupported // file systems in user space often do not say
	}
	blocks := int64(st.Bavail) // which is signed on some systems
	if blocks < 0 {
		return 0, nil // what is left is for root
	}
	hi, lo := bits.Mul64(uint64(blocks), blockSize(&st))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64, nil
	}
	return int64(lo), nil
}
