//go:build linux

package fs_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lorefs/fs"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
)

func TestOpenAndRemoved(t *testing.T) {
	dir, _, tree := editable(t, map[string]string{"d/x": "text"}, fs.Options{})
	f := open(t, os.O_RDWR, dir, "d", "x")
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	id := nodes.ID(info.Sys().(*syscall.Stat_t).Ino)
	reads(t, f, "text")
	if err := os.RemoveAll(filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	lists(t, dir)
	if n := nlink(t, f); n != 0 {
		t.Errorf("%d links to a removed file", n)
	}
	if _, err := f.WriteAt([]byte("more"), 4); err != nil {
		t.Error(err)
	}
	if err := errors.Join(f.Sync(), f.Truncate(6)); err != nil {
		t.Error(err)
	}
	reads(t, f, "textmo")
	if n := tree.Forgotten(id); n != 0 {
		t.Errorf("forgotten %d times while it is open", n)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for try := 0; tree.Forgotten(id) == 0 && try < 1000; try++ {
		time.Sleep(time.Millisecond)
	}
	if n := tree.Forgotten(id); n != 1 {
		t.Errorf("forgotten %d times in the end, want 1", n)
	}
	if _, err := tree.Attr(t.Context(), id); !errors.Is(err, nodes.ErrNotExist) {
		t.Errorf("the removed file is there still: %v", err)
	}
}

func TestRenameOverAnOpenFile(t *testing.T) {
	dir, _, _ := editable(t, map[string]string{"x": "old", "y": "new"}, fs.Options{})
	old := open(t, os.O_RDWR, dir, "x")
	moved := open(t, os.O_RDWR, dir, "y")
	before, err := moved.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "y"), filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	reads(t, old, "old")
	if n := nlink(t, old); n != 0 {
		t.Errorf("%d links to what was replaced", n)
	}
	if _, err := moved.WriteAt([]byte("N"), 0); err != nil {
		t.Error(err)
	}
	if _, err := old.WriteAt([]byte("gone"), 0); err != nil {
		t.Error(err)
	}
	holds(t, "New", dir, "x")
	if after, err := os.Stat(filepath.Join(dir, "x")); err != nil || !os.SameFile(before, after) {
		t.Errorf("a rename changes the inode: %v", err)
	}
	lists(t, dir, "x")
}

func TestRenameOfADirectoryInUse(t *testing.T) {
	dir, _, tree := editable(t, map[string]string{"d/e/x": "text", "f/": ""}, fs.Options{})
	f := open(t, os.O_RDWR, dir, "d", "e", "x")
	resident := exec.Command("sh", "-ec", "cd "+filepath.Join(dir, "d", "e")+"; echo in; read go; pwd -P; cat x; echo new > y")
	in, err1 := resident.StdinPipe()
	out, err2 := resident.StdoutPipe()
	if err := errors.Join(err1, err2, resident.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "f", "g")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("T"), 0); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(in, "go\n"); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(out)
	want := filepath.Join(dir, "f", "g", "e") + "\nText"
	if err = errors.Join(err, resident.Wait()); err != nil || string(said) != want {
		t.Errorf("who lives there says %q, %v; want %q", said, err, want)
	}
	if got := inTree(t, tree, "f", "g", "e", "y"); got != "new\n" {
		t.Errorf("the tree has %q", got)
	}
	holds(t, "Text", dir, "f", "g", "e", "x")
	if _, err := os.Stat(filepath.Join(dir, "d")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old name: %v", err)
	}
}

func TestRenameFlags(t *testing.T) {
	dir, _, _ := editable(t, map[string]string{"x": "1", "y": "2", "d/z": "3"}, fs.Options{})
	rename := func(from, to string, flags uint) error {
		return unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, from), unix.AT_FDCWD, filepath.Join(dir, to), flags)
	}
	if err := rename("x", "y", unix.RENAME_NOREPLACE); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("RENAME_NOREPLACE: %v, want EEXIST", err)
	}
	if err := rename("x", "d/new", unix.RENAME_NOREPLACE); err != nil {
		t.Error(err)
	}
	if err := rename("d", "y", unix.RENAME_EXCHANGE); err != nil {
		t.Error(err)
	}
	if err := rename("y", "w", unix.RENAME_WHITEOUT); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("RENAME_WHITEOUT: %v, want EINVAL", err)
	}
	if err := rename("y", "y/into", 0); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("into itself: %v, want EINVAL", err)
	}
	if err := rename("d", "y", 0); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a file over a directory: %v, want EISDIR", err)
	}
	holds(t, "1", dir, "y", "new")
	holds(t, "3", dir, "y", "z")
	holds(t, "2", dir, "d")
}

func TestTwoWriters(t *testing.T) {
	for _, o := range []fs.Options{{}, fs.OnOldKernel(fs.Options{})} {
		dir, _, tree := editable(t, map[string]string{"x": "0123456789"}, o)
		reader := open(t, os.O_RDONLY, dir, "x")
		reads(t, reader, "0123456789")
		a, b := open(t, os.O_WRONLY, dir, "x"), open(t, os.O_WRONLY|os.O_APPEND, dir, "x")
		for i := range 10 {
			if _, err := a.WriteAt([]byte("abcdefghij")[i:i+1], int64(i)); err != nil {
				t.Error(err)
			}
			if _, err := fmt.Fprintf(b, "%d", i); err != nil {
				t.Error(err)
			}
		}
		reads(t, reader, "abcdefghij0123456789")
		if err := a.Truncate(5); err != nil {
			t.Error(err)
		}
		reads(t, reader, "abcde")
		if _, err := b.WriteString("!"); err != nil {
			t.Error(err)
		}
		c := open(t, os.O_WRONLY|os.O_TRUNC, dir, "x") // by OPEN, or by SETATTR without a handle
		reads(t, reader, "")
		if _, err := c.WriteString("end"); err != nil {
			t.Error(err)
		}
		if err := errors.Join(a.Close(), b.Close(), c.Close()); err != nil {
			t.Error(err)
		}
		reads(t, reader, "end")
		if got := inTree(t, tree, "x"); got != "end" {
			t.Errorf("the tree has %q", got)
		}
		if err := os.Truncate(filepath.Join(dir, "x"), 1); err != nil {
			t.Error(err)
		}
		holds(t, "e", dir, "x")
		holds(t, "e", dir, "x")
	}
}

func TestMapped(t *testing.T) {
	testneeds.Program(t, "python3")
	dir, _, tree := editable(t, map[string]string{"x": strings.Repeat("a", 10000)}, fs.Options{})
	out, err := shell(t, dir, `python3 -c "
import mmap
f = open('$M/x', 'r+b')
m = mmap.mmap(f.fileno(), 0)
assert m[9999:] == b'a'
w = open('$M/x', 'r+b', 0)
w.seek(5000); w.write(b'written')
assert m[4999:5008] == b'awrittena'
m[0:6] = b'mapped'
m.flush()
assert open('$M/x', 'rb').read(7) == b'mappeda'
m[9994:] = b'mapped'
m.close(); f.close()
"`)
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	want := "mapped" + strings.Repeat("a", 4994) + "written" + strings.Repeat("a", 4987) + "mapped"
	if got := inTree(t, tree, "x"); got != want {
		t.Errorf("the tree has %d bytes, which are not what was written", len(got))
	}
}
