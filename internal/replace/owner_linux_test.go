package replace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// as calls do as another user who is in one group.
func as(t *testing.T, uid, gid int, do func() error) error {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, since the thread stays that user's
		_, gidErr := unix.SetfsgidRetGid(gid)
		_, uidErr := unix.SetfsuidRetUid(uid)
		err := errors.Join(gidErr, uidErr)
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}

// TestForeignGroup checks that a file whose group the process can't set admits nobody by its
// group.
func TestForeignGroup(t *testing.T) {
	const uid, gid, foreign = 12345, 12346, 23456
	path := oldFile(t)
	dir := filepath.Dir(path)
	err := errors.Join(
		os.Chmod(filepath.Dir(dir), 0o755), // the test's own
		os.Chown(dir, uid, gid), os.Chown(path, uid, foreign), os.Chmod(path, os.ModeSetgid|0o664),
	)
	if err != nil {
		t.Skip(err)
	}
	unreachable := false
	err = as(t, uid, gid, func() error {
		if _, err := os.Stat(path); errors.Is(err, os.ErrPermission) {
			unreachable = true
			return nil
		}
		return Replace(t.Context(), path, Options{}, writeText(2), nil)
	})
	if unreachable {
		t.Skip("other users don't get to the temporary folder")
	}
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o644 {
		t.Errorf("the mode is %v", info.Mode())
	}
	wantFiles(t, dir, map[string]int{"file.dat": 2, "file.dat.bak": 1})
}
