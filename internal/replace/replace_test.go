package replace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lorefs/internal/disk"
	"lorefs/internal/disk/disktest"
	"lorefs/internal/diskspace"
	"lorefs/internal/testneeds"
)

var errInjected = errors.New("injected")

// text returns the content of a version, of several writes.
func text(version int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "version %04d\n", version), 3*writeSize/13)
}

func writeText(version int) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text(version))
		return err
	}
}

func verifyText(version int) func(*os.File) error {
	return func(f *os.File) error {
		got, err := io.ReadAll(f)
		if err == nil && !bytes.Equal(got, text(version)) {
			err = errors.New("not what was written")
		}
		return err
	}
}

// oldFile makes a folder with version 1 of a file in it.
func oldFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.dat")
	if err := os.WriteFile(path, text(1), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

// versionOf returns the version that a content has, which must be complete.
func versionOf(content []byte) (int, error) {
	head, _, _ := bytes.Cut(content, []byte("\n"))
	version, err := strconv.Atoi(strings.TrimPrefix(string(head), "version "))
	if err != nil {
		return 0, fmt.Errorf("no version: %w", err)
	}
	if !bytes.Equal(content, text(version)) {
		return 0, fmt.Errorf("version %d is torn: %d bytes", version, len(content))
	}
	return version, nil
}

func versionAt(t *testing.T, path string) int {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	version, err := versionOf(content)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return version
}

// wantFiles checks that a folder has exactly these files, by the versions of their names.
func wantFiles(t *testing.T, dir string, want map[string]int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := want[e.Name()]; !ok {
			t.Errorf("%s is left", e.Name())
		}
	}
	for name, version := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, text(version)) {
			t.Errorf("%s has %d bytes, %.12q, %v; want version %d", name, len(got), got, err, version)
		}
	}
}

// wantOps checks that there were these operations, in this order. Several of a kind in a row
// count as one.
func wantOps(t *testing.T, ops []disktest.Op, want ...string) {
	t.Helper()
	var got []string
	for _, op := range ops {
		if op.Changes() {
			got = append(got, op.Name)
		}
	}
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("the operations are %v, want %v", got, want)
	}
}

func TestReplace(t *testing.T) {
	path := oldFile(t)
	dir := filepath.Dir(path)
	asked := 0
	d := disktest.New()
	o := Options{
		Size: int64(len(text(2))), Disk: d,
		Check: func() error { asked++; return nil },
	}
	f, err := Begin(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Write(writeText(2)), f.SyncAndReadBack(verifyText(2)), f.Pin()); err != nil {
		t.Fatal(err)
	}
	ready, err := f.Info()
	if err != nil {
		t.Fatal(err)
	}
	wantOps(t, d.Ops(), "create", "write", "sync")
	if err := errors.Join(f.KeepOld(), f.Place(), f.SyncDir(), f.Cleanup()); err != nil {
		t.Fatal(err)
	}
	want := []string{"create", "write", "sync", "link", "rename", "syncDir", "link", "exchange", "remove", "syncDir"}
	if !disk.CanExchange {
		want = []string{"create", "write", "sync", "link", "rename", "syncDir", "rename", "syncDir"}
	}
	wantOps(t, d.Ops(), want...)
	if asked != 2 {
		t.Errorf("the caller was asked %d times about the old file", asked)
	}
	wantFiles(t, dir, map[string]int{"file.dat": 2, "file.dat.bak": 1})
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(info, ready) || info.Size() != ready.Size() || !info.ModTime().Equal(ready.ModTime()) {
		t.Errorf("announced %v, is %v", ready, info)
	}
	if runtime.GOOS != "windows" && (info.Mode() != 0o640 || ready.Mode() != 0o640) {
		t.Errorf("the mode is %v, announced %v, want that of the old file", info.Mode(), ready.Mode())
	}
	// An older backup is replaced.
	if err := Replace(t.Context(), path, Options{}, writeText(3), nil); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, map[string]int{"file.dat": 3, "file.dat.bak": 2})
	if err := Replace(t.Context(), path, Options{NoBackup: true}, writeText(4), nil); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, map[string]int{"file.dat": 4, "file.dat.bak": 2})
}

// TestPrivateUntilComplete checks that nobody else may read the new file until it is
// complete.
func TestPrivateUntilComplete(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing here")
	}
	path := oldFile(t)
	write := func(w io.Writer) error {
		temps, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp"))
		if err != nil || len(temps) != 1 {
			t.Fatalf("temporary files: %v, %v", temps, err)
		}
		if info, err := os.Stat(temps[0]); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		return writeText(2)(w)
	}
	if err := Replace(t.Context(), path, Options{}, write, nil); err != nil {
		t.Fatal(err)
	}
}

// failing returns a disk on which operations with a name fail.
func failing(name string, err error) disk.FS {
	d := disktest.New()
	d.SetBefore(failingOps(name, err))
	return d
}

func failingOps(name string, err error) func(op disktest.Op) error {
	return func(op disktest.Op) error {
		if op.Name == name {
			return err
		}
		return nil
	}
}

var noLinks = failing("link", syscall.EPERM)

// at returns a disk that calls do before the nth operation that changes something, from 0,
// and other before all of them.
func at(nth int, do func() error, other func(op disktest.Op) error) *disktest.Disk {
	d := disktest.New()
	d.SetBefore(func(op disktest.Op) error {
		if op.Changes() {
			if nth--; nth == -1 {
				if err := do(); err != nil {
					return err
				}
			}
		}
		if other == nil {
			return nil
		}
		return other(op)
	})
	return d
}

// system is a kind of file system.
type system struct {
	name string
	// before makes operations fail that the system does not support.
	before func(op disktest.Op) error
}

// systems returns three systems: one that can exchange names, one that can't, and one that
// gives a file only one name.
func systems() []system {
	all := []system{{"no exchange", failingOps("exchange", syscall.EINVAL)}, {"no links", failingOps("link", syscall.EPERM)}}
	if disk.CanExchange {
		all = append(all, system{"exchange", nil})
	}
	return all
}

// ops returns the operations of replacing a file, including those that fail on the system.
func (s system) ops(t *testing.T) (ops []disktest.Op) {
	t.Helper()
	d := disktest.New()
	d.SetBefore(func(op disktest.Op) error {
		if op.Changes() {
			ops = append(ops, op)
		}
		if s.before != nil {
			return s.before(op)
		}
		return nil
	})
	if err := Replace(t.Context(), oldFile(t), Options{Disk: d}, writeText(2), nil); err != nil {
		t.Fatal(err)
	}
	return ops
}

// TestFaults checks that, whichever operation fails, the old file or the new one is there,
// and nothing else.
func TestFaults(t *testing.T) {
	testneeds.Seconds(t)
	for _, s := range systems() {
		placed := false
		for nth, op := range s.ops(t) {
			for _, withCancel := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s,%d,%s,cancel=%v", s.name, nth, op.Name, withCancel), func(t *testing.T) {
					testFault(t, s, nth, op, withCancel, placed)
				})
			}
			placed = placed || isPlacing(s, op)
		}
	}
}

// isPlacing reports whether an operation, if it succeeds, puts the new file in its place.
func isPlacing(s system, op disktest.Op) bool {
	return filepath.Base(op.Path) == "file.dat" && (op.Name == "rename" || s.before == nil)
}

func testFault(t *testing.T, s system, nth int, op disktest.Op, withCancel, placed bool) {
	t.Helper()
	path := oldFile(t)
	if err := os.WriteFile(path+".bak", text(0), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	// A cancelled context is noticed when the next step begins.
	fail := func() error { return errInjected }
	if withCancel {
		fail = func() error { cancel(errInjected); return nil }
	}
	err := Replace(ctx, path, Options{Disk: at(nth, fail, s.before)}, writeText(2), verifyText(2))
	if err != nil && !errors.Is(err, errInjected) {
		t.Errorf("the error is %v", err)
	}
	if op.Name == "remove" { // then a name is left
		if _, err := Sweep(path); err != nil {
			t.Error(err)
		}
	}
	want := map[string]int{"file.dat": 1, "file.dat.bak": versionAt(t, path+".bak")}
	if err == nil || placed {
		want["file.dat"], want["file.dat.bak"] = 2, 1
	}
	if errors.Is(err, ErrUnsynced) != (placed && op.Name == "syncDir" && !withCancel) {
		t.Errorf("whether the new file is in place: %v", err)
	}
	wantFiles(t, filepath.Dir(path), want)
}

// TestRefused checks that an error of the caller keeps the old file, and comes back
// unchanged.
func TestRefused(t *testing.T) {
	ok := func(io.Writer) error { return nil }
	cases := map[Step]func(path string) error{
		StepWrite: func(path string) error {
			return Replace(t.Context(), path, Options{}, func(w io.Writer) error {
				if err := writeText(2)(w); err != nil {
					return err
				}
				return errInjected
			}, nil)
		},
		StepVerify: func(path string) error {
			return Replace(t.Context(), path, Options{}, ok, func(*os.File) error { return errInjected })
		},
		StepCheck: func(path string) error {
			return Replace(t.Context(), path, Options{Check: func() error { return errInjected }}, ok, nil)
		},
	}
	for step, do := range cases {
		path := oldFile(t)
		err := do(path)
		at, isStep := errors.AsType[*StepError](err)
		if !errors.Is(err, errInjected) || !isStep || at.Step != step {
			t.Errorf("%s: %v", step, err)
		}
		wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 1})
	}
}

// TestReadBackWhileSyncing checks that the new file is synced and read back at the same time: each waits
// for the other to begin. Nothing is replaced unless both succeed.
func TestReadBackWhileSyncing(t *testing.T) {
	errSync, errRead := errors.New("the disk is broken"), errors.New("what was written is wrong")
	for _, tt := range []struct {
		sync, read error
		step       Step
	}{
		{nil, nil, ""},
		{errSync, nil, StepSync},
		{nil, errRead, StepVerify},
		{errSync, errRead, StepSync},
	} {
		path := oldFile(t)
		reading, syncing := make(chan struct{}), make(chan struct{})
		wait := func(begun <-chan struct{}, otherwise string) error {
			select {
			case <-begun:
				return nil
			case <-time.After(time.Minute):
				return errors.New(otherwise)
			}
		}
		d := disktest.New()
		d.SetBefore(func(op disktest.Op) error {
			if op.Name != "sync" {
				return nil
			}
			close(syncing)
			return cmp.Or(wait(reading, "nobody reads the file while it is synced"), tt.sync)
		})
		err := Replace(t.Context(), path, Options{Disk: d}, writeText(2), func(f *os.File) error {
			close(reading)
			return cmp.Or(wait(syncing, "nobody syncs the file while it is read"), tt.read, verifyText(2)(f))
		})
		if tt.step == "" {
			if err != nil {
				t.Fatal(err)
			}
			wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 2, "file.dat.bak": 1})
			continue
		}
		at, isStep := errors.AsType[*StepError](err)
		if !errors.Is(err, cmp.Or(tt.sync, tt.read)) || !isStep || at.Step != tt.step {
			t.Errorf("sync %v, read %v: %v", tt.sync, tt.read, err)
		}
		wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 1})
	}
}

// TestIgnoredWriteError checks that an error of writing counts even if the caller ignores
// it.
func TestIgnoredWriteError(t *testing.T) {
	path := oldFile(t)
	o := Options{Disk: at(2, func() error { return errInjected }, nil)} // the second write
	err := Replace(t.Context(), path, o, func(w io.Writer) error {
		_ = writeText(2)(w)
		return nil
	}, nil)
	if !errors.Is(err, errInjected) {
		t.Errorf("%v", err)
	}
	wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 1})
}

func TestPanic(t *testing.T) {
	for what, do := range map[string]func(path string) error{
		"write": func(path string) error {
			return Replace(t.Context(), path, Options{}, func(io.Writer) error { panic("a bug") }, nil)
		},
		"verify": func(path string) error {
			return Replace(t.Context(), path, Options{}, writeText(2), func(*os.File) error { panic("a bug") })
		},
	} {
		path := oldFile(t)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the panic was swallowed", what)
				}
			}()
			_ = do(path)
		}()
		wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 1})
	}
}

func TestNoRoom(t *testing.T) {
	path := oldFile(t)
	const need = 1 << 62
	err := Replace(t.Context(), path, Options{Size: need}, writeText(2), nil)
	space, ok := errors.AsType[*SpaceError](err)
	if !ok || !errors.Is(err, syscall.ENOSPC) {
		if _, err := diskspace.Of(filepath.Dir(path)); errors.Is(err, errors.ErrUnsupported) {
			t.Skip("the file system does not tell how much room it has")
		}
		t.Fatalf("%v", err)
	}
	if space.Need != need || space.Free <= 0 || space.Missing() != need-space.Free ||
		!strings.Contains(err.Error(), fmt.Sprint(space.Missing())) {
		t.Errorf("%+v: %v", space, err)
	}
	wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 1})
}

// TestCopiedBackup checks that, if files have only one name, the backup is a copy with the
// same attributes.
func TestCopiedBackup(t *testing.T) {
	path := oldFile(t)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []error{syscall.EPERM, syscall.EXDEV, syscall.EMLINK, errors.ErrUnsupported} {
		o := Options{Disk: failing("link", &os.LinkError{Op: "link", Err: code})}
		if err := Replace(t.Context(), path, o, writeText(2), nil); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 2, "file.dat.bak": 1})
		after, err := os.Stat(path + ".bak")
		if err != nil {
			t.Fatal(err)
		}
		if after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
			t.Errorf("the backup has %v, %v, the file had %v, %v", after.Mode(), after.ModTime(), before.Mode(), before.ModTime())
		}
		if err := os.Rename(path+".bak", path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBackupIsTheFile checks the state after a crash between the two renames: one file has
// both names, and rename(2) does nothing.
func TestBackupIsTheFile(t *testing.T) {
	path := oldFile(t)
	if err := os.Link(path, path+".bak"); err != nil {
		t.Skipf("files have one name here: %v", err)
	}
	if err := Replace(t.Context(), path, Options{}, writeText(2), nil); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 2, "file.dat.bak": 1})
}

func TestNothingToReplace(t *testing.T) {
	dir := t.TempDir()
	write := func(io.Writer) error { t.Error("written"); return nil }
	if err := Replace(t.Context(), filepath.Join(dir, "no"), Options{}, write, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := Replace(t.Context(), dir, Options{}, write, nil); err == nil {
		t.Error("a folder was replaced")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := oldFile(t)
	if err := Replace(ctx, path, Options{}, write, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v", err)
	}
	// If there can be no backup, no file may be lost.
	if err := os.Mkdir(path+".bak", 0o700); err != nil {
		t.Fatal(err)
	}
	err := Replace(t.Context(), path, Options{}, writeText(2), nil)
	if at, ok := errors.AsType[*StepError](err); !ok || at.Step != StepBackup {
		t.Errorf("a folder where the backup goes: %v", err)
	}
	if err := os.Remove(path + ".bak"); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 1})
}
