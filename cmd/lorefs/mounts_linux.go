package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"lorefs/fs"
)

// isMounted tells whether the file system on name is one of ours.
func isMounted(name string) (bool, error) {
	_, ours, err := editedSource(name)
	return ours, err
}

// editedSource tells whether the mount on name is one of ours, and gives its source if
// that can be edited through it, from the list that the kernel has. proc(5) tells its
// form.
func editedSource(name string) (source string, ours bool, err error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		front, back, _ := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(front)
		if len(fields) > 5 && unescapeMount(fields[4]) == name {
			// The last one lies on top.
			source = ""
			back, ours = strings.CutPrefix(back, "fuse.lorefs ")
			if ours && !slices.Contains(strings.Split(fields[5], ","), "ro") {
				back, _, _ = strings.Cut(back, " ")
				source = unescapeMount(back)
			}
		}
	}
	return source, ours, lines.Err()
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

// systemUnmount unmounts what no process of ours can be asked to.
func systemUnmount(name string) error {
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

// forceUnmount takes away what does not answer, also for those who wait for an
// answer. Only root may do more than detach it.
func forceUnmount(name string) error {
	if err := unix.Unmount(name, unix.MNT_FORCE|unix.UMOUNT_NOFOLLOW); err == nil {
		return nil
	}
	return fs.Detach(name)
}

// probe is an error if the mount on name is dead. The kernel remembers nothing
// of statfs(2), while stat(2) and even a listing may come from its cache.
func probe(name string) error {
	var st unix.Statfs_t
	return unix.Statfs(name, &st)
}
