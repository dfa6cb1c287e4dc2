//go:build unix

package journal

import (
	"fmt"
	"os"
	"syscall"

	"lorefs/internal/userdir"
)

// othersWrite are the mode bits that let others than the owner write.
const othersWrite = 0o022

// trusted returns nil if nobody but the user can have written to the file.
func trusted(path string, info os.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is %w: it belongs to user %d", path, userdir.ErrUntrusted, st.Uid)
	}
	if perm := info.Mode().Perm(); perm&othersWrite != 0 {
		return fmt.Errorf("%s is %w: others may write to it (mode %v)", path, userdir.ErrUntrusted, perm)
	}
	return nil
}
