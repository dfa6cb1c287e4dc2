package diskspace

import "golang.org/x/sys/unix"

// blockSize returns the unit in which blocks are counted. Bsize, the best size for reads,
// may be larger.
func blockSize(st *unix.Statfs_t) uint64 {
	if st.Frsize > 0 {
		return uint64(st.Frsize)
	}
	return uint64(st.Bsize)
}
