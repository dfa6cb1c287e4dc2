//go:build darwin || freebsd

package diskspace

import "golang.org/x/sys/unix"

// blockSize returns the unit in which blocks are counted.
func blockSize(st *unix.Statfs_t) uint64 { return uint64(st.Bsize) }
