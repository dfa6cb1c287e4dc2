package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, path, text string, mtime time.Time) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, mtime, mtime); err != nil {
		t.Fatal(err)
	}
}

var testTime = time.Unix(1_500_000_000, 0)

// open makes a source and the clock for its Check.
func open(t *testing.T) (f *File, path string, pass func(time.Duration)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.dat")
	write(t, path, "0123456789", testTime)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	now := time.Now()
	f.clock = func() time.Time { return now }
	return f, path, func(d time.Duration) { now = now.Add(d) }
}

func read(f *File) (string, error) {
	p := make([]byte, 4)
	n, err := f.ReadAt(p, 2)
	return string(p[:n]), err
}

func TestOpen(t *testing.T) {
	f, path, _ := open(t)
	if f.Path() != path || f.Size() != 10 || !f.ModTime().Equal(testTime) {
		t.Errorf("opened %q of %d bytes from %v", f.Path(), f.Size(), f.ModTime())
	}
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	if text, err := read(f); text != "2345" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
}

func TestOpenNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory: %v", err)
	}
}

// changes are all ways in which a source may change.
var changes = map[string]struct {
	do func(t *testing.T, path string)
	// seen is set if a read notices it without Check.
	seen bool
}{
	"truncated": {func(t *testing.T, path string) {
		if err := os.Truncate(path, 3); err != nil {
			t.Fatal(err)
		}
	}, true},
	"rewritten": {func(t *testing.T, path string) { write(t, path, "abcdefghij", testTime.Add(time.Second)) }, true},
	"grown":     {func(t *testing.T, path string) { write(t, path, "0123456789ab", testTime) }, true},
	"deleted": {func(t *testing.T, path string) {
		if err := os.Remove(path); err != nil {
			t.Skip(err) // Windows keeps open files
		}
	}, false},
	"replaced": {func(t *testing.T, path string) {
		write(t, path+".new", "0123456789", testTime)
		if err := os.Rename(path+".new", path); err != nil {
			t.Skip(err)
		}
	}, false},
}

func TestChanged(t *testing.T) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			f, path, pass := open(t)
			if err := f.Check(); err != nil {
				t.Fatal(err)
			}
			change.do(t, path)
			if err := f.Check(); err != nil {
				t.Errorf("asked again within %v: %v", checkEvery, err)
			}
			if text, err := read(f); change.seen && (text != "" || !errors.Is(err, ErrChanged)) {
				t.Errorf("a read gives %q, %v", text, err)
			}
			pass(checkEvery)
			if err := f.Check(); !errors.Is(err, ErrChanged) {
				t.Fatalf("Check: %v", err)
			}
			text, err := read(f)
			if change.seen && (text != "" || !errors.Is(err, ErrChanged)) {
				t.Errorf("a read after Check gives %q, %v", text, err)
			}
			if !change.seen && (text != "2345" || err != nil) {
				t.Errorf("a read of the open file, which has not changed, gives %q, %v", text, err)
			}
			if intact := f.Intact(); errors.Is(intact, ErrChanged) != change.seen {
				t.Errorf("Intact: %v", intact)
			}
			write(t, path, "0123456789", testTime)
			pass(checkEvery)
			if err := f.Check(); !errors.Is(err, ErrChanged) {
				t.Errorf("after all was put back: %v", err)
			}
		})
	}
}

// TestGrown appends to a file that may grow, and then does what else may be done to it.
func TestGrown(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(path string) error
		how    string
	}{
		{"cut", func(path string) error { return os.Truncate(path, 5) }, "it had 14 bytes and has 5"},
		{"written to", func(path string) error { return os.Chtimes(path, testTime, testTime) }, "it was written to"},
		{"gone", os.Remove, "it is gone"},
		{"replaced", func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte("0123456789abcdef"), 0o600))
		}, "another file has taken its place"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, path, _ := open(t)
			f.AllowGrowth()
			more, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer more.Close()
			if _, err := more.WriteString("abcd"); err != nil {
				t.Fatal(err)
			}
			if text, err := read(f); text != "2345" || err != nil || f.Size() != 10 || f.CheckNow() != nil {
				t.Errorf("before Grown: %q, %v, %d bytes, %v", text, err, f.Size(), f.CheckNow())
			}
			if size, err := f.Grown(); size != 14 || err != nil || f.Size() != 14 {
				t.Errorf("grown to %d, %v", size, err)
			}
			if err := tt.change(path); err != nil {
				t.Fatal(err)
			}
			_, err = f.Grown()
			if tt.how == "it was written to" {
				if err != nil {
					t.Errorf("the time may come before the bytes: %v", err)
				}
				_, err = f.Grown()
			}
			if !errors.Is(err, ErrChanged) || !strings.HasSuffix(err.Error(), tt.how) {
				t.Errorf("got %v, want %s", err, tt.how)
			}
		})
	}
}
