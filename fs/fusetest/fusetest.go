// Package fusetest mounts trees in tests.
package fusetest

import (
	"errors"
	iofs "io/fs"
	"os"
	"testing"

	"lorefs/fs"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
)

// Require skips the test if nothing can be mounted.
func Require(t testing.TB) {
	t.Helper()
	testneeds.FUSE(t)
}

// Mount mounts tree on a new directory, which it returns, until the test ends.
func Mount(t testing.TB, tree nodes.Tree, o fs.Options) string {
	t.Helper()
	dir, _ := Serve(t, tree, o)
	return dir
}

// Serve is Mount for tests that need the server as well.
func Serve(t testing.TB, tree nodes.Tree, o fs.Options) (string, *fs.Server) {
	t.Helper()
	Require(t)
	o.OwnReads = true
	s, err := fs.Mount(t.Context(), t.TempDir(), tree, o)
	if err != nil {
		Failed(t, err)
	}
	t.Cleanup(func() { unmount(t, s) })
	return s.Dir(), s
}

// Failed ends the test after an error of mounting. It skips the test if the system does not
// permit mounts, as in many containers, unless mounts are required.
func Failed(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, iofs.ErrPermission) && os.Getenv("LOREFS_REQUIRE_ALL") == "" {
		t.Skipf("cannot mount here: %v", err)
	}
	t.Fatal(err)
}

// unmount removes the mount even if the test left files open.
func unmount(t testing.TB, s *fs.Server) {
	err := s.Unmount()
	if err == nil {
		return
	}
	t.Logf("detaching instead: %v", err)
	if errors.Is(err, fs.ErrDetached) {
		return
	}
	if err := fs.Detach(s.Dir()); err != nil {
		t.Errorf("a mount is left behind: %v", err)
	}
}
