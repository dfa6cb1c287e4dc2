package worldtree_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	iofs "io/fs"
	"log/slog"
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
	"lorefs/geometry/picture"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/worldtree"
)

func newTree(t testing.TB, fsys iofs.FS, opts worldtree.Options) *worldtree.Tree {
	t.Helper()
	tree, err := worldtree.New(fsys, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

var (
	foldersMu sync.Mutex
	folders   = map[int]fstest.MapFS{}
)

// folder returns geomtest's folder. It is made once, as compressing takes time.
func folder(zones int) fstest.MapFS {
	foldersMu.Lock()
	defer foldersMu.Unlock()
	if folders[zones] == nil {
		folders[zones] = geomtest.Folder(zones)
	}
	return maps.Clone(folders[zones])
}

// list returns the names in a directory, "" for the root.
func list(t testing.TB, tree nodes.Tree, dir string) []string {
	t.Helper()
	var names []string
	for e, err := range tree.ReadDir(t.Context(), find(t, tree, dir).ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
	}
	return names
}

// find follows a path.
func find(t testing.TB, tree nodes.Tree, path string) nodes.Entry {
	t.Helper()
	e := nodes.Entry{ID: nodes.Root}
	if path == "" {
		return e
	}
	for name := range strings.SplitSeq(path, "/") {
		var err error
		if e, err = tree.Lookup(t.Context(), e.ID, name); err != nil {
			t.Fatalf("%s at %q: %v", path, name, err)
		}
	}
	e, err := nodes.WithSize(t.Context(), tree, e)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return e
}

// TestListingDecodesNothing lists names without decoding anything.
func TestListingDecodesNothing(t *testing.T) {
	files := &countedFS{MapFS: folder(3)}
	tree := newTree(t, files, worldtree.Options{})
	opened, names := files.opened.Load(), 0
	for e, err := range nodes.Walk(t.Context(), tree, nodes.Root) {
		if err != nil {
			t.Fatal(err)
		}
		names++
		if picture := strings.HasSuffix(e.Path, ".png") || strings.HasSuffix(e.Path, ".svg"); e.Kind == nodes.File && picture == (e.Size == nodes.UnknownSize) {
			t.Errorf("%s has %d bytes", e.Path, e.Size)
		}
		if e.Path == "squares" {
			break // the names of a zone's squares come with their sizes
		}
	}
	if names == 0 || files.opened.Load() != opened {
		t.Errorf("%d names took %d files to be opened", names, files.opened.Load()-opened)
	}
}

// read reads a file in pieces, as a mount does.
func read(t testing.TB, tree nodes.Tree, path string) []byte {
	t.Helper()
	e := find(t, tree, path)
	var all []byte
	p := make([]byte, 128<<10)
	for {
		n, err := tree.ReadAt(t.Context(), e.ID, p, int64(len(all)))
		all = append(all, p[:n]...)
		if err == io.EOF { //nolint:errorlint // the contract wants it as it is
			break
		}
		if err != nil {
			t.Fatalf("%s at %d: %v", path, len(all), err)
		}
	}
	if int64(len(all)) != e.Size {
		t.Errorf("%s has %d bytes, its size is %d", path, len(all), e.Size)
	}
	return all
}

func TestConformance(t *testing.T) {
	t.Run("cached", func(t *testing.T) {
		t.Parallel()
		limit := 200
		if testneeds.Quick() {
			limit = 40
		}
		nodetest.Run(t, newTree(t, folder(2), worldtree.Options{Blocks: blockcache.New(256 << 20).View()}), nodetest.Limit(limit))
	})
	// Everything is made anew for each read.
	t.Run("not cached", func(t *testing.T) {
		testneeds.Slow(t, "all is made a thousand times")
		t.Parallel()
		files := fstest.MapFS{
			"x0001y0001.zgd": {Data: geomtest.ZoneFile(geomtest.Empty), ModTime: geomtest.FolderTime},
			"a.apd":          {Data: geomtest.Paths(geometry.DefaultOrigin, geometry.DefaultOrigin).File(), ModTime: geomtest.FolderTime},
		}
		tree := newTree(t, files, worldtree.Options{Blocks: blockcache.New(1).View(), ModTime: geomtest.FolderTime})
		nodetest.Run(t, tree, nodetest.Limit(30))
	})
	t.Run("nothing", func(t *testing.T) {
		nodetest.Run(t, newTree(t, fstest.MapFS{}, worldtree.Options{ModTime: time.Unix(5, 0)}))
	})
}

// notShort skips tests that make many whole zones on one goroutine: with -race that takes
// minutes and finds nothing.
func notShort(t *testing.T) {
	t.Helper()
	testneeds.Slow(t, "it makes whole zones")
}

func TestLayout(t *testing.T) {
	t.Parallel()
	files, nothing := folder(3), geomtest.ZoneFile(geomtest.Empty)
	for name, f := range files {
		if strings.EqualFold(filepath.Ext(name), ".zgd") { // the content makes no difference
			files[name] = &fstest.MapFile{Data: nothing, ModTime: f.ModTime}
		}
	}
	tree := newTree(t, files, worldtree.Options{})
	for dir, want := range map[string]string{
		"":                 "zones squares heightmaps areas meshes statistics world.png world.svg",
		"zones":            "x1000y1000.json x1000y1001.json x1000y1002.json",
		"squares":          "x1000y1000 x1000y1001 x1000y1002",
		"areas":            "area_a_p.geojson area_a_p.json",
		"meshes":           "zones area_a_p.obj",
		"meshes/zones":     "x1000y1000.obj x1000y1001.obj x1000y1002.obj",
		"statistics":       "zones areas",
		"statistics/zones": "x1000y1000.json x1000y1001.json x1000y1002.json",
		"statistics/areas": "area_a_p.json",
	} {
		if got := strings.Join(list(t, tree, dir), " "); got != want {
			t.Errorf("%q has %s, want %s", dir, got, want)
		}
	}
	if got, want := strings.Join(list(t, tree, "heightmaps")[3:6], " "), "x1000y1001.png x1000y1001.preview.png x1000y1001.top.png"; got != want {
		t.Errorf("heightmaps has %s, want %s", got, want)
	}
	squares := list(t, tree, "squares/x1000y1002")
	if len(squares) != 14400 || squares[0] != "000-000.json" || squares[1] != "000-001.json" || squares[14399] != "119-119.json" {
		t.Errorf("%d squares, from %s to %s", len(squares), squares[0], squares[len(squares)-1])
	}
	u := tree.Usage()
	if want := int64(10 + 3*(1+1+14400+3+1+1) + 2 + 1 + 1 + 2); u.Nodes != want || u.Bytes == 0 {
		t.Errorf("Usage is %+v, want %d nodes", u, want)
	}
}

// textOf returns a whole text.
func textOf(t *testing.T, text geometry.Text) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := geometry.WriteText(t.Context(), &b, text); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestContent(t *testing.T) {
	notShort(t)
	t.Parallel()
	files := folder(2)
	at, origin := geometry.ZonePosition{X: 1000, Y: 1001}, geometry.ZonePosition{X: 990, Y: 1001}
	z, err := geometry.DecodeZone(files["x1000y1001.zgd"].Data, geometry.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := geometry.DecodeArea(files["area_a_p.apd"].Data, geometry.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tree := newTree(t, files, worldtree.Options{Origin: func(p geometry.ZonePosition) geometry.ZonePosition {
		if p != at { // of a zone that is only looked ahead for
			return p
		}
		return origin
	}})
	for path, want := range map[string][]byte{
		"zones/x1000y1001.json":            textOf(t, geometry.ZoneJSON(z)),
		"meshes/zones/x1000y1001.obj":      textOf(t, geometry.FloorsOBJ(z, at, origin)),
		"squares/x1000y1001/017-093.json":  geometry.AppendSquareJSON(nil, z, geometry.SquareIndex(17, 93), at, origin),
		"statistics/zones/x1000y1001.json": geometry.StatisticsOfZone(z).AppendJSON(nil),
		"areas/area_a_p.json":              textOf(t, geometry.AreaJSON(a)),
		"areas/area_a_p.geojson":           textOf(t, geometry.AreaGeoJSON(a)),
		"meshes/area_a_p.obj":              textOf(t, geometry.PathsOBJ(a)),
		"statistics/areas/area_a_p.json":   geometry.StatisticsOfArea(a).AppendJSON(nil),
	} {
		if got := read(t, tree, path); !bytes.Equal(got, want) {
			t.Errorf("%s has other contents", path)
		}
		e := find(t, tree, path)
		if want := files["x1000y1001.zgd"].ModTime; strings.Contains(path, "x1000") && !e.ModTime.Equal(want) {
			t.Errorf("the time of %s is %v, want %v", path, e.ModTime, want)
		}
	}
	for name, want := range map[string]color.Color{
		".png":         geometry.Heightmap(z, geometry.Lowest).At(8, 9),
		".top.png":     geometry.Heightmap(z, geometry.Highest).At(8, 9),
		".preview.png": picture.Relief(geometry.Heightmap(z, geometry.Lowest)).At(8, 9),
	} {
		img, err := png.Decode(bytes.NewReader(read(t, tree, "heightmaps/x1000y1001"+name)))
		if err != nil {
			t.Fatal(err)
		}
		if got := img.At(8, 9); got != want {
			t.Errorf("%s: a pixel is %v, want %v", name, got, want)
		}
	}
}

func TestNamesInAnyCase(t *testing.T) {
	files := folder(3)
	files["MiXed_P.Apd"] = files["area_a_p.apd"]
	tree := newTree(t, files, worldtree.Options{})
	for path, name := range map[string]string{
		"zones/X1000Y1002.JSON":            "x1000y1002.json",
		"heightmaps/X1000y1002.Top.PNG":    "x1000y1002.top.png",
		"areas/MIXED_P.json":               "mixed_p.json",
		"areas/mixed_p.GeoJSON":            "mixed_p.geojson",
		"meshes/Mixed_P.obj":               "mixed_p.obj",
		"statistics/zones/X1000Y1002.json": "x1000y1002.json",
	} {
		if e := find(t, tree, path); e.Name != name {
			t.Errorf("%s is found as %s, want %s", path, e.Name, name)
		}
	}
	// A directory has one name.
	for dir, name := range map[string]string{"": "Zones", "squares": "X1000Y1002"} {
		if _, err := tree.Lookup(t.Context(), find(t, tree, dir).ID, name); !errors.Is(err, nodes.ErrNotExist) {
			t.Errorf("%s/%s: %v, want ErrNotExist", dir, name, err)
		}
	}
	for dir, names := range map[string][]string{
		"zones":              {"x1000y1002", "x1000y1002.zgd", "x1000y1002.png", "x1000y9.json", "x01000y1002.json", ".json", "json"},
		"heightmaps":         {"x1000y1002.json", "x1000y1002.top", "x1000y1002.top.png.png"},
		"squares/x1000y1000": {"0-0.json", "000-120.json", "120-000.json", "000-000", "000-000.JSON", " 00-000.json", "+00-000.json", "-01-000.json"},
	} {
		for _, name := range names {
			if e, err := tree.Lookup(t.Context(), find(t, tree, dir).ID, name); !errors.Is(err, nodes.ErrNotExist) {
				t.Errorf("%s/%s = %+v, %v, want ErrNotExist", dir, name, e, err)
			}
		}
	}
}

func TestLeftOut(t *testing.T) {
	files := folder(1)
	some := files["x1000y1000.zgd"]
	files["X1000Y1000.ZGD"] = some // sorts before the other
	files["x01000y1000.zgd"] = some
	files["town.zgd"] = some
	files[".apd"] = some
	files[".hidden.apd"] = some
	files[strings.Repeat("n", 251)+".apd"] = some
	files["dir.apd/file"] = some
	var log bytes.Buffer
	tree := newTree(t, files, worldtree.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if got := list(t, tree, "zones"); len(got) != 1 {
		t.Errorf("zones has %v", got)
	}
	if got := list(t, tree, "areas"); len(got) != 0 {
		t.Errorf("areas has %v", got)
	}
	if got := strings.Count(log.String(), "left out"); got != 7 {
		t.Errorf("the log tells of %d files:\n%s", got, log.String())
	}
}

func TestOnlyWanted(t *testing.T) {
	tree := newTree(t, folder(4), worldtree.Options{
		Zones: func(p geometry.ZonePosition) bool { return p.Y == 1002 },
		Areas: func(name string) bool { return name == "area_b_p" },
	})
	if got := fmt.Sprint(list(t, tree, "zones"), list(t, tree, "areas")); got != "[x1000y1002.json] [area_b_p.geojson area_b_p.json]" {
		t.Errorf("it shows %s", got)
	}
}

func TestNumbersDoNotDependOnOtherFiles(t *testing.T) {
	notShort(t)
	ids := func(zones int) map[string]nodes.ID {
		tree := newTree(t, folder(zones), worldtree.Options{})
		all := map[string]nodes.ID{}
		for _, path := range []string{
			"zones/x1000y1001.json", "squares/x1000y1001", "squares/x1000y1001/119-119.json",
			"heightmaps/x1000y1001.png", "areas/area_a_p.json", "meshes/area_a_p.obj", "statistics",
		} {
			all[path] = find(t, tree, path).ID
		}
		return all
	}
	if few, many := ids(2), ids(5); !maps.Equal(few, many) {
		t.Errorf("numbers are %v, then %v", few, many)
	}
}

func TestBadFiles(t *testing.T) {
	notShort(t)
	for _, area := range []bool{false, true} {
		broken := geomtest.BrokenZones()
		if area {
			broken = geomtest.BrokenAreas()
		}
		for _, b := range broken {
			if len(b.File) > 1<<10 {
				continue // the smaller ones suffice
			}
			t.Run(b.Name, func(t *testing.T) { checkBadFile(t, b, area) })
		}
	}
}

func checkBadFile(t *testing.T, b geomtest.Broken, area bool) {
	t.Helper()
	files := folder(0)
	name, paths := "x0007y0007.zgd", []string{
		"zones/x0007y0007.json", "heightmaps/x0007y0007.png", "meshes/zones/x0007y0007.obj", "statistics/zones/x0007y0007.json",
	}
	if area {
		name, paths = "bad_p.apd", []string{"areas/bad_p.json", "meshes/bad_p.obj", "areas/bad_p.geojson", "statistics/areas/bad_p.json"}
	}
	files[name] = &fstest.MapFile{Data: b.File, ModTime: geomtest.FolderTime}
	good := geomtest.Area{}
	files["good_p.apd"] = &fstest.MapFile{Data: good.File(), ModTime: geomtest.FolderTime}
	var log bytes.Buffer
	tree := newTree(t, files, worldtree.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, path := range paths {
		dir, file := filepath.Split(path)
		if !slices.Contains(list(t, tree, strings.TrimSuffix(dir, "/")), file) {
			t.Errorf("%s is not listed", path)
		}
		e := find(t, tree, path)
		if e.Size < 1 {
			t.Errorf("the size of %s is %d: nobody would read it", path, e.Size)
		}
		n, err := tree.ReadAt(t.Context(), e.ID, make([]byte, 100), 0)
		if _, ok := errors.AsType[*geometry.FormatError](err); n != 0 || !ok || !strings.Contains(err.Error(), b.Want) || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %d bytes, %v\nwant %s: %s", path, n, err, name, b.Want)
		}
	}
	if !area {
		checkNoSquares(t, tree, b.Want)
	}
	if got := strings.Count(log.String(), "cannot be shown"); got != 1 {
		t.Errorf("it is logged %d times", got)
	}
	if got := read(t, tree, "areas/good_p.json"); len(got) == 0 {
		t.Error("the others are not shown")
	}
}

// checkNoSquares checks that the squares of a bad zone can't be listed or found.
func checkNoSquares(t *testing.T, tree nodes.Tree, want string) {
	t.Helper()
	dir := find(t, tree, "squares/x0007y0007").ID
	_, err := tree.Lookup(t.Context(), dir, "000-000.json")
	for _, listErr := range tree.ReadDir(t.Context(), dir, 0) {
		err = errors.Join(err, listErr)
	}
	if err == nil || strings.Count(err.Error(), want) != 2 {
		t.Errorf("squares: %v\nwant twice %s", err, want)
	}
}

// countedFS counts how often files are opened, and fails on demand.
type countedFS struct {
	fstest.MapFS
	opened atomic.Int64
	fail   atomic.Bool
}

var errDisk = errors.New("the disk is broken")

func (f *countedFS) Open(name string) (iofs.File, error) {
	if strings.HasSuffix(name, ".zgd") || strings.HasSuffix(name, ".ZGD") {
		f.opened.Add(1)
		if f.fail.Load() {
			return nil, errDisk
		}
	}
	return f.MapFS.Open(name)
}

func TestLazyAndRemembered(t *testing.T) {
	fsys := &countedFS{MapFS: folder(3)}
	tree := newTree(t, fsys, worldtree.Options{Blocks: blockcache.New(1).View()})
	check := func(what string, want int64) {
		t.Helper()
		if got := fsys.opened.Swap(0); got != want {
			t.Errorf("%s opens %d files, want %d", what, got, want)
		}
	}
	check("New", 0)
	list(t, tree, "")
	list(t, tree, "squares")
	check("listing directories", 0)
	e := find(t, tree, "zones/x1000y1001.json")
	check("a size", 1)
	list(t, tree, "zones")
	check("listing three zones of which one is known", 0)
	for range 3 {
		list(t, tree, "zones")
		if _, err := tree.Attr(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
	}
	check("listing them again", 0)
}

// TestReadInOrder checks that reading a file piece by piece takes linear time even if the
// cache has no room for it.
func TestReadInOrder(t *testing.T) {
	for _, budget := range []int64{1, 1 << 20, 7 << 20} {
		fsys := &countedFS{MapFS: folder(1)}
		tree := newTree(t, fsys, worldtree.Options{Blocks: blockcache.New(budget).View()})
		const once = 1
		for _, path := range []string{"zones/x1000y1000.json", "heightmaps/x1000y1000.png", "squares/x1000y1000/017-093.json"} {
			find(t, tree, path)
			before := fsys.opened.Load()
			read(t, tree, path)
			if got := fsys.opened.Load() - before; got > once {
				t.Errorf("with %d bytes, %s takes opening the file %d times, want %d", budget, path, got, once)
			}
		}
	}
}

// TestFailureStays checks that a file which failed when its size was asked for keeps
// failing: it must not become readable up to the size that was returned.
func TestFailureStays(t *testing.T) {
	fsys := &countedFS{MapFS: folder(2)}
	tree := newTree(t, fsys, worldtree.Options{Blocks: blockcache.New(1).View()})
	fsys.fail.Store(true)
	e := find(t, tree, "zones/x1000y1000.json")
	fsys.fail.Store(false)
	if _, err := tree.ReadAt(t.Context(), e.ID, make([]byte, 9), 0); !errors.Is(err, errDisk) {
		t.Errorf("got %v, want %v", err, errDisk)
	}
	// Files that were not asked for before are fine.
	if got := read(t, tree, "statistics/zones/x1000y1000.json"); len(got) == 0 {
		t.Error("nothing is read")
	}
	// And a known size stays, when reading fails for a while.
	remember(t, tree)                          // which waits for what is looked for
	read(t, tree, "heightmaps/x1000y1001.png") // nothing is held of the other now
	fsys.fail.Store(true)
	e = find(t, tree, "statistics/zones/x1000y1000.json")
	if _, err := tree.ReadAt(t.Context(), e.ID, make([]byte, 9), 0); !errors.Is(err, errDisk) {
		t.Errorf("got %v, want %v", err, errDisk)
	}
	fsys.fail.Store(false)
	if n, err := tree.ReadAt(t.Context(), e.ID, make([]byte, 9), 0); n != 9 || err != nil {
		t.Errorf("got %d bytes, %v", n, err)
	}
}

// endedFS is a folder on a server whose reads are ended for somebody who does not wait any more,
// for a while.
type endedFS struct {
	fstest.MapFS
	ended atomic.Bool
}

func (f *endedFS) Open(name string) (iofs.File, error) {
	if f.ended.Load() && strings.HasSuffix(name, ".zgd") {
		return nil, fmt.Errorf("%s: %w", name, context.Canceled)
	}
	return f.MapFS.Open(name)
}

// TestReadsEnded has reads end for others while sizes are asked for, and while those of the next
// zones are looked for. Both can be read later.
func TestReadsEnded(t *testing.T) {
	testneeds.Seconds(t)
	fsys := &endedFS{MapFS: folder(2)}
	tree := newTree(t, fsys, worldtree.Options{})
	id := find(t, tree, "zones").ID
	e, err := tree.Lookup(t.Context(), id, "x1000y1000.json")
	if err != nil {
		t.Fatal(err)
	}
	fsys.ended.Store(true)
	if _, err := tree.Attr(t.Context(), e.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	remember(t, tree) // which waits for the next zone
	fsys.ended.Store(false)
	for _, name := range []string{"zones/x1000y1000.json", "zones/x1000y1001.json"} {
		if got := read(t, tree, name); len(got) == 0 {
			t.Errorf("nothing is read of %s", name)
		}
	}
}

func TestCanceled(t *testing.T) {
	tree := newTree(t, folder(1), worldtree.Options{})
	dir := find(t, tree, "zones").ID
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.Lookup(ctx, dir, "x1000y1000.json"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// It did not harm the file.
	if got := read(t, tree, "zones/x1000y1000.json"); len(got) == 0 {
		t.Error("nothing is read")
	}
}

func TestChangedFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := geomtest.ZoneFile(geomtest.Empty)
	for i := range 4 {
		write(fmt.Sprintf("x0001y000%d.zgd", i), file)
	}
	tree := newTree(t, os.DirFS(dir), worldtree.Options{})
	write("x0001y0000.zgd", file[1:])
	if err := os.Remove(filepath.Join(dir, "x0001y0001.zgd")); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "x0001y0002.zgd"), later, later); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		e := find(t, tree, fmt.Sprintf("zones/x0001y000%d.json", i))
		if _, err := tree.ReadAt(t.Context(), e.ID, make([]byte, 9), 0); !errors.Is(err, nodes.ErrChanged) {
			t.Errorf("zone %d: %v, want ErrChanged", i, err)
		}
	}
	if got := read(t, tree, "zones/x0001y0003.json"); len(got) == 0 {
		t.Error("the other is not shown")
	}
}

func TestFixtures(t *testing.T) {
	testneeds.Slow(t, "they are large")
	dir := filepath.Dir(testneeds.Fixture(t, "world/x1002y1006.zgd"))
	tree := newTree(t, os.DirFS(dir), worldtree.Options{Blocks: blockcache.New(256 << 20).View()})
	if got, want := fmt.Sprint(list(t, tree, "squares"), list(t, tree, "areas")),
		"[x0037y0053 x1002y1006 x1002y1007] [gap_p.geojson gap_p.json single_zone_p.geojson single_zone_p.json vk_dq_sd_03_p.geojson vk_dq_sd_03_p.json]"; got != want {
		t.Errorf("it shows %s, want %s", got, want)
	}
	text := read(t, tree, "zones/x1002y1006.json")
	z, err := geometry.DecodeZoneJSON(text, geometry.JSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if z.RawSize() != 5250716 {
		t.Errorf("the zone has %d bytes raw", z.RawSize())
	}
	nodetest.Run(t, tree, nodetest.Limit(200))
}
