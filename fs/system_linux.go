package fs

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// extraCapabilities are requested besides go-fuse's own.
const extraCapabilities = fuse.CAP_NO_OPENDIR_SUPPORT

// readAheadKB is how far the kernel reads ahead of a sequential reader. Its default for
// FUSE is an eighth of that, and makes large reads slower by a third.
const readAheadKB = "1024"

func hasNoOpendir(in *fuse.InitIn) bool { return in.Flags64()&fuse.CAP_NO_OPENDIR_SUPPORT != 0 }

// setDirectMount makes root mount without the helper program, which would lose errors.
func setDirectMount(o *fuse.MountOptions, readOnly bool) {
	if os.Geteuid() == 0 {
		o.DirectMountStrict = true
		o.DirectMountFlags = unix.MS_NOSUID | unix.MS_NODEV
		if readOnly {
			o.DirectMountFlags |= unix.MS_RDONLY
		}
	}
}

// setBlocks sets the size in blocks, of which go-fuse has its own idea unless that is done.
func setBlocks(out *fuse.Attr) {
	out.Blksize = blockSize
	out.Blocks = (out.Size + blockSize - 1) / blockSize * (blockSize / 512)
}

// setReadAhead sets the read-ahead if it may; only root may.
func setReadAhead(dev uint64, logger *slog.Logger) {
	if os.Geteuid() != 0 {
		return
	}
	name := fmt.Sprintf("/sys/class/bdi/%d:%d/read_ahead_kb", unix.Major(dev), unix.Minor(dev))
	if err := os.WriteFile(name, []byte(readAheadKB), 0); err != nil {
		logger.Debug("read-ahead stays as it is", "err", err)
	}
}

// deviceOf returns the device number of dir. The kernel knows it without asking the server,
// which may be dead.
func deviceOf(dir string) (uint64, error) {
	var st unix.Statx_t
	flags := unix.AT_STATX_DONT_SYNC | unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if err := unix.Statx(unix.AT_FDCWD, dir, flags, unix.STATX_TYPE, &st); err != nil {
		return 0, err
	}
	return unix.Mkdev(st.Dev_major, st.Dev_minor), nil
}

// waitMount does nothing: the mount exists, and the kernel has sent its first request.
// [fuse.Server.WaitMount] would also open a file of the mount, which only helps processes
// that read their own mount. A process that is killed meanwhile would wait for itself
// forever.
func waitMount(s *fuse.Server, o Options) error {
	if o.OwnReads {
		// A program that is started meanwhile would have the file, too, and the mount would be in use
		// until it ends.
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		return s.WaitMount()
	}
	return nil
}

// isOurs reports whether a tree of lorefs is mounted on dir.
func isOurs(dir string) bool { return mountOn(dir).isOurs() }

// mounted is a mount in the kernel's list. The zero value is none.
type mounted struct {
	fstype string
	// device has the number of the connection behind the colon.
	device string
	// owner is the user who mounted it, as a number.
	owner string
}

func (m mounted) isOurs() bool { return m.fstype == "fuse."+fsType }

func (m mounted) isMine() bool { return m.owner == strconv.Itoa(os.Geteuid()) }

// MayUnmount reports whether the system lets this user unmount what is on dir.
func MayUnmount(dir string) bool { return os.Geteuid() == 0 || mountOn(dir).isMine() }

func mountOn(dir string) mounted {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return mounted{}
	}
	return findMount(string(mounts), dir)
}

// findMount finds the mount on dir, the last if there are several.
func findMount(mounts, dir string) (m mounted) {
	want := mountEscapes.Replace(dir)
	for line := range strings.Lines(mounts) {
		fields := strings.Fields(line)
		dash := slices.Index(fields, "-")
		if dash <= mountedOn || dash+3 >= len(fields) || fields[mountedOn] != want {
			continue
		}
		m = mounted{fstype: fields[dash+1], device: fields[mountedDevice]}
		for option := range strings.SplitSeq(fields[dash+3], ",") {
			if owner, ok := strings.CutPrefix(option, "user_id="); ok {
				m.owner = owner
			}
		}
	}
	return m
}

// The fields of a line of mountinfo with the device and the path, see proc(5).
const (
	mountedDevice = 2
	mountedOn     = 4
)

// connections is where the kernel lists connections to FUSE servers, by number.
const connections = "/sys/fs/fuse/connections"

// abort ends the connection to the server of a mount, for everyone who waits for an answer.
func abort(dir string) error {
	m := mountOn(dir)
	if !m.isOurs() {
		return errors.New("it is not a mount of lorefs")
	}
	if !m.isMine() {
		return fmt.Errorf("it belongs to the user with the number %s, who can unmount it by lorefs unmount", m.owner)
	}
	_, number, _ := strings.Cut(m.device, ":")
	err := os.WriteFile(filepath.Join(connections, number, "abort"), []byte("1"), 0)
	if err == nil || os.Geteuid() != 0 {
		return err
	}
	// The list may be missing. Root can at least cut the connection of a mount in use.
	if err := unix.Unmount(dir, unix.MNT_FORCE|unix.UMOUNT_NOFOLLOW); err != nil && !errors.Is(err, unix.EBUSY) {
		return err
	}
	return nil
}

// mountEscapes are the kernel's escapes for bytes that separate fields.
var mountEscapes = strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`)

// checkUserMayMount refuses beforehand what fusermount3 would refuse: that program gives
// its reason only on the standard error, which a daemon does not have.
func checkUserMayMount(dir string) error {
	uid := os.Geteuid()
	if uid == 0 {
		return nil
	}
	if err := unix.Access(fuseDevice, unix.R_OK|unix.W_OK); err != nil {
		return fmt.Errorf("users cannot mount on this system: %s: %w; ask an administrator to allow it, or to mount; lorefs ls, cat and export need no mount", fuseDevice, err)
	}
	if !installed("fusermount3") && !installed("fusermount") {
		return errors.New("users mount by fusermount3, which is missing; install the package fuse3")
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return fmt.Errorf("users can mount only on directories that they may write to: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_ISVTX != 0 && int(st.Uid) != uid {
		return errors.New("users cannot mount on a sticky directory of somebody else; create a directory in it")
	}
	return nil
}

// installed reports whether go-fuse finds a program.
func installed(name string) bool {
	_, err := exec.LookPath(name)
	if err != nil {
		_, err = os.Stat(filepath.Join("/bin", name))
	}
	return err == nil
}

const (
	// A server talks to the kernel through fuseDevice.
	fuseDevice = "/dev/fuse"
	// fuseConf is where the administrator sets what users may do.
	fuseConf = "/etc/fuse.conf"
)

// checkAllowOther is checkUserMayMount for an option.
func checkAllowOther(o Options) error {
	if !o.AllowOther || os.Geteuid() == 0 {
		return nil
	}
	conf, err := os.ReadFile(fuseConf)
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return nil //nolint:nilerr // fusermount3 may read what we may not
	}
	if !allowsOther(string(conf)) {
		return fmt.Errorf("other users can be let in only if %s has the line user_allow_other", fuseConf)
	}
	return nil
}

func allowsOther(conf string) bool {
	for line := range strings.Lines(conf) {
		if strings.TrimSpace(line) == "user_allow_other" {
			return true
		}
	}
	return false
}

// systemUnmount unmounts a mount that is not in use.
func systemUnmount(dir string) error {
	err := unix.Unmount(dir, unix.UMOUNT_NOFOLLOW)
	if errors.Is(err, syscall.EPERM) {
		err = fusermount("-u", "--", dir)
	}
	return err
}

// systemExpire unmounts a mount that nobody has used since the call before. The first call,
// and one after a use, returns EAGAIN.
func systemExpire(dir string) error {
	err := unix.Unmount(dir, unix.MNT_EXPIRE|unix.UMOUNT_NOFOLLOW)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) {
		return errNoExpiry
	}
	return err
}

// Detach removes a mount from the file tree at once, also if its server is dead. Open files
// stay open.
func Detach(dir string) error {
	place, err := resolve(dir)
	if err != nil {
		return fmt.Errorf("detach %s: %w", dir, reason(err))
	}
	err = unix.Unmount(place, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	if errors.Is(err, syscall.EPERM) {
		err = fusermount("-u", "-z", "--", place)
	}
	if err != nil {
		return fmt.Errorf("detach %s: %w", dir, err)
	}
	return nil
}

// fusermount runs the helper program for what only root may do.
func fusermount(args ...string) error {
	name, err := exec.LookPath("fusermount3")
	if err != nil {
		name = "fusermount"
	}
	out, err := exec.Command(name, args...).CombinedOutput()
	if err == nil {
		return nil
	}
	return helperError(name, string(out), err)
}

// helperError makes an error of the helper's output.
func helperError(name, out string, err error) error {
	out = strings.TrimSpace(out)
	if strings.HasSuffix(out, ": Device or resource busy") {
		return syscall.EBUSY
	}
	return fmt.Errorf("%s: %w: %s", name, err, out)
}
