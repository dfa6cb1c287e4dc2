// Package internal_test keeps the packages of lorefs in layers: the command knows all, the
// mount knows the tree, the trees know their formats, and the formats know nobody. What lies
// in internal itself stands below all of them; internal/formats is among the formats, and
// internal/app above all but the command.
//
// A format is one folder at the top, which other programs may import, and one of the same name in
// internal/formats, which they may not. Some have only one of the two.
package internal_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is the prefix of our own packages.
const module = "lorefs/"

const goFuse = "github.com/hanwen/go-fuse"

// inner is the folder of what only we import of the formats.
const inner = "internal/formats/"

// formats are the names of the formats: the folders in internal/formats, and those at the top that
// hold a package but a few. The tours of the README leave folders at the top that hold none.
func formats(t *testing.T) (names []string) {
	t.Helper()
	for _, dir := range []string{".", inner} {
		entries, err := os.ReadDir(filepath.Join("..", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			known := append([]string{"cmd", "fs", "internal", "nodes"}, names...)
			_, err := os.Stat(filepath.Join("..", e.Name(), "doc.go"))
			if e.IsDir() && (dir == inner || err == nil) && !slices.Contains(known, e.Name()) {
				names = append(names, e.Name())
			}
		}
	}
	if len(names) < 6 {
		t.Fatalf("the formats are %v", names)
	}
	return names
}

// folders are those of a format that exist.
func folders(format string) (dirs []string) {
	for _, dir := range []string{format, inner + format} {
		if _, err := os.Stat(filepath.Join("..", dir)); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// of tells whether a package belongs to a format.
func of(pkg, format string) bool {
	return under(pkg, module+format) || under(pkg, module+inner+format)
}

// imported returns what each of our packages imports, however far down, without tests and the
// standard library.
var imported = sync.OnceValues(func() (map[string][]string, error) {
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all[words[0]] = slices.DeleteFunc(words[1:], func(pkg string) bool {
			host, _, _ := strings.Cut(pkg, "/")
			return !strings.HasPrefix(pkg, module) && !strings.Contains(host, ".")
		})
	}
	return all, nil
})

// deps lists the packages of patterns, and everything that they import.
func deps(t *testing.T, patterns ...string) []string {
	t.Helper()
	known, err := imported()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for pkg, imports := range known {
		if slices.ContainsFunc(patterns, func(p string) bool { return matches(pkg, module+p) }) {
			all[pkg] = true
			for _, dep := range imports {
				all[dep] = true
			}
		}
	}
	if len(all) == 0 {
		t.Fatalf("no package is called %v", patterns)
	}
	return slices.Sorted(maps.Keys(all))
}

// matches tells whether a pattern of the go command names a package.
func matches(pkg, pattern string) bool {
	folder, below := strings.CutSuffix(pattern, "/...")
	return pkg == folder || below && under(pkg, folder)
}

// all are the patterns of the packages in folders.
func all(folders []string) (patterns []string) {
	for _, dir := range folders {
		patterns = append(patterns, dir+"/...")
	}
	return patterns
}

// under tells whether a package is p or lies below it.
func under(pkg, p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") }

// Formats know neither the tree nor how it is shown.
func TestFormats(t *testing.T) {
	formats := formats(t)
	for _, format := range formats {
		for _, dep := range deps(t, all(folders(format))...) {
			for _, not := range []string{goFuse, module + "nodes", module + "fs", module + "cmd", module + "internal/app"} {
				if under(dep, not) {
					t.Errorf("%s imports %s", format, dep)
				}
			}
			for _, other := range formats {
				if other != format && of(dep, other) && (format != "casc" || other != "blte") {
					t.Errorf("%s imports %s", format, dep)
				}
			}
		}
	}
}

// public are the packages of formats that any program may import.
var public = []string{
	"blte", "casc", "datacenter", "datacenter/edit", "datacenter/patch", "datacenter/query", "datacenter/sheets",
	"datacenter/sheets/pack", "datacenter/sheets/xsd", "geometry", "protocol", "protocol/capture", "protocol/dissect",
}

// What only our own packages want of a format is internal.
func TestPublic(t *testing.T) {
	for _, format := range formats(t) {
		if folders(format)[0] != format {
			continue // it is internal as a whole
		}
		for _, pkg := range deps(t, format+"/...") {
			if under(pkg, module+format) && !strings.Contains(pkg, "/internal/") && !slices.Contains(public, strings.TrimPrefix(pkg, module)) {
				t.Errorf("any program can import %s", pkg)
			}
		}
	}
}

// The tree needs nothing but the standard library; its block cache has its list
// and its single flight from others.
func TestTree(t *testing.T) {
	if got := deps(t, "nodes"); !slices.Equal(got, []string{module + "nodes"}) {
		t.Errorf("nodes imports %v", got)
	}
	for _, dep := range deps(t, "nodes/blockcache") {
		if !under(dep, module+"nodes/blockcache") && !under(dep, "github.com/hashicorp/golang-lru/v2") &&
			!under(dep, module+"internal/flight") {
			t.Errorf("nodes/blockcache imports %s", dep)
		}
	}
	for _, dep := range deps(t, "nodes/...") {
		if under(dep, goFuse) || under(dep, module+"fs") || under(dep, module+"cmd") || under(dep, module+"internal/app") {
			t.Errorf("a tree imports %s", dep)
		}
	}
}

// The adapter knows the tree and no source, and nobody else knows FUSE.
func TestAdapter(t *testing.T) {
	for _, dep := range deps(t, "fs") {
		if strings.HasPrefix(dep, module) && dep != module+"fs" && dep != module+"nodes" {
			t.Errorf("fs imports %s", dep)
		}
	}
}

// Internal has three floors: what lies there itself knows no format, no tree and no FUSE;
// internal/formats and internal/app stand on it.
func TestFloors(t *testing.T) {
	above := []string{"nodes", "fs", "cmd", "internal/app"}
	for _, format := range formats(t) {
		above = append(above, folders(format)...)
	}
	for _, pkg := range deps(t, "internal/...") {
		if !under(pkg, module+"internal") || under(pkg, module+"internal/formats") || under(pkg, module+"internal/app") {
			continue
		}
		for _, dep := range deps(t, strings.TrimPrefix(pkg, module)) {
			if under(dep, goFuse) || slices.ContainsFunc(above, func(p string) bool { return under(dep, module+p) }) {
				t.Errorf("%s imports %s", pkg, dep)
			}
		}
	}
}
