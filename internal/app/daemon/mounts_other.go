//go:build !linux

package daemon

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// Mounted reports whether the file system on name is lorefs'. Only mount(8) knows that
// here.
func Mounted(name string) (bool, error) {
	if runtime.GOOS == "windows" {
		return false, fmt.Errorf("mounting is not supported on %s", runtime.GOOS)
	}
	out, err := exec.Command("mount").Output()
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, " on "+name+" (") && strings.Contains(line, "fuse") {
			return true, nil
		}
	}
	return false, nil
}

// editedSource returns no source here.
func editedSource(name string) (source string, ours bool, err error) {
	ours, err = Mounted(name)
	return "", ours, err
}

// mountPoints returns none here: only Linux says what is mounted on them.
func mountPoints() ([]string, error) { return nil, nil }

// UnmountAlone unmounts a mount whose process can't be asked to.
func UnmountAlone(name string) error {
	if out, err := exec.Command("umount", name).CombinedOutput(); err != nil {
		return fmt.Errorf("umount: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// isDying returns false here.
func isDying(int) bool { return false }
