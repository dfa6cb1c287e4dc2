package replace

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"lorefs/internal/disk/disktest"
	"lorefs/internal/filelock"
)

// TestSweepNames checks that names which others made are not removed, even if they look
// nearly like ours.
func TestSweepNames(t *testing.T) {
	const random = "0123456789abcdef"
	cases := map[string]bool{
		".file.dat.lorefs-" + random + ".tmp":         true,
		".file.dat.lorefs-" + random + ".copy.tmp":    true,
		".file.dat.lorefs-" + random + ".old.tmp":     false,
		".file.dat.lorefs-" + random:                  false,
		".file.dat.lorefs-" + random + "0.tmp":        false,
		".file.dat.lorefs-" + random[1:] + ".tmp":     false,
		".file.dat.lorefs-" + random[1:] + "g.tmp":    false,
		".file.dat.lorefs-0123456789ABCDEF.tmp":       false,
		".file.dat.lorefs-.tmp":                       false,
		"file.dat.lorefs-" + random + ".tmp":          false,
		".file.lorefs-" + random + ".tmp":             false,
		".file.dat2.lorefs-" + random + ".tmp":        false,
		".file.dat.lorefs-" + random + ".tmp.tmp":     false,
		".file.dat.lorefs-" + random + ".bak.bak.tmp": false,
		"file.dat.bak":  false,
		".file.dat.tmp": false,
		"file.dat":      false,
	}
	dir := t.TempDir()
	var want []string
	for name, ours := range cases {
		if err := os.WriteFile(filepath.Join(dir, name), text(7), 0o600); err != nil {
			t.Fatal(err)
		}
		if ours {
			want = append(want, filepath.Join(dir, name))
		}
	}
	got, err := Sweep(filepath.Join(dir, "file.dat"))
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("removed %v, %v, want %v", got, err, want)
	}
	for name, ours := range cases {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err != nil) != ours {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSweepLive checks that the files of a living writer stay, and so does its backup, which
// others may lock as the old file or which may be a folder or a link.
func TestSweepLive(t *testing.T) {
	path := oldFile(t)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := filelock.LockFile(f); err != nil {
		t.Skipf("files cannot be locked here: %v", err)
	}
	sweeps := 0
	d := disktest.New()
	d.SetBefore(func(op disktest.Op) error {
		if op.Name == "create" || op.Name == "syncDir" {
			return nil
		}
		sweeps++
		removed, err := Sweep(path)
		if len(removed) > 0 {
			t.Errorf("before %s of %s, %v was removed", op.Name, op.Path, removed)
		}
		return err
	})
	o := Options{Disk: d}
	if err := Replace(t.Context(), path, o, writeText(2), nil); err != nil {
		t.Fatal(err)
	}
	if sweeps == 0 {
		t.Error("nothing was swept")
	}
	wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 2, "file.dat.bak": 1})
}

func TestSweepOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links are for the privileged here")
	}
	path := oldFile(t)
	outside := oldFile(t)
	prefix := filepath.Join(filepath.Dir(path), ".file.dat.lorefs-000000000000000")
	if err := os.Symlink(outside, prefix+"1.tmp"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(prefix+"2.tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	if removed, err := Sweep(path); err != nil || len(removed) != 0 {
		t.Errorf("%v, %v", removed, err)
	}
	if _, err := Sweep(filepath.Join(t.TempDir(), "no", "file.dat")); err == nil {
		t.Error("swept where there is no folder")
	}
	wantFiles(t, filepath.Dir(outside), map[string]int{"file.dat": 1})
}

// TestSweepWithoutFile checks that Sweep works if the file does not exist.
func TestSweepWithoutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.dat")
	left := filepath.Join(filepath.Dir(path), ".file.dat.lorefs-0123456789abcdef.tmp")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if removed, err := Sweep(path); err != nil || len(removed) != 1 {
		t.Errorf("%v, %v", removed, err)
	}
	wantFiles(t, filepath.Dir(path), map[string]int{})
}

// TestSweepRace checks that Sweep does not disturb others that write at the same time.
func TestSweepRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.dat")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var sweeper, writers sync.WaitGroup
	sweeper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := Sweep(path); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 3 {
		writers.Go(func() {
			for range 30 {
				// No backup is made, since several writers at once take it from each other.
				err := Replace(t.Context(), path, Options{NoBackup: true}, func(w io.Writer) error {
					_, err := io.WriteString(w, "short")
					return err
				}, nil)
				if err != nil && !errors.Is(err, ErrChanged) { // another writer was first
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	sweeper.Wait()
	if removed, err := Sweep(path); err != nil || len(removed) != 0 {
		t.Errorf("left over: %v, %v", removed, err)
	}
}
