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

// hasNoOpendir returns false, because these kernels need an OPENDIR.
func hasNoOpendir(*fuse.InitIn) bool { return false }

func setDirectMount(*fuse.MountOptions, bool) {}

func setBlocks(*fuse.Attr) {}

func setReadAhead(uint64, *slog.Logger) {}

// isOurs returns false, because it can't be known here. That matters only for an empty
// tree.
func isOurs(string) bool { return false }

func checkUserMayMount(string) error { return nil }

func checkAllowOther(Options) error { return nil }

// deviceOf returns the device number of dir.
func deviceOf(dir string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Dev), nil
}

// MayUnmount returns true and leaves the check to the system.
func MayUnmount(string) bool { return true }

func waitMount(s *fuse.Server, _ Options) error { return s.WaitMount() }

// abort is not possible here.
func abort(string) error { return errors.New("unmount it by force") }

func systemUnmount(dir string) error { return syscall.Unmount(dir, 0) }

// systemExpire is not possible here.
func systemExpire(string) error { return errNoExpiry }

// Detach removes a mount from the file tree at once, also if its server is dead.
func Detach(dir string) error {
	if err := syscall.Unmount(dir, unix.MNT_FORCE); err != nil {
		return fmt.Errorf("detach %s: %w", dir, err)
	}
	return nil
}
