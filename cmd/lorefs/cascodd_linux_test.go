package main

import (
	"crypto/md5"
	"encoding/hex"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/cmd/internal/cli"
	"lorefs/internal/testneeds"
)

// TestCASCOddMounted checks that a mount of an odd storage has all names, that all files can
// be read, and that status reports what is odd.
func TestCASCOddMounted(t *testing.T) {
	testneeds.Slow(t, "TestCASCOdd reads the same storages")
	testneeds.FUSE(t)
	ownFolders(t)
	eachOdd(t, func(t *testing.T, o oddStorage) {
		dir, flags := o.write(t)
		mnt := t.TempDir()
		_, talk, code := tool(t, append(append([]string{"mount"}, flags...), dir, mnt)...)
		if code != cli.ExitOK {
			t.Fatalf("mount: %d, %s", code, talk)
		}
		t.Cleanup(func() {
			if out, err := exec.Command("lorefs", "unmount", mnt).CombinedOutput(); err != nil {
				t.Errorf("unmount: %v: %s", err, out)
				detachBelow(filepath.Dir(mnt))
			}
		})
		var names []string
		files := filepath.Join(mnt, "files")
		err := filepath.WalkDir(files, func(name string, e iofs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			rel, err := filepath.Rel(files, name)
			if err != nil {
				return err
			}
			names = append(names, rel)
			data, err := os.ReadFile(name)
			sum := md5.Sum(data)
			if want := o.sums[rel]; err != nil || len(data) == 0 || want != "" && hex.EncodeToString(sum[:]) != want {
				t.Errorf("%s: %d bytes with MD5 %x, want %s: %v", rel, len(data), sum, want, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		sameNames(t, "the mount", names, o.names)
		out, talk, code := tool(t, "status", mnt)
		if code != cli.ExitOK || strings.Contains(out, "notice") != (o.told != "") || !strings.Contains(out, o.told) {
			t.Errorf("status: %d, %s%s, want %q", code, out, talk, o.told)
		}
	})
}
