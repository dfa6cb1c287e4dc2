package replace

import (
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"testing"

	"lorefs/internal/disk/disktest"
)

func create(path string, o Options) error {
	like, err := os.Open(filepath.Dir(path) + "/file.dat")
	if err != nil {
		return err
	}
	defer like.Close()
	return Create(context.Background(), path, like, o, writeText(2), verifyText(2))
}

func TestCreate(t *testing.T) {
	like := oldFile(t)
	dir := filepath.Dir(like)
	path := filepath.Join(dir, "new.dat")
	if err := create(path, Options{}); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, map[string]int{"file.dat": 1, "new.dat": 2})
	old, oldErr := os.Stat(like)
	info, err := os.Stat(path)
	if err != nil || oldErr != nil || info.Mode() != old.Mode() {
		t.Errorf("the mode is %v, want %v; %v, %v", info.Mode(), old.Mode(), err, oldErr)
	}
	if err := create(path, Options{}); !errors.Is(err, iofs.ErrExist) {
		t.Errorf("made again: %v", err)
	}
}

// TestCreateLikeFolder checks that a file without a model gets the permission bits of its
// folder.
func TestCreateLikeFolder(t *testing.T) {
	if closeFirst {
		t.Skip("this system has no permission bits")
	}
	dir := filepath.Dir(oldFile(t))
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "new.dat")
	if err := Create(t.Context(), path, nil, Options{}, writeText(2), nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

// TestCreateTooLate checks that a file which comes to the path while the new file is written
// stays.
func TestCreateTooLate(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		dir := filepath.Dir(oldFile(t))
		path := filepath.Join(dir, "new.dat")
		d := disktest.New()
		d.SetBefore(func(op disktest.Op) error {
			if op.Name != "link" {
				return nil
			}
			err := os.WriteFile(path, text(3), 0o600)
			if noLinks {
				err = errors.ErrUnsupported
			}
			return err
		})
		o := Options{Disk: d}
		err := create(path, o)
		if !errors.Is(err, iofs.ErrExist) {
			t.Errorf("made: %v", err)
		}
		wantFiles(t, dir, map[string]int{"file.dat": 1, "new.dat": 3})
	}
}

func TestCreateFails(t *testing.T) {
	for nth, op := range []string{"create", "write", "write", "write", "sync"} {
		dir := filepath.Dir(oldFile(t))
		err := create(filepath.Join(dir, "new.dat"), Options{Disk: at(nth, func() error { return errInjected }, nil)})
		if !errors.Is(err, errInjected) {
			t.Errorf("%s: %v", op, err)
		}
		wantFiles(t, dir, map[string]int{"file.dat": 1})
	}
}
