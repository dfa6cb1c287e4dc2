//go:build !linux

package daemon

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// Mounted reports whether the file system on name is lorefs'. Only mount(8) knows that
// here.
func Mounted(name string) (bool, error) {
	if runtime.GOOS == "windows" {
		return false, fmt.Errorf("mounting is not supported on %s", runtime.GOOS)
	}
	points, err := mountPoints()
	return slices.Contains(points, name), err
}

// editedSource returns no source here.
func editedSource(name string) (source string, ours bool, err error) {
	ours, err = Mounted(name)
	return "", ours, err
}

// sourceOf returns no source here.
func sourceOf(string) (string, error) { return "", nil }

// mountPoints returns the mount points of FUSE: mount(8) does not say which are lorefs'.
func mountPoints() (names []string, err error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	out, err := exec.Command("mount").Output()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		front, kind, _ := strings.Cut(line, " (")
		if _, name, ok := strings.Cut(front, " on "); ok && strings.Contains(kind, "fuse") {
			names = append(names, name)
		}
	}
	return names, nil
}

// UnmountAlone unmounts a mount whose process can't be asked to.
func UnmountAlone(name string) error {
	if out, err := exec.Command("umount", name).CombinedOutput(); err != nil {
		return fmt.Errorf("umount: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// isDying returns false here.
func isDying(int) bool { return false }
