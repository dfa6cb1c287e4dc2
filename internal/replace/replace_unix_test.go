//go:build unix

package replace

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"lorefs/internal/disk"
)

// TestLink checks that a link stays a link, and the file that it leads to is replaced in its
// own folder.
func TestLink(t *testing.T) {
	path := oldFile(t)
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := Replace(t.Context(), link, Options{}, writeText(2), nil); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	wantFiles(t, filepath.Dir(path), map[string]int{"file.dat": 2, "file.dat.bak": 1})
	wantFiles(t, dir, map[string]int{"link": 2})
}

func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const uid, gid = 12345, 23456
	path := oldFile(t)
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
	for _, fs := range []disk.FS{nil, noLinks} {
		if err := Replace(t.Context(), path, Options{Disk: fs}, writeText(2), nil); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{path, path + ".bak"} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			st, ok := info.Sys().(*syscall.Stat_t)
			if !ok || st.Uid != uid || st.Gid != gid || info.Mode() != 0o640 {
				t.Errorf("%s belongs to %d:%d, %v", name, st.Uid, st.Gid, info.Mode())
			}
		}
	}
}

// TestSpecialBits checks that the new file gets the setuid, setgid and sticky bits, which
// writing or changing the owner removes.
func TestSpecialBits(t *testing.T) {
	for _, special := range []os.FileMode{os.ModeSetgid, os.ModeSetuid, os.ModeSticky, os.ModeSetuid | os.ModeSetgid} {
		for _, fs := range []disk.FS{nil, noLinks} {
			path := oldFile(t)
			if os.Geteuid() == 0 {
				if err := os.Chown(path, 12345, 23456); err != nil {
					t.Fatal(err)
				}
			}
			want := 0o750 | special
			if err := os.Chmod(path, want); err != nil {
				t.Skip(err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != want {
				t.Skipf("%v can't be set: %v", want, err)
			}
			if err := Replace(t.Context(), path, Options{Disk: fs}, writeText(2), nil); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{path, path + ".bak"} {
				if info, err := os.Stat(name); err != nil || info.Mode() != want {
					t.Errorf("%s has %v, want %v; %v", filepath.Base(name), info.Mode(), want, err)
				}
			}
		}
	}
}

// TestModeFor checks that a new owner or group gets no rights that only the old ones had.
func TestModeFor(t *testing.T) {
	for _, c := range []struct {
		mode                 os.FileMode
		sameOwner, sameGroup bool
		want                 os.FileMode
	}{
		{os.ModeSetuid | os.ModeSetgid | 0o751, true, true, os.ModeSetuid | os.ModeSetgid | 0o751},
		{os.ModeSetuid | os.ModeSetgid | 0o751, false, true, os.ModeSetgid | 0o751},
		{os.ModeSetuid | os.ModeSetgid | 0o751, true, false, os.ModeSetuid | 0o711},
		{os.ModeSetgid | 0o660, false, false, 0o600},
		{0o664, true, false, 0o644},
		{0o604, true, false, 0o600}, // the old group had no rights, and now belongs to the others
		{os.ModeSticky | 0o777, false, false, os.ModeSticky | 0o777},
	} {
		if got := modeFor(c.mode, c.sameOwner, c.sameGroup); got != c.want {
			t.Errorf("%v, same owner %v, same group %v: %v, want %v", c.mode, c.sameOwner, c.sameGroup, got, c.want)
		}
	}
}

func TestForbidden(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	path := oldFile(t)
	if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(path), 0o700) //nolint:errcheck // if it fails, the folder can't be removed, and that fails the test
	err := Replace(t.Context(), path, Options{}, writeText(2), nil)
	if at, ok := errors.AsType[*StepError](err); !ok || at.Step != StepCreate || !errors.Is(err, os.ErrPermission) {
		t.Errorf("%v", err)
	}
}
