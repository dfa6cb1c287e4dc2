package casc_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/casc"
	"lorefs/casc/keys"
)

// moveAway moves a file or folder elsewhere and puts a link in its place.
func moveAway(t *testing.T, dir, name string) {
	t.Helper()
	from, to := filepath.Join(dir, name), filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.Rename(from, to), os.Symlink(to, from)); err != nil {
		t.Skip(err) // not every system has links and other disks
	}
}

// TestLinks has parts of storages on other disks.
func TestLinks(t *testing.T) {
	for form, names := range map[string][]string{
		"install": {"Data/data/data.001", "Data/data", "Data/config", "Data", ".build.info"},
		"mirror":  {"config", "data", "data/*", "data/*/*", "data/*/*/*"},
	} {
		for _, name := range names {
			g, files := makeGame(t, "text", form)
			dir := t.TempDir()
			if err := files.Write(dir); err != nil {
				t.Fatal(err)
			}
			parts, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil || len(parts) == 0 {
				t.Fatal(name, err)
			}
			for _, part := range parts {
				rel, err := filepath.Rel(dir, part)
				if err != nil {
					t.Fatal(err)
				}
				moveAway(t, dir, rel)
			}
			if is, err := casc.Detect(dir); !is || err != nil {
				t.Errorf("%s is a link: %v, %v", name, is, err)
			}
			st, err := casc.OpenPath(dir, g.options(t))
			if err != nil {
				t.Errorf("%s is a link: %v", name, err)
				continue
			}
			if err := errors.Join(g.check(st), st.Close()); err != nil {
				t.Errorf("%s is a link: %v", name, err)
			}
		}
	}
}

// TestDeadLinks has links in a mirror that lead nowhere or in circles, and unreadable
// folders. They are reported, and everything else is read.
func TestDeadLinks(t *testing.T) {
	g, files := makeGame(t, "text", "mirror")
	dir := t.TempDir()
	if err := files.Write(dir); err != nil {
		t.Fatal(err)
	}
	for i, part := range []string{"config", "data"} {
		key := keys.Key{0: 0xFE, 15: byte(i)}.String()
		at := filepath.Join(dir, part, "fe", "00")
		err := errors.Join(os.MkdirAll(at, 0o700), os.Symlink("nowhere", filepath.Join(at, key)), os.Symlink("nowhere", filepath.Join(dir, part, "fd")),
			os.Symlink("..", filepath.Join(at, "around")))
		if part == "data" {
			err = errors.Join(err, os.Symlink("nowhere", filepath.Join(at, key+".index")))
		}
		if err != nil {
			t.Skip(err)
		}
	}
	st, err := casc.OpenPath(dir, g.options(t))
	if err != nil {
		t.Fatal(err)
	}
	told := fmt.Sprint(st.Problems())
	if n := strings.Count(told, "a link leads nowhere"); n != 5 || len(st.Problems()) != 5 {
		t.Errorf("%d links: %s", n, told)
	}
	if files, err := st.Files(t.Context()); err != nil || len(files) != len(g.Want) {
		t.Errorf("%d files, %v", len(files), err)
	}
	if st.DiskSize() == 0 {
		t.Error("no bytes")
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}
