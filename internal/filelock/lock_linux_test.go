package filelock_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"lorefs/internal/filelock"
)

// TestDotNet checks that a locked file can be opened by programs of .NET, which lock as a whole
// what they open, and that their locks keep nobody from locking it.
func TestDotNet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, flag := range map[string]int{"for reading": os.O_RDONLY, "for writing": os.O_RDWR} {
		for how, lock := range map[string]int{"shared": unix.LOCK_SH, "alone": unix.LOCK_EX} {
			theirs, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer theirs.Close()
			ours, err := os.OpenFile(path, flag, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer ours.Close()
			if err := filelock.LockFile(ours); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if err := unix.Flock(int(theirs.Fd()), lock|unix.LOCK_NB); err != nil {
				t.Errorf("they open it %s, while it is open %s: %v", how, what, err)
			}
			ours.Close()
			if ours, err = os.OpenFile(path, flag, 0); err != nil {
				t.Fatal(err)
			}
			defer ours.Close()
			if err := filelock.LockFile(ours); err != nil {
				t.Errorf("it is open %s by them: %v", how, err)
			}
			if err := filelock.ProbeFile(theirs); err == nil {
				t.Error("nobody seems to have locked it")
			}
			theirs.Close()
			ours.Close()
		}
	}
}
