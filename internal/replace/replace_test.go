package replace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lorefs/internal/diskspace"
)

var errInjected = errors.New("injected")

// text is the content of a version: some writes long.
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

// wantFiles checks that exactly these files are in a folder: by name, the version.
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

func TestReplace(t *testing.T) {
	path := oldFile(t)
	dir := filepath.Dir(path)
	var steps []Step
	var ready os.FileInfo
	o := Options{
		Size:   int64(len(text(2))),
		Check:  func() error { return nil },
		Ready:  func(info os.FileInfo) error { ready = info; return nil },
		Before: func(s Step) error { steps = append(steps, s); return nil },
	}
	if err := Replace(t.Context(), path, o, writeText(2), verifyText(2)); err != nil {
		t.Fatal(err)
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
	want := []Step{
		StepFind, StepSpace, StepCreate, StepWrite, StepMode, StepSync, StepVerify, StepCheck, StepReady,
		StepLink, StepBackup, StepSyncBackup, StepName, StepRename, StepLook, StepSyncDir,
	}
	if !canExchange {
		want = slices.DeleteFunc(want, func(s Step) bool { return s == StepName || s == StepLook })
	}
	if got := slices.Compact(slices.Clone(steps)); !slices.Equal(got, want) {
		t.Errorf("the steps are %v, want %v", got, want)
	}
	// An older backup gives way.
	if err := Replace(t.Context(), path, Options{}, writeText(3), nil); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, map[string]int{"file.dat": 3, "file.dat.bak": 2})
	if err := Replace(t.Context(), path, Options{NoBackup: true}, writeText(4), nil); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, map[string]int{"file.dat": 4, "file.dat.bak": 2})
}

// The new file is nobody else's to read until it is complete.
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

// faultAt fails the n-th beginning of a step.
func faultAt(step Step, n int, fail func() error) func(Step) error {
	return func(s Step) error {
		if s == step {
			if n--; n == 0 {
				return fail()
			}
		}
		return nil
	}
}

// Whichever step fails, the old file or the new one is there, and nothing else.
func TestFaults(t *testing.T) {
	type fault struct {
		step Step
		n    int
	}
	faults := []fault{
		{StepFind, 1},
		{StepSpace, 1},
		{StepCreate, 1},
		{StepWrite, 1},
		{StepWrite, 2},
		{StepWrite, 4},
		{StepMode, 1},
		{StepSync, 1},
		{StepVerify, 1},
		{StepCheck, 1},
		{StepReady, 1},
		{StepLink, 1},
		{StepCopy, 1},
		{StepCopy, 3},
		{StepBackup, 1},
		{StepSyncBackup, 1},
		{StepRename, 1},
		{StepSyncDir, 1},
	}
	if canExchange {
		faults = append(faults, fault{StepName, 1}, fault{StepLook, 1})
	}
	for _, f := range faults {
		for _, withCancel := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %d cancel=%v", f.step, f.n, withCancel), func(t *testing.T) {
				path := oldFile(t)
				dir := filepath.Dir(path)
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
				o := Options{Before: faultAt(f.step, f.n, fail)}
				if f.step == StepCopy {
					o.link = func(string, string) error { return syscall.EPERM }
				}
				err := Replace(ctx, path, o, writeText(2), nil)
				want := map[string]int{"file.dat": 1, "file.dat.bak": 0}
				switch at, _ := errors.AsType[*StepError](err); {
				case withCancel && (f.step == StepRename || f.step == StepLook || f.step == StepSyncDir):
					// It came too late.
					if err != nil {
						t.Errorf("%v", err)
					}
				case !errors.Is(err, errInjected):
					t.Fatalf("the error is %v", err)
				case !withCancel && at.Step != f.step && (f.step != StepCopy || at.Step != StepLink):
					t.Errorf("step %q failed: %v", f.step, err)
				}
				if errors.Is(err, ErrUnsynced) != (f.step == StepSyncDir && !withCancel) {
					t.Errorf("whether the new file is in place: %v", err)
				}
				switch f.step {
				case StepSyncBackup, StepName, StepRename, StepLook, StepSyncDir:
					want["file.dat.bak"] = 1
				case StepBackup:
					if withCancel {
						want["file.dat.bak"] = 1
					}
				}
				if err == nil || errors.Is(err, ErrUnsynced) {
					want["file.dat"] = 2
				}
				wantFiles(t, dir, want)
			})
		}
	}
}

// The caller's own refusals keep the old file, and come out as they are.
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
		StepReady: func(path string) error {
			return Replace(t.Context(), path, Options{Ready: func(os.FileInfo) error { return errInjected }}, ok, nil)
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

// A writer that does not look at errors does not pass for one that succeeded.
func TestIgnoredWriteError(t *testing.T) {
	path := oldFile(t)
	o := Options{Before: faultAt(StepWrite, 2, func() error { return errInjected })}
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
	path := oldFile(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = Replace(t.Context(), path, Options{}, func(io.Writer) error { panic("a bug") }, nil)
	}()
	wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 1})
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

// Without a second name, the backup is a copy that looks the same.
func TestCopiedBackup(t *testing.T) {
	path := oldFile(t)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []error{syscall.EPERM, syscall.EXDEV, syscall.EMLINK, errors.ErrUnsupported} {
		o := Options{link: func(from, to string) error { return &os.LinkError{Op: "link", Old: from, New: to, Err: code} }}
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

// A crash between the two renames leaves one file by two names: rename(2) then
// does nothing at all.
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
	// What cannot become a backup is no reason to lose anything.
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
