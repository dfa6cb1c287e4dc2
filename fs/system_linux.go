package fs

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// extraCapabilities are asked for besides what go-fuse asks for.
const extraCapabilities = fuse.CAP_NO_OPENDIR_SUPPORT

// readAheadKB is how far the kernel reads ahead of a sequential reader. Its own
// value for FUSE is an eighth of it, and makes large reads slower by a third.
const readAheadKB = "1024"

func hasNoOpendir(in *fuse.InitIn) bool { return in.Flags64()&fuse.CAP_NO_OPENDIR_SUPPORT != 0 }

// setDirectMount spares root the helper program.
func setDirectMount(o *fuse.MountOptions) {
	if os.Geteuid() == 0 {
		o.DirectMount = true
		o.DirectMountFlags = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV
	}
}

// setReadAhead does its best; only root may.
func setReadAhead(dir string, logger *slog.Logger) {
	if os.Geteuid() != 0 {
		return
	}
	var st unix.Stat_t
	err := unix.Stat(dir, &st)
	if err == nil {
		name := fmt.Sprintf("/sys/class/bdi/%d:%d/read_ahead_kb", unix.Major(st.Dev), unix.Minor(st.Dev))
		err = os.WriteFile(name, []byte(readAheadKB), 0)
	}
	if err != nil {
		logger.Debug("read-ahead stays as it is", "err", err)
	}
}

// Detach takes a mount out of the tree of files at once, also one whose server
// is dead. What is open there stays open.
func Detach(dir string) error {
	err := unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	if errors.Is(err, syscall.EPERM) {
		out, cmdErr := exec.Command("fusermount3", "-u", "-z", "--", dir).CombinedOutput()
		if cmdErr == nil {
			return nil
		}
		err = fmt.Errorf("fusermount3: %w: %s", cmdErr, strings.TrimSpace(string(out)))
	}
	if err != nil {
		return fmt.Errorf("detach %s: %w", dir, err)
	}
	return nil
}
