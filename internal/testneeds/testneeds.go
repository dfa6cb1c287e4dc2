package testneeds

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// requireAll is the variable that turns skipping into failing.
const requireAll = "LOREFS_REQUIRE_ALL"

func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(requireAll) != "" {
		t.Fatalf(format+" ("+requireAll+" is set)", args...)
	}
	t.Skipf(format, args...)
}

// FUSE requires a system on which this user can mount.
func FUSE(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		missing(t, "nothing can be mounted here: %v", err)
		return
	}
	f.Close()
	if os.Geteuid() != 0 {
		Program(t, "fusermount3")
	}
}

// Program requires an installed program.
func Program(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, "a program is missing: %v", err)
	}
}

// Fixture returns the path of a fixture, which may lie beside the project.
func Fixture(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Root(t), "..", "shared", "fixtures", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		missing(t, "a fixture is missing: %v", err)
	}
	return path
}

// Root returns the folder of the project.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod in any folder above")
		}
		dir = up
	}
}
