// Package internal_test keeps the packages of lorefs in layers: the command knows all, the
// mount knows the tree, the trees know their formats, and the formats know nobody. What lies
// in internal itself stands below all of them; internal/formats is among the formats, and
// internal/app above all but the command.
package internal_test

import (
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the prefix of our own packages.
const module = "lorefs/"

const goFuse = "github.com/hanwen/go-fuse"

// formats are the packages that know how bytes lie in a file: all in internal/formats, and all at
// the top but those that are named here.
func formats(t *testing.T) (names []string) {
	t.Helper()
	for _, dir := range []string{"", "internal/formats"} {
		files, err := filepath.Glob(filepath.Join("..", dir, "*", "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files of packages in %q: %v", len(files), dir, err)
		}
		for _, file := range files {
			name := path.Join(dir, filepath.Base(filepath.Dir(file)))
			if !slices.Contains(append([]string{"cmd", "fs", "internal", "nodes"}, names...), name) {
				names = append(names, name)
			}
		}
	}
	if len(names) < 5 {
		t.Fatalf("the formats are %v", names)
	}
	return names
}

// deps lists everything that the packages of patterns import, however far down,
// without tests.
func deps(t *testing.T, patterns ...string) []string {
	t.Helper()
	args := []string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}
	for _, p := range patterns {
		args = append(args, module+p)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if len(out) == 0 {
		t.Fatalf("no package is called %v", patterns)
	}
	return strings.Fields(string(out))
}

// under tells whether a package is p or lies below it.
func under(pkg, p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") }

// Formats know neither the tree nor how it is shown.
func TestFormats(t *testing.T) {
	formats := formats(t)
	for _, format := range formats {
		for _, dep := range deps(t, format+"/...") {
			for _, not := range []string{goFuse, module + "nodes", module + "fs", module + "cmd", module + "internal/app"} {
				if under(dep, not) {
					t.Errorf("%s imports %s", format, dep)
				}
			}
			for _, other := range formats {
				if other != format && under(dep, module+other) && (format != "casc" || other != "blte") {
					t.Errorf("%s imports %s", format, dep)
				}
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
	above := append([]string{"nodes", "fs", "cmd", "internal/app"}, formats(t)...)
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
