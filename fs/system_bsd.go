//go:build darwin || freebsd

package fs

import (
	"fmt"
	"log/slog"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const extraCapabilities = 0

// hasNoOpendir is false here: these kernels want a directory opened.
func hasNoOpendir(*fuse.InitIn) bool { return false }

func setDirectMount(*fuse.MountOptions) {}

func setReadAhead(string, *slog.Logger) {}

// Detach takes a mount out of the tree of files at once, also one whose server is dead.
func Detach(dir string) error {
	if err := syscall.Unmount(dir, unix.MNT_FORCE); err != nil {
		return fmt.Errorf("detach %s: %w", dir, err)
	}
	return nil
}
