package casc_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
)

// TestEnclosing looks for storages from inside them.
func TestEnclosing(t *testing.T) {
	for form := range casctest.Builds {
		_, files := makeGame(t, "text", form)
		dir, err := filepath.EvalSymlinks(writeDir(t, files))
		if err != nil {
			t.Fatal(err)
		}
		for _, sub := range []string{".", "a/b/c"} {
			if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
				t.Fatal(err)
			}
			if got, err := casc.Enclosing(filepath.Join(dir, sub)); got != dir || err != nil {
				t.Errorf("%s, %s: %q, %v", form, sub, got, err)
			}
		}
		for name := range files {
			if got, err := casc.Enclosing(filepath.Join(dir, name)); got != dir || err != nil {
				t.Errorf("%s, %s: %q, %v", form, name, got, err)
			}
			if got, err := casc.EnclosingFile(filepath.Join(dir, name)); got != dir || err != nil {
				t.Errorf("%s, %s alone: %q, %v", form, name, got, err)
			}
		}
	}
	// A mirror in the folder of an install has nothing to do with it.
	_, install := makeGame(t, "text", "install")
	_, mirror := makeGame(t, "text", "mirror")
	both := maps.Clone(install)
	for name, data := range mirror {
		both["my/mirror/"+name] = data
	}
	dir, err := filepath.EvalSymlinks(writeDir(t, both))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := casc.Enclosing(filepath.Join(dir, "my/mirror/config")); got != filepath.Join(dir, "my/mirror") || err != nil {
		t.Errorf("a mirror in an install: %q, %v", got, err)
	}
	if got, err := casc.Enclosing(filepath.Join(dir, "my")); got != dir || err != nil {
		t.Errorf("beside it: %q, %v", got, err)
	}
	if _, err := casc.Enclosing(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}
