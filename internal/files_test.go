package internal_test

import (
	iofs "io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// A reader can hold mostFiles files of a package, not counting tests. With more than undocumented, a
// doc.go says where to begin.
const (
	mostFiles    = 30
	undocumented = 5
)

// sources returns the files of each package without its tests, for all systems.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := iofs.WalkDir(os.DirFS(".."), ".", func(name string, d iofs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".")):
			return iofs.SkipDir
		case !d.IsDir() && strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go"):
			found[path.Dir(name)] = append(found[path.Dir(name)], base)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestFiles keeps packages small enough for a reader, and has the larger ones say where to begin.
func TestFiles(t *testing.T) {
	for pkg, files := range sources(t) {
		if len(files) > mostFiles {
			t.Errorf("%s has %d files, want at most %d", pkg, len(files), mostFiles)
		}
		hasDoc := slices.Contains(files, "doc.go")
		if len(files) > undocumented && !hasDoc {
			t.Errorf("%s has %d files, and none is doc.go", pkg, len(files))
		}
	}
}
