//go:build unix

package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"lorefs/internal/disk"
	"lorefs/internal/journal"
	"lorefs/internal/userdir"
)

// TestUntrusted checks that files which others could have written are refused, and that
// nothing is read or made through a link.
func TestUntrusted(t *testing.T) {
	good := newJournal(t)
	if err := good.Append([]byte("x")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(good.Path())
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string) error { return os.WriteFile(path, data, 0o600) }
	cases := map[string]struct {
		make func(path string) error
		want error
	}{
		"fine":     {write, nil},
		"writable": {func(path string) error { return errors.Join(write(path), os.Chmod(path, 0o620)) }, userdir.ErrUntrusted},
		"foreign": {func(path string) error {
			if err := write(path); err != nil {
				return err
			}
			return os.Chown(path, 12345, 12345)
		}, userdir.ErrUntrusted},
		"link":     {func(path string) error { return os.Symlink(good.Path(), path) }, syscall.ELOOP},
		"dangling": {func(path string) error { return os.Symlink(good.Path()+"2", path) }, syscall.ELOOP},
		"pipe":     {func(path string) error { return syscall.Mkfifo(path, 0o600) }, nil},
		"folder":   {func(path string) error { return os.Mkdir(path, 0o700) }, nil},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			if what == "foreign" && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			path := filepath.Join(t.TempDir(), "x")
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			contents, err := journal.Read(path)
			if err == nil {
				contents.Close()
			}
			j, _, err2 := journal.Resume(disk.OS{}, path)
			if err2 == nil {
				j.Close()
			}
			for _, err := range []error{err, err2} {
				if (err == nil) != (what == "fine") || c.want != nil && !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			}
			if j, err := journal.Create(disk.OS{}, path, nil); err == nil {
				t.Error("made where something is", j.Close())
			}
		})
	}
	if _, err := os.Lstat(good.Path() + "2"); err == nil {
		t.Error("a journal was made through a link")
	}
	wantRecords(t, good.Path(), "x")
}
