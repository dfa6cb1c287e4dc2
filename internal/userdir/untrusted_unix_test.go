//go:build unix

package userdir

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// somebody is a user that no test runs as.
const somebody = 12345

func requireRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
}

func TestUntrustedFolder(t *testing.T) {
	cases := map[string]func(t *testing.T, path string) error{
		"link": func(t *testing.T, path string) error { return os.Symlink(t.TempDir(), path) },
		"file": func(_ *testing.T, path string) error { return os.WriteFile(path, nil, 0o600) },
		"writable": func(_ *testing.T, path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o770))
		},
		"foreign": func(t *testing.T, path string) error {
			requireRoot(t)
			return errors.Join(os.Mkdir(path, 0o700), os.Chown(path, somebody, somebody))
		},
	}
	for what, make := range cases {
		t.Run(what, func(t *testing.T) {
			for _, sub := range [][]string{nil, {"index"}} {
				base := t.TempDir()
				path := filepath.Join(append([]string{base, name}, sub...)...)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := make(t, path); err != nil {
					t.Fatal(err)
				}
				if d, err := open(base, sub, nil); !errors.Is(err, ErrUntrusted) {
					t.Errorf("%s: %v, %v", path, d, err)
				}
			}
		})
	}
}

func TestUntrustedFile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("planted"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]func(t *testing.T, path string) error{
		"link": func(_ *testing.T, path string) error { return os.Symlink(outside, path) },
		"pipe": func(_ *testing.T, path string) error { return syscall.Mkfifo(path, 0o600) },
		"writable": func(_ *testing.T, path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o606))
		},
		"foreign": func(t *testing.T, path string) error {
			requireRoot(t)
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, somebody, somebody))
		},
	}
	for what, make := range cases {
		t.Run(what, func(t *testing.T) {
			s := testStore(t, 1000)
			if err := make(t, filepath.Join(s.dir.Path(), "key"+suffix)); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Load("key"); !errors.Is(err, ErrUntrusted) {
				t.Errorf("read %q, %v", got, err)
			}
			// Writing replaces it by a file of our own and touches nothing else.
			if err := s.Save("key", []byte("ours")); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Load("key"); err != nil || string(got) != "ours" {
				t.Errorf("after writing: %q, %v", got, err)
			}
		})
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != "planted" {
		t.Errorf("the link was followed: %q, %v", got, err)
	}
}

func TestUnwritable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	base := t.TempDir()
	if err := os.Chmod(base, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := open(base, nil, nil); err == nil {
		t.Error("a folder was made where none can be")
	}
}

// TestNoRoom checks that a read-only cache folder is an error, not a crash.
func TestNoRoom(t *testing.T) {
	s := testStore(t, 1000)
	if err := os.RemoveAll(s.dir.Path()); err != nil {
		t.Fatal(err)
	}
	if err := s.Save("key", []byte("x")); err == nil {
		t.Error("saved into a folder that is gone")
	}
}
