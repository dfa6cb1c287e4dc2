//go:build darwin || freebsd

package fs

import (
	"errors"
	"fmt"
	"log/slog"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const extraCapabilities = 0

// hasNoOpendir is false here: these kernels want a directory opened.
func hasNoOpendir(*fuse.InitIn) bool { return false }

func setDirectMount(*fuse.MountOptions, bool) {}

func setReadAhead(uint64, *slog.Logger) {}

// isOurs is not known here; only an empty tree makes that matter.
func isOurs(string) bool { return false }

func checkUserMayMount(string) error { return nil }

func checkAllowOther(Options) error { return nil }

// deviceOf is the device number of dir.
func deviceOf(dir string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Dev), nil
}

// MayUnmount is left to the system here.
func MayUnmount(string) bool { return true }

func waitMount(s *fuse.Server, _ Options) error { return s.WaitMount() }

// abort is not known here.
func abort(string) error { return errors.New("unmount it by force") }

func systemUnmount(dir string) error { return syscall.Unmount(dir, 0) }

// Detach takes a mount out of the tree of files at once, also one whose server is dead.
func Detach(dir string) error {
	if err := syscall.Unmount(dir, unix.MNT_FORCE); err != nil {
		return fmt.Errorf("detach %s: %w", dir, err)
	}
	return nil
}
