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
	m, err := mountOn(name)
	return m.ours, err
}

// editedSource reports whether the mount on name is lorefs', from the kernel's list, see
// proc(5). It returns the source if that can be edited through the mount.
func editedSource(name string) (source string, ours bool, err error) {
	m, err := mountOn(name)
	if m.editable {
		source = m.source
	}
	return source, m.ours, err
}

// sourceOf returns the source of the mount on name, as the kernel's list has it; "" if that is not
// lorefs'.
func sourceOf(name string) (string, error) {
	m, err := mountOn(name)
	return m.source, err
}

// mountOn returns the mount on name, the last one if there are several.
func mountOn(name string) (found mountLine, err error) {
	err = eachMount(func(m mountLine) {
		if m.name == name {
			found = m
		}
	})
	return found, err
}

// mountPoints returns the mount points of lorefs, in the kernel's order.
func mountPoints() (names []string, err error) {
	err = eachMount(func(m mountLine) {
		// The last one lies on top.
		names = slices.DeleteFunc(names, func(name string) bool { return name == m.name })
		if m.ours {
			names = append(names, m.name)
		}
	})
	return names, err
}

// mountLine is a line of the kernel's list of mounts. Only of lorefs' mounts the source is
// known, and whether it can be edited.
type mountLine struct {
	name, source   string
	ours, editable bool
}

// eachMount calls visit for each line of the kernel's list of mounts.
func eachMount(visit func(mountLine)) error {
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
		m := mountLine{name: unescapeMount(fields[4])}
		if back, m.ours = strings.CutPrefix(back, "fuse.lorefs "); m.ours {
			source, _, _ := strings.Cut(back, " ")
			m.source = unescapeMount(source)
			m.editable = !slices.Contains(strings.Split(fields[5], ","), "ro")
		}
		visit(m)
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
