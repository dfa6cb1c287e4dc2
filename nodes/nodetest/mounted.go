package nodetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"lorefs/nodes"
)

// RunMounted checks that dir, a mount of tree, shows its names, kinds, sizes, times, numbers and
// bytes.
func RunMounted(t *testing.T, dir string, tree nodes.Tree, opts ...Option) {
	t.Helper()
	o := parse(opts)
	samples := append(sample(t, tree, o.limit), sampled{entry: nodes.Entry{ID: nodes.Root, Kind: nodes.Dir}})
	root, err := tree.Attr(context.Background(), nodes.Root)
	if err != nil {
		t.Fatal(err)
	}
	samples[len(samples)-1].attr = root
	for _, s := range samples {
		if err := checkMounted(filepath.Join(dir, filepath.FromSlash(s.path)), tree, s); err != nil {
			t.Errorf("%q: %v", s.path, err)
		}
	}
}

func checkMounted(name string, tree nodes.Tree, s sampled) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode().Type() != typeOf(s.attr.Kind) {
		return fmt.Errorf("the mode is %v, want a %v", info.Mode(), s.attr.Kind)
	}
	if !info.ModTime().Equal(s.attr.ModTime) {
		return fmt.Errorf("the time is %v, want %v", info.ModTime(), s.attr.ModTime)
	}
	if ino, ok := inode(info); ok && ino != uint64(s.entry.ID) {
		return fmt.Errorf("the inode number is %d, want %d", ino, s.entry.ID)
	}
	switch s.attr.Kind {
	case nodes.Dir:
		return checkMountedDir(name, tree, s.entry.ID)
	case nodes.Link:
		return checkMountedLink(name, tree, s.entry.ID)
	}
	if info.Size() != s.attr.Size {
		return fmt.Errorf("the size is %d, want %d", info.Size(), s.attr.Size)
	}
	if s.attr.Size > maxContent {
		return nil
	}
	return checkMountedFile(name, tree, s)
}

func typeOf(k nodes.Kind) os.FileMode {
	switch k {
	case nodes.Dir:
		return os.ModeDir
	case nodes.Link:
		return os.ModeSymlink
	}
	return 0
}

func checkMountedLink(name string, tree nodes.Tree, id nodes.ID) error {
	want, err := nodes.Readlink(context.Background(), tree, id)
	if err != nil {
		return err
	}
	if got, err := os.Readlink(name); got != want || err != nil {
		return fmt.Errorf("it leads to %q, %w; want %q", got, err, want)
	}
	return nil
}

func checkMountedDir(name string, tree nodes.Tree, id nodes.ID) error {
	want, err := list(context.Background(), tree, id)
	if err != nil {
		return err
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	got, err := d.Readdirnames(-1)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d names are listed, want %d", len(got), len(want))
	}
	for i, e := range want {
		if got[i] != e.Name {
			return fmt.Errorf("name %d is %q, want %q", i, got[i], e.Name)
		}
	}
	return nil
}

func checkMountedFile(name string, tree nodes.Tree, s sampled) error {
	want := make([]byte, s.attr.Size)
	n, err := tree.ReadAt(context.Background(), s.entry.ID, want, 0)
	if unreadable(err) {
		if _, err := os.ReadFile(name); err == nil {
			return errors.New("can be read, but the tree cannot read it")
		}
		return nil
	}
	if n < len(want) {
		return fmt.Errorf("the tree reads %d bytes: %w", n, err)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errors.New("the content differs")
	}
	return nil
}

// inode returns the inode number, if the operating system reports one.
func inode(info os.FileInfo) (uint64, bool) {
	v := reflect.ValueOf(info.Sys())
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return 0, false
	}
	f := v.Elem()
	if f.Kind() != reflect.Struct {
		return 0, false
	}
	if f = f.FieldByName("Ino"); f.IsValid() && f.CanUint() {
		return f.Uint(), true
	}
	return 0, false
}
