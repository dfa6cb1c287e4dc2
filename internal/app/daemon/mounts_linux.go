package daemon

import (
	"bufio"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Mounted reports whether the file system on name is lorefs'.
func Mounted(name string) (bool, error) {
	_, ours, err := editedSource(name)
	return ours, err
}

// editedSource reports whether the mount on name is lorefs', from the kernel's list, see
// proc(5). It returns the source if that can be edited through the mount.
func editedSource(name string) (source string, ours bool, err error) {
	err = eachMount(func(on, from string, isOurs bool) {
		if on == name {
			source, ours = from, isOurs // the last one lies on top
		}
	})
	return source, ours, err
}

// mountPoints returns the mount points of lorefs.
func mountPoints() (names []string, err error) {
	err = eachMount(func(on, _ string, ours bool) {
		names = slices.DeleteFunc(names, func(name string) bool { return name == on })
		if ours {
			names = append(names, on)
		}
	})
	return names, err
}

// eachMount calls visit for each line of the kernel's list of mounts. source is empty if it
// can't be edited.
func eachMount(visit func(name, source string, ours bool)) error {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		front, back, _ := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(front)
		if len(fields) <= 5 {
			continue
		}
		source := ""
		back, ours := strings.CutPrefix(back, "fuse.lorefs ")
		if ours && !slices.Contains(strings.Split(fields[5], ","), "ro") {
			back, _, _ = strings.Cut(back, " ")
			source = unescapeMount(back)
		}
		visit(unescapeMount(fields[4]), source, ours)
	}
	return lines.Err()
}

// unescapeMount undoes the octal escapes of blanks and the like.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if n := 0; s[i] == '\\' && i+3 < len(s) {
			if _, err := fmt.Sscanf(s[i+1:i+4], "%03o", &n); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// UnmountAlone unmounts a mount whose process can't be asked to.
func UnmountAlone(name string) error {
	err := unix.Unmount(name, unix.UMOUNT_NOFOLLOW)
	if !errors.Is(err, syscall.EPERM) {
		return err
	}
	out, err := exec.Command("fusermount3", "-u", "--", name).CombinedOutput()
	if err != nil && strings.Contains(string(out), "busy") {
		return syscall.EBUSY
	}
	if err != nil {
		return fmt.Errorf("fusermount3: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// isDying reports whether a process was killed, and is ending or has just ended.
func isDying(pid int) bool {
	if pid == 0 {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, iofs.ErrNotExist) {
		return true
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "State":
			if strings.HasPrefix(value, "Z") || strings.HasPrefix(value, "X") {
				return true
			}
		case "SigPnd", "ShdPnd":
			pending, err := strconv.ParseUint(value, 16, 64)
			if err == nil && pending&(1<<(syscall.SIGKILL-1)) != 0 {
				return true
			}
		}
	}
	return false
}
