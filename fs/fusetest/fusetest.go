// Package fusetest mounts trees in tests.
package fusetest

import (
	"errors"
	iofs "io/fs"
	"os"
	"testing"

	"lorefs/fs"
	"lorefs/nodes"
)

// device is what a FUSE server talks to the kernel through.
const device = "/dev/fuse"

// Require skips the test where nothing can be mounted.
func Require(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		t.Skipf("cannot mount here: %v", err)
	}
	_ = f.Close()
}

// Mount mounts tree on a directory of its own, which it returns. The mount goes
// with the test.
func Mount(t testing.TB, tree nodes.Tree, o fs.Options) string {
	t.Helper()
	dir, _ := Serve(t, tree, o)
	return dir
}

// Serve is Mount for tests that need the server as well.
func Serve(t testing.TB, tree nodes.Tree, o fs.Options) (string, *fs.Server) {
	t.Helper()
	Require(t)
	dir := t.TempDir()
	s, err := fs.Mount(t.Context(), dir, tree, o)
	if errors.Is(err, iofs.ErrPermission) {
		t.Skipf("cannot mount here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unmount(t, s) })
	return dir, s
}

// unmount leaves no mount behind even if the test left files open.
func unmount(t testing.TB, s *fs.Server) {
	err := s.Unmount()
	if err == nil {
		return
	}
	t.Logf("detaching instead: %v", err)
	if err := fs.Detach(s.Dir()); err != nil {
		t.Errorf("a mount is left behind: %v", err)
	}
}
