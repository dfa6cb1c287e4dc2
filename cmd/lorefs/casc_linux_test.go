package main

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lorefs/blte/bltetest"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/config"
	"lorefs/casc/keys"
	"lorefs/internal/testneeds"
)

// mountCASC mounts a storage until the end of the test.
func mountCASC(t *testing.T, path string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	runTool(t, "", "lorefs", append(append([]string{"mount"}, flags...), path, dir)...)
	t.Cleanup(func() {
		if out, err := exec.Command("lorefs", "unmount", dir).CombinedOutput(); err != nil {
			t.Errorf("unmount: %v: %s", err, out)
			detachBelow(filepath.Dir(dir))
		}
	})
	return dir
}

// writeGame writes a storage with a kind of root. It returns its folder, and flags that name
// all of its files and decrypt them.
func writeGame(t *testing.T, root, form string) (g *casctest.Game, dir string, flags []string) {
	t.Helper()
	g, files := casctest.Make(t, root, form)
	dir = filepath.Join(t.TempDir(), "game")
	if err := files.Write(dir); err != nil {
		t.Fatal(err)
	}
	list, keys := filepath.Join(filepath.Dir(dir), "list"), filepath.Join(filepath.Dir(dir), "keys")
	text := fmt.Sprintf("%v %X\n%v %X\n", bltetest.KeyName, bltetest.Key(), bltetest.SecretName, bltetest.Key())
	if err := errors.Join(os.WriteFile(list, []byte(g.List()), 0o600), os.WriteFile(keys, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return g, dir, []string{"--listfile", list, "--keys", keys}
}

// shownName returns the path below files/ of a file of a game. A nested manifest is a
// directory, and its own content the file % in it.
func shownName(name string, nested bool) string {
	if !nested {
		return name
	}
	name = strings.ReplaceAll(name, ":", "/")
	if strings.HasSuffix(name, "/") {
		name += "%"
	}
	return name
}

// TestCASCTools checks that ordinary tools copy storages with every kind of root unchanged.
func TestCASCTools(t *testing.T) {
	t.Parallel()
	testneeds.FUSE(t)
	for _, root := range slices.Sorted(maps.Keys(casctest.Roots)) {
		t.Run(root, func(t *testing.T) {
			if testneeds.Quick() && root != "tvfs" && root != "wow 3" {
				t.Skip("one root with names, and one without, are enough")
			}
			form := "install"
			if root == "text" {
				form = "mirror of group"
			}
			g, dir, flags := writeGame(t, root, form)
			want := map[string][]byte{}
			for name, content := range g.Want {
				if content != nil {
					want[shownName(name, root == "tvfs")] = content
				}
			}
			mnt := mountCASC(t, dir, flags...)
			copies := t.TempDir()
			defer writable(t, copies) // or only root could remove it
			runTool(t, mnt, "cp", "-a", "files", filepath.Join(copies, "cp"))
			runTool(t, mnt, "rsync", "-a", "files/", filepath.Join(copies, "rsync"))
			if out := runTool(t, mnt, "rsync", "-ai", "files/", filepath.Join(copies, "rsync")); out != "" {
				t.Errorf("the second time rsync copies %.500s", out)
			}
			export := exec.CommandContext(t.Context(), "lorefs", append(append([]string{"export"}, flags...), dir, filepath.Join(copies, "export"), "files")...)
			if out, err := export.CombinedOutput(); err != nil {
				t.Errorf("export: %v: %s", err, out)
			}
			for _, by := range []string{"cp", "rsync", "export"} {
				sameFiles(t, filepath.Join(copies, by), want)
			}
			bytes := 0
			for _, content := range want {
				bytes += len(content)
				if n := len(content); n > 0 && content[n-1] != '\n' {
					bytes++ // grep adds a newline
				}
			}
			if got := len(runTool(t, mnt, "grep", "-rha", "", "files")); got != bytes {
				t.Errorf("grep sees %d bytes, want %d", got, bytes)
			}
			found := strings.Count(runTool(t, mnt, "find", "files", "-type", "f", "-printf", "%s %p\n"), "\n")
			if found != len(want) {
				t.Errorf("find finds %d files, want %d", found, len(want))
			}
		})
	}
}

// sameFiles checks that a folder has these files and no others.
func sameFiles(t *testing.T, dir string, want map[string][]byte) {
	t.Helper()
	left := maps.Clone(want)
	err := filepath.WalkDir(dir, func(name string, e iofs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(name)
		if content, ok := left[filepath.ToSlash(rel)]; !ok || string(content) != string(got) {
			t.Errorf("%s has %.40q, want %.40q, %v", name, got, content, ok)
		}
		delete(left, filepath.ToSlash(rel))
		return err
	})
	if err != nil || len(left) > 0 {
		t.Errorf("%s: %v, without %v", dir, err, slices.Sorted(maps.Keys(left)))
	}
}

// TestCASCSynthetic reads storages that others made, through a mount.
func TestCASCSynthetic(t *testing.T) {
	t.Parallel()
	testneeds.FUSE(t)
	for _, kind := range casctest.Synthetics {
		t.Run(kind, func(t *testing.T) {
			if testneeds.Quick() && kind != "tvfs_mixedidx" && kind != "wow3" {
				t.Skip("two of eight are enough")
			}
			s, dir := casctest.LoadSynthetic(t, kind), t.TempDir()
			beside, game := filepath.Join(dir, "beside"), filepath.Join(dir, "game")
			if err := errors.Join(s.Store.Write(game), s.Beside.Write(beside)); err != nil {
				t.Fatal(err)
			}
			flags := []string{"--missing=show", "--keys", filepath.Join(beside, "keys")}
			if s.Beside["listfile.csv"] != nil {
				flags = append(flags, "--listfile", filepath.Join(beside, "listfile.csv"))
			}
			files := filepath.Join(mountCASC(t, game, flags...), "files")
			for _, f := range s.Files {
				name := shownName(f.Shown(), strings.HasPrefix(kind, "tvfs"))
				want := error(nil)
				switch {
				case strings.Contains(name, "absent/"):
					want = syscall.ENODATA
				case strings.Contains(name, "missing_key"):
					want = syscall.ENOKEY
				}
				at := filepath.Join(files, filepath.FromSlash(name))
				info, err := os.Stat(at)
				if err != nil || info.Size() != f.Size {
					t.Errorf("%s: %v, %v; want %d bytes", name, info, err, f.Size)
				}
				data, err := os.ReadFile(at)
				sum := md5.Sum(data)
				if !errors.Is(err, want) || want == nil && hex.EncodeToString(sum[:]) != f.MD5 {
					t.Errorf("%s: %v, MD5 %x; want %v, %s", name, err, sum, want, f.MD5)
				}
			}
		})
	}
}

// TestCASCUpdate checks that the mounted build stays readable if an updater moves all data
// and installs another build, and that status and the log say so.
func TestCASCUpdate(t *testing.T) {
	testneeds.Seconds(t)
	t.Parallel()
	testneeds.FUSE(t)
	g, dir, flags := writeGame(t, "text", "install")
	log := filepath.Join(t.TempDir(), "log")
	mnt := mountCASC(t, dir, append(flags, "--cache-size=0", "--log-file="+log)...)
	files := filepath.Join(mnt, "files")
	want := maps.Clone(g.Want)
	maps.DeleteFunc(want, func(_ string, content []byte) bool { return content == nil })
	// The kernel keeps what is read here; everything else must be found in new places.
	runTool(t, files, "cat", "readme.txt", "data/units/Orc.xml")
	if err := casctest.Moved(t, readStorage(t, dir), 1000).Write(dir); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, files, want)
	info := filepath.Join(dir, ".build.info")
	data, err := os.ReadFile(info)
	if err != nil {
		t.Fatal(err)
	}
	builds, err := config.ParseBuildInfo(data)
	if err != nil {
		t.Fatal(err)
	}
	if out := runTool(t, "", "lorefs", "status", mnt); strings.Contains(out, "notice") {
		t.Errorf("before there is another build, status tells of something: %s", out)
	}
	other := strings.ReplaceAll(string(data), builds[0].BuildKey.String(), keys.Key{15: 9}.String()) + "\n"
	if err := os.WriteFile(info, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	told := "another build is installed now"
	asked := 0
	await(t.Fatalf, "the new build in the log", func() bool {
		// Looking up a new name makes the tree check the storage.
		asked++
		_, _ = os.Stat(filepath.Join(files, fmt.Sprintf("none %d", asked)))
		text, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(text), told)
	})
	if out := runTool(t, "", "lorefs", "status", mnt); !strings.Contains(out, told+", 1.0.0.1 (00000000000000000000000000000009)") {
		t.Errorf("status: %s", out)
	}
	sameFiles(t, files, want)
}

// readStorage returns the files of a storage by their paths.
func readStorage(t *testing.T, dir string) write.Files {
	t.Helper()
	files := write.Files{}
	err := filepath.WalkDir(dir, func(name string, e iofs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCASCSixteenReaders reads a mount with sixteen processes at once, which the race
// detector checks.
func TestCASCSixteenReaders(t *testing.T) {
	t.Parallel()
	testneeds.Seconds(t)
	testneeds.FUSE(t)
	dir := t.TempDir()
	runTool(t, dir, "lorefs", "sample", "s")
	s := filepath.Join(dir, "s")
	mnt := mountCASC(t, filepath.Join(s, "game"), "--cache-size=64K", "--listfile="+filepath.Join(s, "listfile.csv"), "--keys="+filepath.Join(s, "keys.txt"))
	readBySixteen(t, mnt, ".")
}
