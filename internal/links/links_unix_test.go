//go:build unix

package links_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"lorefs/internal/links"
)

// shared makes a folder like /tmp that belongs to a user.
func shared(t *testing.T, uid int) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = errors.Join(os.Chown(dir, uid, -1), os.Chmod(dir, os.ModeSticky|0o777))
	}
	if err != nil {
		t.Skip(err)
	}
	return dir
}

// link makes a link that belongs to a user.
func link(t *testing.T, to, at string, uid int) {
	t.Helper()
	if err := errors.Join(os.Symlink(to, at), os.Lchown(at, uid, -1)); err != nil {
		t.Skip(err)
	}
}

// TestPlanted checks whose links are followed in a folder that everybody may write to.
func TestPlanted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make links of others")
	}
	const other, third = 12345, 23456
	victim, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(victim, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		folder, link int
		mode         os.FileMode
		follows      bool
	}{
		{0, 0, os.ModeSticky | 0o777, true},
		{0, other, os.ModeSticky | 0o777, false},
		{other, other, os.ModeSticky | 0o777, true},
		{third, other, os.ModeSticky | 0o777, false},
		{third, 0, os.ModeSticky | 0o777, true},
		{0, other, os.ModeSticky | 0o775, true},
		{0, other, 0o777, true},
	} {
		dir := shared(t, c.folder)
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		link(t, filepath.Join(victim, "file"), filepath.Join(dir, "file"), c.link)
		link(t, filepath.Join(victim, "no"), filepath.Join(dir, "dangling"), c.link)
		link(t, victim, filepath.Join(dir, "folder"), c.link)
		for name, there := range map[string]bool{"file": true, "folder/file": true, "dangling": false, "folder/no": false} {
			got, err := links.Resolve(filepath.Join(dir, name))
			switch {
			case !c.follows:
				if !errors.Is(err, links.ErrPlanted) {
					t.Errorf("%+v: %s: %q, %v", c, name, got, err)
				}
			case there != (err == nil), !there && !errors.Is(err, os.ErrNotExist):
				t.Errorf("%+v: %s: %q, %v", c, name, got, err)
			case there && got != filepath.Join(victim, "file"):
				t.Errorf("%+v: %s leads to %s", c, name, got)
			}
		}
		for _, name := range []string{"folder", "folder/below"} {
			if got, err := links.MakeDir(filepath.Join(dir, name), 0o700); errors.Is(err, links.ErrPlanted) == c.follows {
				t.Errorf("%+v: made %s as %q, %v", c, name, got, err)
			}
		}
		for _, name := range []string{"file", "dangling"} {
			f, err := links.OpenLog(filepath.Join(dir, name), 0o600)
			if errors.Is(err, links.ErrPlanted) == c.follows {
				t.Errorf("%+v: opened %s: %v", c, name, err)
			}
			if err == nil {
				f.Close()
			}
		}
		for _, name := range []string{"no", "below"} {
			path := filepath.Join(victim, name)
			if _, err := os.Lstat(path); (err == nil) != c.follows {
				t.Errorf("%+v: %s: %v", c, name, err)
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestResolve compares paths with those of filepath.EvalSymlinks.
func TestResolve(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(base)
	err = errors.Join(
		os.MkdirAll("a/b/c", 0o700), os.WriteFile("a/file", nil, 0o600), os.Symlink("a/b", "ab"), os.Symlink("../file", "a/b/up"),
		os.Symlink(base+"/ab/c", "abs"), os.Symlink("loop", "loop"), os.Symlink("gone", "dangling"),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		".", "/", "a/file", "ab/c", "ab/..", "ab/../file", "ab/up", "./ab//c/../up", "abs/../up", "loop", "dangling",
		"no", "ab/no", "a/file/no", "..", "../../../../../../../../..",
	} {
		want, wantErr := filepath.EvalSymlinks(path)
		if wantErr == nil {
			want, wantErr = filepath.Abs(want)
		}
		got, err := links.Resolve(path)
		if (err == nil) != (wantErr == nil) || err == nil && got != want || errors.Is(err, os.ErrNotExist) != errors.Is(wantErr, os.ErrNotExist) {
			t.Errorf("%s: %q, %v, want %q, %v", path, got, err, want, wantErr)
		}
	}
	if got, err := links.MakeDir("ab/new/er", 0o700); err != nil || got != base+"/a/b/new/er" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOpenLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for range 2 {
		f, err := links.OpenLog(path, 0o600)
		if err == nil {
			_, err = f.WriteString("x")
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "xx" {
		t.Errorf("%q, %v", b, err)
	}
	for _, device := range []string{"/dev/null", "/dev/stderr"} {
		if _, err := os.Stat(device); err != nil {
			continue
		}
		f, err := links.OpenLog(device, 0o600)
		if err != nil {
			t.Error(err)
			continue
		}
		f.Close()
	}
}
