package worldtree_test

import (
	"bytes"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/cores"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/worldtree"
)

type notes struct {
	mu    sync.Mutex
	data  map[string][]byte
	saves int
}

func newNotes() *notes { return &notes{data: map[string][]byte{}} }

func (n *notes) Load(key string) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if d, ok := n.data[key]; ok {
		return d, nil
	}
	return nil, iofs.ErrNotExist
}

func (n *notes) Save(key string, data []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.data[key] = bytes.Clone(data)
	n.saves++
	return nil
}

// sized are files whose views all have a size, and small ones.
var sized = []string{
	"zones/x0001y0001.json", "heightmaps/x0001y0001.png", "heightmaps/x0001y0001.top.png", "heightmaps/x0001y0001.preview.png",
	"meshes/zones/x0001y0001.obj", "statistics/zones/x0001y0001.json",
	"areas/a.json", "areas/a.geojson", "meshes/a.obj", "statistics/areas/a.json",
}

func smallFolder() fstest.MapFS {
	return fstest.MapFS{
		"x0001y0001.zgd": {Data: geomtest.ZoneFile(geomtest.Extremes), ModTime: geomtest.FolderTime},
		"a.apd":          {Data: geomtest.Paths(geometry.DefaultOrigin, geometry.DefaultOrigin).File(), ModTime: geomtest.FolderTime},
	}
}

func sizes(t *testing.T, tree nodes.Tree) []int64 {
	t.Helper()
	var all []int64
	for _, path := range sized {
		all = append(all, find(t, tree, path).Size)
	}
	return all
}

func remember(t *testing.T, tree *worldtree.Tree) {
	t.Helper()
	if err := tree.Remember(); err != nil {
		t.Fatal(err)
	}
}

// TestSizesOfThisVersion has the sizes of this version of the texts and pictures. If you
// change these, increase memoryKind, and then write the new sizes here.
func TestSizesOfThisVersion(t *testing.T) {
	files := smallFolder()
	files["x0002y0001.zgd"] = &fstest.MapFile{Data: geomtest.ZoneFile(geomtest.Hills(1)), ModTime: geomtest.FolderTime}
	const shared = "meshes/zones/x0002y0001.obj" // its faces share corners
	tree := newTree(t, files, worldtree.Options{})
	got := append(sizes(t, tree), find(t, tree, shared).Size)
	want := []int64{3486883, 1849684, 1849686, 928503, 6060342, 1556, 109109, 48027, 6845, 475, 109295821}
	for i, path := range append(slices.Clone(sized), shared) {
		if got[i] != want[i] {
			t.Errorf("%s has %d bytes, want %d: count memoryKind up", path, got[i], want[i])
		}
	}
}

// lookedAhead is how many sources are looked at ahead of a program that lists a directory.
func lookedAhead() int { return 2 * max(1, cores.Count()-1) }

// TestNextSizes asks for the sizes of zones, and expects those of the next ones to be looked for as
// long as the zones are asked for as a list has them.
func TestNextSizes(t *testing.T) {
	testneeds.Seconds(t)
	const zones = 8
	ahead := lookedAhead()
	for _, tt := range []struct {
		name string
		ask  []int
		want int // the zones that are opened
	}{
		{"the first", []int{0}, min(1+ahead, zones)},
		{"the first two", []int{0, 1}, min(1+ahead, zones)}, // the second is known by then
		{"behind what is known", []int{0, 1 + ahead}, min(2*(1+ahead), zones)},
		{"one in the middle", []int{3}, 1},
		{"two in the middle", []int{3, 4}, min(2+ahead, zones-3)},
		{"every other one", []int{1, 3, 5}, 3},
		{"one twice", []int{3, 3}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := &countedFS{MapFS: folder(zones)}
			tree := newTree(t, files, worldtree.Options{})
			opened := files.opened.Load()
			for _, i := range tt.ask {
				find(t, tree, fmt.Sprintf("zones/x1000y100%d.json", min(i, zones-1)))
				tree.Settle()
			}
			if got := files.opened.Load() - opened; got != int64(tt.want) {
				t.Errorf("%d files are opened, want %d", got, tt.want)
			}
		})
	}
}

// TestNextOfADirectory asks for the size of one of two files of an area, and expects both of the
// next area to be found out.
func TestNextOfADirectory(t *testing.T) {
	data := geomtest.Paths(geometry.DefaultOrigin, geometry.DefaultOrigin).File()
	tree := newTree(t, fstest.MapFS{
		"a.apd": {Data: data, ModTime: geomtest.FolderTime}, "b.apd": {Data: data, ModTime: geomtest.FolderTime},
	}, worldtree.Options{})
	find(t, tree, "areas/a.geojson")
	tree.Settle()
	for e, err := range tree.ReadDir(t.Context(), find(t, tree, "areas").ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if known := e.Size != nodes.UnknownSize; known != (e.Name != "a.json") {
			t.Errorf("%s has %d bytes", e.Name, e.Size)
		}
	}
}

// openedFS notes which files are opened.
type openedFS struct {
	fstest.MapFS
	mu    sync.Mutex
	names []string // guarded by mu
}

func (f *openedFS) Open(name string) (iofs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names = append(f.names, name)
	return f.MapFS.Open(name)
}

// TestNextLargest asks for the size of the first area, and expects the largest of the next two to be
// decoded first, but before it none of another directory.
func TestNextLargest(t *testing.T) {
	if cores.Count() > 2 {
		t.Skip("both are begun at once with more than two cores")
	}
	files := smallFolder()
	files["b.apd"] = files["a.apd"]
	files["x0001y0001.zgd"] = &fstest.MapFile{Data: geomtest.ZoneFile(geomtest.Hills(1)), ModTime: geomtest.FolderTime}
	if got, want := openedBehind(t, files, "meshes/a.obj"), []string{"b.apd", "x0001y0001.zgd"}; !slices.Equal(got, want) {
		t.Errorf("%q are opened, want %q", got, want)
	}
	larger := geomtest.Paths(geometry.DefaultOrigin, geometry.DefaultOrigin, geometry.ZonePosition{X: 1, Y: 2})
	files["c.apd"] = &fstest.MapFile{Data: larger.File(), ModTime: geomtest.FolderTime}
	if got, want := openedBehind(t, files, "areas/a.json"), []string{"c.apd", "b.apd"}; !slices.Equal(got, want) {
		t.Errorf("%q are opened, want %q", got, want)
	}
}

// openedBehind asks for a size that needs a.apd, and returns which other files are opened then.
func openedBehind(t *testing.T, files fstest.MapFS, path string) []string {
	t.Helper()
	fsys := &openedFS{MapFS: files}
	tree := newTree(t, fsys, worldtree.Options{})
	find(t, tree, path)
	tree.Settle()
	fsys.mu.Lock()
	defer fsys.mu.Unlock()
	return slices.DeleteFunc(fsys.names, func(name string) bool { return name == "." || name == "a.apd" })
}

// TestNextInADirectory asks for the sizes of all meshes of areas, and expects the meshes of zones in
// the same directory to be found out next. A server is not asked for their files.
func TestNextInADirectory(t *testing.T) {
	files := smallFolder()
	files["b.apd"] = files["a.apd"]
	for _, fetched := range []bool{false, true} {
		tree := newTree(t, files, worldtree.Options{Fetched: fetched})
		find(t, tree, "meshes/a.obj")
		find(t, tree, "meshes/b.obj")
		tree.Settle()
		for e, err := range tree.ReadDir(t.Context(), find(t, tree, "meshes/zones").ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if known := e.Size != nodes.UnknownSize; known == fetched {
				t.Errorf("fetched %v: %s has %d bytes", fetched, e.Name, e.Size)
			}
		}
	}
}

// TestNextSquares lists the squares of zones, and expects the next zones to be decoded meanwhile.
func TestNextSquares(t *testing.T) {
	testneeds.Seconds(t)
	const zones = 8
	ahead := lookedAhead()
	for _, tt := range []struct {
		name string
		list []int
		want int // the zones that are opened
	}{
		{"the first", []int{0}, min(1+ahead, zones)},
		{"the first two", []int{0, 1}, min(2+ahead, zones)},
		{"one in the middle", []int{3}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := &countedFS{MapFS: folder(zones)}
			tree := newTree(t, files, worldtree.Options{})
			opened := files.opened.Load()
			for _, i := range tt.list {
				list(t, tree, fmt.Sprintf("squares/x1000y100%d", i))
			}
			tree.Settle()
			if got := files.opened.Load() - opened; got != int64(tt.want) {
				t.Errorf("%d files are opened, want %d", got, tt.want)
			}
		})
	}
}

// TestNextOfAServer asks for the size of one zone, and for that of the next, in a folder whose files
// have to be fetched. Only the two say that others will be wanted.
func TestNextOfAServer(t *testing.T) {
	testneeds.Seconds(t)
	const zones = 8
	ahead := lookedAhead()
	files := &countedFS{MapFS: folder(zones)}
	tree := newTree(t, files, worldtree.Options{Fetched: true})
	opened := files.opened.Load()
	for i, want := range []int{1, min(2+ahead, zones)} {
		find(t, tree, fmt.Sprintf("zones/x1000y100%d.json", i))
		tree.Settle()
		if got := files.opened.Load() - opened; got != int64(want) {
			t.Errorf("%d files are opened behind zone %d, want %d", got, i, want)
		}
	}
}

// failingFS can't open one file for a while.
type failingFS struct {
	fstest.MapFS
	bad    string
	failed atomic.Int64
	works  atomic.Bool
}

func (f *failingFS) Open(name string) (iofs.File, error) {
	if name == f.bad && !f.works.Load() {
		f.failed.Add(1)
		return nil, errDisk
	}
	return f.MapFS.Open(name)
}

// TestDiskFailsAhead lists a zone while the disk fails for the next one, which must be there when
// a program asks for it, since the disk works again then.
func TestDiskFailsAhead(t *testing.T) {
	testneeds.Seconds(t)
	const next = "zones/x1000y1001.json"
	want := find(t, newTree(t, folder(8), worldtree.Options{}), next).Size
	files := &failingFS{MapFS: folder(8), bad: "x1000y1001.zgd"}
	tree := newTree(t, files, worldtree.Options{})
	find(t, tree, "zones/x1000y1000.json")
	tree.Settle()
	if files.failed.Load() == 0 {
		t.Fatal("nothing was looked at ahead")
	}
	files.works.Store(true)
	if got := find(t, tree, next).Size; got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	if got := read(t, tree, next); int64(len(got)) != want {
		t.Errorf("%d bytes are read, want %d", len(got), want)
	}
}

func TestMemory(t *testing.T) {
	files, memory := &countedFS{MapFS: smallFolder()}, newNotes()
	opts := worldtree.Options{Memory: memory, Folder: "here"}
	first := newTree(t, files, opts)
	want := sizes(t, first)
	remember(t, first)
	files.opened.Store(0)

	second := newTree(t, files, opts)
	for i, got := range sizes(t, second) {
		if got != want[i] {
			t.Errorf("%s has %d bytes, want %d", sized[i], got, want[i])
		}
	}
	sums, err := second.Summaries(t.Context())
	if err != nil || len(sums) != 2 || sums[0].Volumes == 0 || sums[1].Edges == 0 {
		t.Errorf("%+v, %v", sums, err)
	}
	if got := files.opened.Load(); got != 1 { // for its ends
		t.Errorf("the zone is opened %d times", got)
	}
	for _, path := range sized {
		read(t, second, path) // which compares the size
	}
	saves := memory.saves
	remember(t, second)
	if memory.saves != saves {
		t.Error("what is known already is saved again")
	}
	// Another folder, and another selection, have a memory of their own.
	opts.Folder = "elsewhere"
	third := newTree(t, files, opts)
	sizes(t, third)
	if remember(t, third); memory.saves != saves+1 {
		t.Errorf("saved %d times", memory.saves)
	}
}

// TestMemoryOfOtherFiles checks that a memory is not used for another file.
func TestMemoryOfOtherFiles(t *testing.T) {
	other := geomtest.ZoneFile(geomtest.Flat(7))
	for name, change := range map[string]func(*fstest.MapFile, *worldtree.Options){
		"size": func(f *fstest.MapFile, _ *worldtree.Options) { f.Data = other },
		"time": func(f *fstest.MapFile, _ *worldtree.Options) { f.ModTime = f.ModTime.Add(1) },
		"ends": func(f *fstest.MapFile, _ *worldtree.Options) {
			f.Data = append(bytes.Clone(f.Data[:len(f.Data)-1]), f.Data[len(f.Data)-1]^1)
		},
		"origin": func(_ *fstest.MapFile, o *worldtree.Options) {
			o.Origin = func(geometry.ZonePosition) geometry.ZonePosition { return geometry.ZonePosition{} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			files, memory := &countedFS{MapFS: smallFolder()}, newNotes()
			opts := worldtree.Options{Memory: memory}
			tree := newTree(t, files, opts)
			before := find(t, tree, "meshes/zones/x0001y0001.obj").Size
			remember(t, tree)
			zone := *files.MapFS["x0001y0001.zgd"]
			change(&zone, &opts)
			files.MapFS["x0001y0001.zgd"] = &zone
			files.opened.Store(0)
			after := find(t, newTree(t, files, opts), "meshes/zones/x0001y0001.obj").Size
			if files.opened.Load() == 0 || (after == before) != (name == "time") {
				t.Errorf("%d bytes, then %d", before, after)
			}
		})
	}
}

// TestBadMemory checks that a damaged or wrong memory neither fails a mount nor cuts a file
// off.
func TestBadMemory(t *testing.T) {
	files, memory := smallFolder(), newNotes()
	opts := worldtree.Options{Memory: memory}
	tree := newTree(t, files, opts)
	want := sizes(t, tree)
	remember(t, tree)
	key := slices.Collect(maps.Keys(memory.data))[0]
	good := memory.data[key]
	for i := 0; i < len(good); i += 17 {
		memory.data[key] = append(bytes.Clone(good[:i]), good[i+1:]...)
		tree := newTree(t, files, opts)
		if got := find(t, tree, sized[9]).Size; got != want[9] {
			t.Fatalf("without byte %d a file has %d bytes", i, got)
		}
	}
	lie := worldtree.Forge(good, func(record string) string {
		return strings.Replace(record, "109109", "109110", 1)
	})
	memory.data[key] = lie
	tree = newTree(t, files, opts)
	e := find(t, tree, "areas/a.json")
	if _, err := tree.ReadAt(t.Context(), e.ID, make([]byte, 9), 0); e.Size != 109110 || err == nil || !strings.Contains(err.Error(), "mount it anew") {
		t.Errorf("%d bytes, %v", e.Size, err)
	}
	remember(t, tree)
	if got := find(t, newTree(t, files, opts), "areas/a.json").Size; got != 109109 {
		t.Errorf("the lie is believed again: %d bytes", got)
	}
}

func TestMissing(t *testing.T) {
	var shown []worldtree.File
	tree := newTree(t, folder(2), worldtree.Options{
		Zones:   func(p geometry.ZonePosition) bool { return p.Y == 1001 },
		Missing: func(files []worldtree.File) string { shown = files; return "some are missing\n" },
	})
	if len(shown) != 2 || shown[0].Zone != (geometry.ZonePosition{X: 1000, Y: 1001}) || shown[1].Name != "area_a_p" || !shown[1].Area {
		t.Errorf("shown are %+v", shown)
	}
	if got := list(t, tree, ""); got[len(got)-1] != "missing.json" || len(got) != 9 {
		t.Errorf("the root has %v", got)
	}
	if got := read(t, tree, "missing.json"); string(got) != "some are missing\n" {
		t.Errorf("it holds %q", got)
	}
	without := newTree(t, folder(2), worldtree.Options{})
	if _, err := without.Attr(t.Context(), find(t, tree, "missing.json").ID); !errors.Is(err, nodes.ErrNotExist) {
		t.Errorf("it is there without: %v", err)
	}
	if a, b := tree.Usage().Nodes, int64(10+1+14400+1+5+4+1+2); a != b {
		t.Errorf("%d nodes, want %d", a, b)
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, f := range smallFolder() {
		if err := os.WriteFile(filepath.Join(dir, name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree := newTree(t, os.DirFS(dir), worldtree.Options{})
	if err := tree.Check(); err != nil {
		t.Error(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "a.apd"), later, later); err != nil {
		t.Fatal(err)
	}
	if err := tree.Check(); !errors.Is(err, nodes.ErrChanged) || !strings.HasPrefix(err.Error(), "a.apd: ") {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "x0001y0001.zgd")); err != nil {
		t.Fatal(err)
	}
	if err := tree.Check(); !errors.Is(err, nodes.ErrChanged) || !strings.HasSuffix(err.Error(), "(and 1 more files)") {
		t.Errorf("got %v", err)
	}
}

func TestSummaries(t *testing.T) {
	files := folder(2)
	files["x0001y0001.zgd"] = &fstest.MapFile{Data: []byte("damaged"), ModTime: geomtest.FolderTime}
	files["town.zgd"] = files["x0001y0001.zgd"]
	tree := newTree(t, files, worldtree.Options{})
	sums, err := tree.Summaries(t.Context())
	if err != nil || len(sums) != 4 {
		t.Fatal(sums, err)
	}
	if s := sums[0]; s.Err == nil || s.File.File != "x0001y0001.zgd" || s.Raw != 0 {
		t.Errorf("%+v", s)
	}
	z, err := geometry.DecodeZone(files["x1000y1000.zgd"].Data, geometry.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s := sums[1]; s.Err != nil || s.Volumes != int64(z.Volumes()) || s.Raw != int64(z.RawSize()) || s.Size != int64(len(files["x1000y1000.zgd"].Data)) {
		t.Errorf("%+v", s)
	}
	if s := sums[3]; s.Err != nil || !s.Area || s.Nodes == 0 || s.Edges == 0 || s.Volumes != 0 {
		t.Errorf("%+v", s)
	}
	if l := tree.LeftOut(); len(l) != 1 || l[0].File != "town.zgd" {
		t.Errorf("left out: %+v", l)
	}
}
