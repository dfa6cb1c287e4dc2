// Package internal_test keeps the folders of lorefs on their floors: the command knows all, the
// mount knows the tree, the trees know their formats, and the formats know nobody but what lies
// in internal.
package internal_test

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is the prefix of our own packages.
const module = "lorefs/"

const goFuse = "github.com/hanwen/go-fuse"

// floors are the folders at the top, from the roof to the ground. A package imports what lies in
// its own folder or on a lower floor.
var floors = [][]string{
	{"cmd"},
	{"fs"},
	{"nodes"},
	{"casc", "datacenter", "geometry", "protocol"},
	{"blte"},
	{"internal"},
}

// formats are the folders of the formats.
var formats = slices.Concat(floors[3], floors[4])

// folder is the folder at the top in which one of our packages lies.
func folder(pkg string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pkg, module), "/")
	return name
}

// floor returns on which of the floors a folder lies.
func floor(t *testing.T, name string) int {
	t.Helper()
	at := slices.IndexFunc(floors, func(floor []string) bool { return slices.Contains(floor, name) })
	if at < 0 {
		t.Fatalf("the folder %s lies on no floor", name)
	}
	return at
}

// TestFloors follows the imports of each package, without those of its tests.
func TestFloors(t *testing.T) {
	direct, err := listed("{{join .Imports \" \"}}")
	if err != nil {
		t.Fatal(err)
	}
	for pkg, imports := range direct {
		for _, other := range imports {
			if !strings.HasPrefix(other, module) || folder(other) == folder(pkg) {
				continue
			}
			if floor(t, folder(other)) <= floor(t, folder(pkg)) {
				t.Errorf("%s imports %s, which does not lie below it", pkg, other)
			}
		}
	}
}

// imported returns what each of our packages imports, however far down, without tests.
var imported = sync.OnceValues(func() (map[string][]string, error) {
	return listed("{{join .Deps \" \"}}")
})

// listed asks go list for packages by each of ours, and leaves out the standard library.
func listed(packages string) (map[string][]string, error) {
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}} "+packages, "./...")
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
}

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

// under tells whether a package is p or lies below it.
func under(pkg, p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") }

// public are the packages of formats that any program may import. Those on the second line have
// no promise: they make data for tests, or serve the command and the trees.
var public = []string{
	"blte", "casc", "casc/config", "casc/db2", "casc/db2/dbd", "casc/encoding", "casc/far", "casc/index", "casc/keys", "casc/manifests", "casc/root",
	"datacenter", "datacenter/amend", "datacenter/edit", "datacenter/patch", "datacenter/query", "datacenter/sheets",
	"datacenter/sheets/pack", "datacenter/sheets/xsd", "datacenter/verify", "geometry", "protocol", "protocol/capture",
	"protocol/dissect",

	"blte/bltetest", "casc/cascdiff", "casc/casctest", "casc/casctest/write", "casc/db2/db2test", "datacenter/dctest", "datacenter/diff",
	"datacenter/identity", "datacenter/labels", "datacenter/partof", "datacenter/same", "datacenter/splice", "datacenter/table", "datacenter/treepath",
	"geometry/geomtest", "geometry/picture", "protocol/prototest",
}

// What only a format itself wants is internal to it.
func TestPublic(t *testing.T) {
	for _, format := range formats {
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
}

// Only the adapter knows FUSE, and the command, which starts it.
func TestFUSE(t *testing.T) {
	for _, below := range slices.Concat(floors[2:]...) {
		for _, dep := range deps(t, below+"/...") {
			if under(dep, goFuse) {
				t.Errorf("%s imports %s", below, dep)
			}
		}
	}
}

// The adapter knows the tree and no source.
func TestAdapter(t *testing.T) {
	for _, dep := range deps(t, "fs") {
		if strings.HasPrefix(dep, module) && dep != module+"fs" && dep != module+"nodes" {
			t.Errorf("fs imports %s", dep)
		}
	}
}
