package worldtree_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/nodetest"
	"lorefs/nodes/worldtree"
)

// edited is an Editable and what it logs.
type edited struct {
	*worldtree.Editable
	t    testing.TB
	fsys fstest.MapFS
	// put is held while a file is replaced, since others are read meanwhile.
	put sync.Locker
	// later has the records of edits that the last replaced file did not contain, and left is how
	// many edits they make.
	later [][]byte
	left  int64

	mu      sync.Mutex
	records []logged
	// begin and logging are called before Begin and before Log.
	begin, logging func(file string)
	told           map[nodes.ID]int
	fail           error
}

// sharedFS is a folder whose files are written while others are read.
type sharedFS struct {
	mu sync.Mutex
	fstest.MapFS
}

func (f *sharedFS) Open(name string) (iofs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.MapFS.Open(name)
}

type logged struct {
	file   string
	record []byte
}

func newEdited(t testing.TB, fsys fstest.MapFS) *edited {
	t.Helper()
	return newEditedWith(t, fsys, worldtree.EditOptions{})
}

func newEditedWith(t testing.TB, fsys fstest.MapFS, opts worldtree.EditOptions) *edited {
	t.Helper()
	return newEditedIn(t, fsys, 256<<20, opts)
}

// newEditedIn is newEditedWith with a cache of a size.
func newEditedIn(t testing.TB, fsys fstest.MapFS, size int64, opts worldtree.EditOptions) *edited {
	t.Helper()
	shared := &sharedFS{MapFS: fsys}
	d := &edited{t: t, fsys: fsys, put: &shared.mu, told: map[nodes.ID]int{}}
	tree := newTree(t, shared, worldtree.Options{Blocks: blockcache.New(size).View(), ModTime: geomtest.FolderTime})
	opts.Begin = func(file string) error { d.begin(file); return nil }
	opts.Log, opts.Encode = d.log, geometry.EncodeOptions{Quality: 1}
	d.Editable = worldtree.NewEditable(tree, opts)
	d.begin, d.logging = func(string) {}, func(string) {}
	d.Watch(func(c nodes.Change) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.told[c.ID]++
	})
	return d
}

func (d *edited) log(file string, record []byte, _ int64) error {
	d.logging(file)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail == nil {
		d.records = append(d.records, logged{file, bytes.Clone(record)})
	}
	return d.fail
}

func (d *edited) id(path string) nodes.ID {
	d.t.Helper()
	return find(d.t, d.Editable, path).ID
}

// write writes in pieces, as a shell's > does, and returns the error of the close.
func (d *edited) write(path string, content []byte) error {
	d.t.Helper()
	return d.writeID(d.id(path), content)
}

func (d *edited) writeID(id nodes.ID, content []byte) (err error) {
	ctx := context.Background()
	w, err := d.OpenWrite(ctx, id)
	if err != nil {
		return err
	}
	defer func() {
		if releaseErr := w.Release(); err == nil {
			err = releaseErr
		}
	}()
	if err := w.Truncate(ctx, 0); err != nil {
		return err
	}
	for off := 0; off < len(content); {
		n, err := w.WriteAt(ctx, content[off:min(off+128<<10, len(content))], int64(off))
		if err != nil {
			return err
		}
		off += n
	}
	return w.Flush(ctx)
}

// split returns the ID of a path's directory, and its last name.
func (d *edited) split(path string) (dir nodes.ID, name string) {
	d.t.Helper()
	i := strings.LastIndexByte(path, '/')
	return d.id(path[:i]), path[i+1:]
}

func (d *edited) rename(from, to string) error {
	d.t.Helper()
	dir, name := d.split(from)
	toDir, toName := d.split(to)
	return d.Rename(d.t.Context(), dir, name, toDir, toName, nodes.RenameReplace)
}

func (d *edited) remove(path string) error {
	d.t.Helper()
	dir, name := d.split(path)
	return d.Remove(d.t.Context(), dir, name, nodes.File)
}

func (d *edited) create(path string, content []byte) error {
	d.t.Helper()
	dir, name := d.split(path)
	e, err := d.Create(d.t.Context(), dir, name)
	if err != nil {
		return err
	}
	return d.writeID(e.ID, content)
}

// save saves into the folder itself, and returns the names of the files.
func (d *edited) save() (files []string) {
	d.t.Helper()
	err := d.Save(d.t.Context(), func(c *worldtree.Changed) error {
		files = append(files, c.File)
		return d.replace(c, func() {})
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return files
}

// replace puts a changed file in its place, and calls meanwhile before.
func (d *edited) replace(c *worldtree.Changed, meanwhile func()) error {
	var b bytes.Buffer
	if err := c.Write(d.t.Context(), &b); err != nil {
		return err
	}
	if err := c.Compare(bytes.NewReader(b.Bytes())); err != nil {
		return err
	}
	meanwhile()
	return c.Replace(func(later [][]byte, left int64) (iofs.FileInfo, error) {
		d.later, d.left = later, left
		d.put.Lock()
		defer d.put.Unlock()
		d.fsys[c.File] = &fstest.MapFile{Data: b.Bytes(), ModTime: time.Now()}
		return d.fsys.Stat(c.File)
	})
}

const (
	aZone   = "zones/x1000y1000.json"
	aSquare = "squares/x1000y1000/017-093.json"
	anArea  = "areas/area_a_p.json"
)

// otherZone returns the JSON of another zone.
func otherZone(t testing.TB, cells geomtest.Cells) []byte {
	t.Helper()
	z, err := geometry.DecodeZone(geomtest.ZoneFile(cells), geometry.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := geometry.WriteText(t.Context(), &b, geometry.ZoneJSON(z)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lift raises the first floor of a square's first cell by one.
func lift(t testing.TB, square []byte) []byte {
	t.Helper()
	var z, height int
	_, volumes, found := bytes.Cut(square, []byte(`"volumes":[[`))
	if _, err := fmt.Sscanf(string(volumes), "%d,%d]", &z, &height); !found || err != nil {
		t.Fatalf("no volume: %v", err)
	}
	before := fmt.Sprintf(`"volumes":[[%d,`, z)
	return bytes.Replace(square, []byte(before), fmt.Appendf(nil, `"volumes":[[%d,`, z-1), 1)
}

// light returns a folder that is fast to read: two zones that are empty but for some
// squares.
func light() fstest.MapFS {
	lightOnce.Do(func() {
		lightZone = geomtest.ZoneFile(func(x, y int) []geometry.Volume {
			corner, square, first := x < 16 && y >= 944, x/8 == 17 && y/8 == 93, x < 8 && y < 8
			if corner || square || first {
				return geomtest.Hills(1)(x, y)
			}
			return nil
		})
	})
	return fstest.MapFS{
		"x1000y1000.zgd": {Data: lightZone, ModTime: geomtest.FolderTime},
		"x1000y1001.zgd": {Data: lightZone, ModTime: geomtest.FolderTime},
	}
}

var (
	lightOnce sync.Once
	lightZone []byte
)

func TestMutable(t *testing.T) {
	files := light()
	for _, dir := range [][]string{{"zones"}, {"areas"}, {"squares", "x1000y1000"}} {
		t.Run(dir[0], func(t *testing.T) {
			nodetest.RunMutable(t, func(t *testing.T) nodes.Mutable {
				tree := newTree(t, files, worldtree.Options{ModTime: geomtest.FolderTime})
				return worldtree.NewEditable(tree, worldtree.EditOptions{})
			}, nodetest.Edits{
				Dir: dir, Files: [2]string{".a.swp", "b~"}, Dirs: [2]string{"d", "e.d"}, Valid: [2]string{"some text", "other"},
			})
		})
	}
}

func TestEditableIsTheTree(t *testing.T) {
	notShort(t)
	nodetest.Run(t, newEdited(t, folder(2)).Editable, nodetest.Limit(40))
}

// TestEditZone checks that an edit shows at once in all views of a zone, and in the saved
// file.
func TestEditZone(t *testing.T) {
	notShort(t)
	d := newEdited(t, folder(2))
	want, before := otherZone(t, geomtest.Extremes), read(t, d.Editable, "heightmaps/x1000y1000.png")
	read(t, d.Editable, aSquare)
	other := read(t, d.Editable, "zones/x1000y1001.json")
	if err := d.write(aZone, want); err != nil {
		t.Fatal(err)
	}
	check := func(tree nodes.Tree) {
		t.Helper()
		if got := read(t, tree, aZone); !bytes.Equal(got, want) {
			t.Error("the zone reads back as something else")
		}
		if bytes.Equal(read(t, tree, "heightmaps/x1000y1000.png"), before) {
			t.Error("the picture shows the zone before")
		}
		if got := read(t, tree, "squares/x1000y1000/000-000.json"); bytes.Count(got, []byte("],[")) != 254+3 {
			t.Errorf("the square has %d pairs side by side", bytes.Count(got, []byte("],[")))
		}
		if !bytes.Equal(read(t, tree, "zones/x1000y1001.json"), other) {
			t.Error("the other zone changed")
		}
	}
	check(d.Editable)
	for _, path := range []string{aZone, "heightmaps/x1000y1000.png", aSquare, "meshes/zones/x1000y1000.obj"} {
		if d.told[d.id(path)] == 0 {
			t.Errorf("nobody was told that %s changed", path)
		}
	}
	if len(d.records) != 1 || d.records[0].file != "x1000y1000.zgd" {
		t.Errorf("%d records", len(d.records))
	}
	// A crash: the logged edits are replayed.
	again := newEdited(t, d.fsys)
	for _, r := range d.records {
		if _, err := again.Replay(t.Context(), r.file, r.record); err != nil {
			t.Fatal(err)
		}
	}
	check(again.Editable)
	if files := d.save(); fmt.Sprint(files) != "[x1000y1000.zgd]" {
		t.Errorf("saved %v", files)
	}
	check(d.Editable)
	check(newTree(t, d.fsys, worldtree.Options{}))
	if err := d.Check(); err != nil {
		t.Error(err)
	}
	if files := d.save(); files != nil {
		t.Errorf("saved again: %v", files)
	}
}

func TestEditSquares(t *testing.T) {
	notShort(t)
	d := newEdited(t, folder(1))
	text := lift(t, read(t, d.Editable, aSquare))
	if err := d.write(aSquare, text); err != nil {
		t.Fatal(err)
	}
	second := "squares/x1000y1000/119-000.json"
	if err := d.write(second, lift(t, read(t, d.Editable, second))); err != nil {
		t.Fatal(err)
	}
	if got := read(t, d.Editable, aSquare); !bytes.Equal(got, text) {
		t.Error("the square reads back as something else")
	}
	for _, r := range d.records {
		if len(r.record) > 10<<10 {
			t.Errorf("a record of a square has %d bytes", len(r.record))
		}
	}
	zone := read(t, d.Editable, aZone)
	again := newEdited(t, folder(1))
	for _, r := range d.records {
		if _, err := again.Replay(t.Context(), r.file, r.record); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(read(t, again.Editable, aZone), zone) {
		t.Error("replayed it is another zone")
	}
	d.save()
	if !bytes.Equal(read(t, newTree(t, d.fsys, worldtree.Options{}), aZone), zone) {
		t.Error("saved it is another zone")
	}
}

func TestEditArea(t *testing.T) {
	d := newEdited(t, folder(2))
	before := read(t, d.Editable, anArea)
	a, err := geometry.DecodeArea(d.fsys["area_a_p.apd"].Data, geometry.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := a.Node(0).Position()
	was := fmt.Sprintf("[%v,%v,%v]", p[0], p[1], p[2])
	text := bytes.Replace(before, []byte(was), fmt.Appendf(nil, "[%v,%v,%v]", p[0], p[1], p[2]+0.5), 1)
	if bytes.Equal(text, before) {
		t.Fatalf("no %s in the JSON", was)
	}
	if err := d.write(anArea, text); err != nil {
		t.Fatal(err)
	}
	if got := read(t, d.Editable, "areas/area_a_p.geojson"); !bytes.Contains(got, fmt.Appendf(nil, "%v", p[2]+0.5)) {
		t.Error("the GeoJSON shows the area before")
	}
	d.save()
	// dx and dy of edges follow from the positions; all else is as written.
	if got := read(t, newTree(t, d.fsys, worldtree.Options{}), anArea); !bytes.Equal(got, text) {
		t.Error("the area reads back as something else")
	}
}

// TestSame checks that writing what is there is no edit, and that edits that are undone are
// not saved.
func TestSame(t *testing.T) {
	d := newEdited(t, light())
	before := read(t, d.Editable, aSquare)
	spelled := bytes.ReplaceAll(before, []byte(","), []byte(", "))
	if err := d.write(aSquare, spelled); err != nil || len(d.records) != 0 {
		t.Errorf("%v, %d records", err, len(d.records))
	}
	if !bytes.Equal(read(t, d.Editable, aSquare), before) {
		t.Error("it is not shown as it always is")
	}
	if err := errors.Join(d.write(aSquare, lift(t, before)), d.write(aSquare, before)); err != nil {
		t.Fatal(err)
	}
	if files := d.save(); files != nil {
		t.Errorf("saved %v", files)
	}
}

func TestReadOnlyParts(t *testing.T) {
	d := newEdited(t, folder(2))
	ctx := t.Context()
	for _, path := range []string{"heightmaps/x1000y1000.png", "meshes/zones/x1000y1000.obj", "areas/area_a_p.geojson", "statistics/zones/x1000y1000.json"} {
		if _, err := d.OpenWrite(ctx, d.id(path)); !errors.Is(err, nodes.ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", path, err)
		}
		if attr, err := d.Attr(ctx, d.id(path)); err != nil || attr.Writable {
			t.Errorf("%s: %+v, %v", path, attr, err)
		}
	}
	for path, want := range map[string]error{
		"heightmaps/new": nodes.ErrReadOnly, "zones/x1005y1005.json": nodes.ErrNotPermitted, "areas/new.json": nodes.ErrNotPermitted,
		"squares/new": nodes.ErrReadOnly, aZone: nodes.ErrExist, "zones/X1000Y1000.JSON": nodes.ErrExist,
	} {
		if err := d.create(path, nil); !errors.Is(err, want) {
			t.Errorf("create %s: %v, want %v", path, err, want)
		}
	}
	for what, err := range map[string]error{
		"remove":                     d.remove(aZone),
		"remove a square":            d.remove(aSquare),
		"a zone over another":        d.rename(aZone, "zones/x1000y1001.json"),
		"a zone to a name of a zone": d.rename(aZone, "zones/x1005y1005.json"),
	} {
		if !errors.Is(err, nodes.ErrNotPermitted) {
			t.Errorf("%s: %v, want ErrNotPermitted", what, err)
		}
	}
	if err := d.rename("areas/area_a_p.geojson", "areas/a~"); !errors.Is(err, nodes.ErrReadOnly) {
		t.Errorf("rename GeoJSON: %v, want ErrReadOnly", err)
	}
	if attr, err := d.Attr(ctx, d.id(aZone)); err != nil || !attr.Writable {
		t.Errorf("%+v, %v", attr, err)
	}
}

// TestEditors saves files as editors do.
func TestEditors(t *testing.T) {
	notShort(t)
	for name, edit := range map[string]func(d *edited, text []byte) error{
		"temp file and rename": func(d *edited, text []byte) error {
			return errors.Join(d.create("squares/x1000y1000/sedXyz123", text), d.rename("squares/x1000y1000/sedXyz123", aSquare))
		},
		"backup by rename": func(d *edited, text []byte) error {
			backup := "squares/x1000y1000/017-093.json~"
			return errors.Join(d.rename(aSquare, backup), d.create(aSquare, text), d.remove(backup))
		},
		"backup that stays": func(d *edited, text []byte) error {
			return errors.Join(d.rename(aSquare, "squares/x1000y1000/old"), d.create(aSquare, text))
		},
		"backup that comes back": func(d *edited, text []byte) error {
			backup := "squares/x1000y1000/017-093.json~"
			return errors.Join(d.rename(aSquare, backup), d.rename(backup, aSquare), d.write(aSquare, text))
		},
		"twice": func(d *edited, text []byte) error {
			temp := "squares/x1000y1000/.temp"
			return errors.Join(d.create(temp, lift(d.t, text)), d.rename(temp, aSquare), d.create(temp, text), d.rename(temp, aSquare))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newEdited(t, light())
			text := lift(t, read(t, d.Editable, aSquare))
			if err := edit(d, text); err != nil {
				t.Fatal(err)
			}
			if got := read(t, d.Editable, aSquare); !bytes.Equal(got, text) {
				t.Error("it reads back as something else")
			}
			count := 0
			for _, n := range list(t, d.Editable, "squares/x1000y1000") {
				if n == "017-093.json" {
					count++
				}
			}
			if count != 1 {
				t.Errorf("it is listed %d times", count)
			}
			d.save()
			if got := read(t, newTree(t, d.fsys, worldtree.Options{}), aSquare); !bytes.Equal(got, text) {
				t.Error("saved it is something else")
			}
		})
	}
}

// TestHidden checks that a file that is out of sight stays as it was.
func TestHidden(t *testing.T) {
	d := newEdited(t, folder(1))
	before, id := read(t, d.Editable, aZone), d.id(aZone)
	if err := d.rename(aZone, "zones/.away"); err != nil {
		t.Fatal(err)
	}
	dir := d.id("zones")
	if _, err := d.Lookup(t.Context(), dir, "x1000y1000.json"); !errors.Is(err, nodes.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
	if got := fmt.Sprint(list(t, d.Editable, "zones")); got != "[.away]" {
		t.Errorf("zones has %s", got)
	}
	if d.id("zones/.away") != id || !bytes.Equal(read(t, d.Editable, "zones/.away"), before) {
		t.Error("it is another file now")
	}
	if err := d.remove("zones/.away"); !errors.Is(err, nodes.ErrNotPermitted) {
		t.Errorf("removed: %v", err)
	}
	// A new file that never gets content is no zone.
	if err := d.create(aZone, nil); !errors.Is(err, nodes.ErrInvalid) {
		t.Errorf("an empty zone: %v", err)
	}
	if l, r := d.Loose(), d.Refused(); len(l.Scratch)+len(l.Strays)+len(r) != 2 || len(l.Scratch) != 1 {
		t.Errorf("not saved: %v; refused: %v", l, paths(r))
	}
	if files := d.save(); files != nil {
		t.Errorf("saved %v", files)
	}
	if !bytes.Equal(read(t, newTree(t, d.fsys, worldtree.Options{}), aZone), before) {
		t.Error("the zone changed")
	}
}

// TestReplacedStaysReadable checks that open handles can still read a replaced file.
func TestReplacedStaysReadable(t *testing.T) {
	d := newEdited(t, light())
	before, id := read(t, d.Editable, aSquare), d.id(aSquare)
	text := lift(t, before)
	if err := errors.Join(d.create("squares/x1000y1000/t", text), d.rename("squares/x1000y1000/t", aSquare)); err != nil {
		t.Fatal(err)
	}
	attr, err := d.Attr(t.Context(), id)
	got := make([]byte, attr.Size)
	if n, readErr := d.ReadAt(t.Context(), id, got, 0); err != nil || !attr.Removed || n != len(got) || (readErr != nil && readErr != io.EOF) || !bytes.Equal(got, before) { //nolint:errorlint // the contract wants it as it is
		t.Errorf("%+v, %v: %d bytes, %v", attr, err, n, readErr)
	}
	if d.id(aSquare) == id {
		t.Error("the new file has the number of the old one")
	}
}

func TestBadZoneMayBeReplaced(t *testing.T) {
	d := newEdited(t, fstest.MapFS{"x0001y0001.zgd": {Data: []byte("damaged"), ModTime: geomtest.FolderTime}})
	text := otherZone(t, geomtest.Flat(3))
	if err := d.write("zones/x0001y0001.json", text); err != nil {
		t.Fatal(err)
	}
	d.save()
	if !bytes.Equal(read(t, newTree(t, d.fsys, worldtree.Options{}), "zones/x0001y0001.json"), text) {
		t.Error("it reads back as something else")
	}
}

// TestSourceReplaced replaces a source file by another program. From then on every edit of
// it is refused, while earlier edits stay whole, also with nothing of them in the cache.
func TestSourceReplaced(t *testing.T) {
	const later = "squares/x1000y1000/000-000.json"
	d := newEdited(t, light())
	cached := lift(t, read(t, d.Editable, "squares/x1000y1001/017-093.json"))
	if err := d.write(aSquare, lift(t, read(t, d.Editable, aSquare))); err != nil {
		t.Fatal(err)
	}
	want, next := read(t, d.Editable, aZone), lift(t, read(t, d.Editable, later))
	for _, file := range []string{"x1000y1000.zgd", "x1000y1001.zgd"} {
		d.fsys[file] = &fstest.MapFile{Data: []byte("theirs"), ModTime: time.Now()}
	}
	if err := d.write("squares/x1000y1001/017-093.json", cached); !errors.Is(err, nodes.ErrChanged) {
		t.Errorf("edited: %v", err)
	}
	if err := d.write("zones/x1000y1001.json", want); !errors.Is(err, nodes.ErrChanged) {
		t.Errorf("edited as a whole: %v", err)
	}
	if err := d.write(later, next); !errors.Is(err, nodes.ErrChanged) {
		t.Errorf("edited once more: %v", err)
	}
	if files := d.save(); fmt.Sprint(files) != "[x1000y1000.zgd]" {
		t.Errorf("saved %v", files)
	}
	saved := newEdited(t, d.fsys)
	if bytes.Equal(read(t, saved.Editable, later), next) || !bytes.Equal(read(t, saved.Editable, aZone), want) {
		t.Error("what was edited is not what is saved")
	}
}

// TestSourceReplacedMeanwhile replaces a source file while a text is parsed. The edit
// belongs to the old file, which was reported before.
func TestSourceReplacedMeanwhile(t *testing.T) {
	d := newEdited(t, light())
	theirs := func(file string) {
		d.put.Lock()
		defer d.put.Unlock()
		d.fsys[file] = &fstest.MapFile{Data: []byte("theirs"), ModTime: time.Now()}
	}
	one := lift(t, read(t, d.Editable, aSquare))
	two := lift(t, read(t, d.Editable, "squares/x1000y1001/017-093.json"))
	var begun []string
	d.begin = func(file string) { begun = append(begun, file+": "+string(d.fsys[file].Data)) }
	d.logging = theirs
	if err := d.write(aSquare, one); err != nil {
		t.Fatal(err)
	}
	if want := []string{"x1000y1000.zgd: " + string(lightZone)}; !slices.Equal(begun, want) {
		t.Errorf("%d files were begun, want the first as it was", len(begun))
	}
	d.begin = theirs
	if err := d.write("squares/x1000y1001/017-093.json", two); !errors.Is(err, nodes.ErrChanged) {
		t.Errorf("edited: %v", err)
	}
}

func TestSourceChanged(t *testing.T) {
	d := newEdited(t, light())
	if err := d.write(aSquare, lift(t, read(t, d.Editable, aSquare))); err != nil {
		t.Fatal(err)
	}
	if err := d.write("squares/x1000y1001/000-000.json", lift(t, read(t, d.Editable, "squares/x1000y1001/000-000.json"))); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("somebody else wrote to it")
	var saved []string
	err := d.Save(t.Context(), func(c *worldtree.Changed) error {
		if c.File == "x1000y1000.zgd" {
			return failed
		}
		saved = append(saved, c.File)
		return d.replace(c, func() {})
	})
	if !errors.Is(err, failed) || !strings.HasPrefix(err.Error(), "x1000y1000.zgd: ") || len(saved) != 1 {
		t.Errorf("saved %v: %v", saved, err)
	}
	if files := d.save(); fmt.Sprint(files) != "[x1000y1000.zgd]" {
		t.Errorf("then saved %v", files)
	}
}

// TestManySquares edits more squares than are kept separately. None is lost.
func TestManySquares(t *testing.T) {
	notShort(t)
	t.Parallel()
	d := newEdited(t, fstest.MapFS{"x1000y1000.zgd": {Data: geomtest.ZoneFile(geomtest.Empty), ModTime: geomtest.FolderTime}})
	text := read(t, d.Editable, aSquare)
	const squares = 700
	for i := range squares {
		floor := fmt.Appendf(nil, `"volumes":[[%d,1]]`, i)
		record := append([]byte{'Q', byte(i), byte(i >> 8)}, bytes.Replace(text, []byte(`"volumes":[]`), floor, 1)...)
		if _, err := d.Replay(t.Context(), "x1000y1000.zgd", record); err != nil {
			t.Fatal(err)
		}
	}
	d.save()
	z, err := geometry.DecodeZone(d.fsys["x1000y1000.zgd"].Data, geometry.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range squares {
		if v := z.Square(i).Cell(0); v.Len() != 1 || int(v.At(0).Z) != i {
			t.Fatalf("square %d has %d volumes", i, v.Len())
		}
	}
	if z.Volumes() != squares {
		t.Errorf("%d volumes, want %d", z.Volumes(), squares)
	}
}

// TestPackedAhead checks that files are packed ahead, several at once, and stored one after
// the other.
func TestPackedAhead(t *testing.T) {
	d := newEdited(t, light())
	paths := []string{aSquare, "squares/x1000y1001/000-000.json"}
	for _, path := range paths {
		if err := d.write(path, lift(t, read(t, d.Editable, path))); err != nil {
			t.Fatal(err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	var storing atomic.Int64
	failed := errors.New("no room")
	stored := 0
	err := d.Save(t.Context(), func(c *worldtree.Changed) error {
		if storing.Add(1) > 1 {
			t.Error("two files are stored at once")
		}
		defer storing.Add(-1)
		stored++
		var b bytes.Buffer
		if err := errors.Join(c.Write(canceled, &b), c.Compare(&b)); err != nil {
			t.Errorf("%s was not packed before: %v", c.File, err)
		}
		return failed
	})
	if !errors.Is(err, failed) || stored != len(paths) {
		t.Errorf("%d files: %v", stored, err)
	}
}

// An edit during the save of a file is not in the saved file, and is saved the next time.
func TestEditedWhileSaved(t *testing.T) {
	d := newEdited(t, light())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	before := read(t, d.Editable, aSquare)
	once := lift(t, before)
	must(d.write(aSquare, once))
	must(d.Save(t.Context(), func(c *worldtree.Changed) error {
		return d.replace(c, func() { must(d.write(aSquare, lift(t, once))) })
	}))
	twice := read(t, d.Editable, aSquare)
	if !bytes.Equal(twice, lift(t, once)) || bytes.Equal(twice, once) || len(d.later) != 1 {
		t.Errorf("%d edits were made since, there is %s", len(d.later), twice)
	}
	saved := newEdited(t, d.fsys)
	if got := read(t, saved.Editable, aSquare); !bytes.Equal(got, once) {
		t.Errorf("saved was %s", got)
	}
	edits, err := saved.Replay(t.Context(), "x1000y1000.zgd", d.later[0])
	if must(err); edits != d.left || edits != 1 {
		t.Errorf("%d edits are left, and %d when they are replayed", d.left, edits)
	}
	if got := read(t, saved.Editable, aSquare); !bytes.Equal(got, twice) {
		t.Errorf("replayed on the new file it is %s", got)
	}
	// This edit restores the content of the saved file, so there is nothing to save.
	must(d.write(aSquare, once))
	if files := d.save(); len(files) != 0 {
		t.Errorf("saved %v again", files)
	}
	must(d.write(aSquare, twice))
	if files := d.save(); len(files) != 1 || len(d.later) != 0 {
		t.Errorf("then saved %v", files)
	}
	if got := read(t, newEdited(t, d.fsys).Editable, aSquare); !bytes.Equal(got, twice) {
		t.Errorf("then it was %s", got)
	}
}

// TestSaveCanceled checks that canceling returns an error and loses nothing.
func TestSaveCanceled(t *testing.T) {
	d := newEdited(t, light())
	if err := d.write(aSquare, lift(t, read(t, d.Editable, aSquare))); err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	err := d.Save(canceled, func(c *worldtree.Changed) error {
		t.Errorf("%s is stored", c.File)
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if files := d.save(); fmt.Sprint(files) != "[x1000y1000.zgd]" {
		t.Errorf("then saved %v", files)
	}
}

// FuzzReplay replays records, which come from a file that may be damaged.
func FuzzReplay(f *testing.F) {
	d := newEdited(f, folder(2))
	f.Add("x1000y1000.zgd", append([]byte("Q\x05\x00"), read(f, d.Editable, aSquare)...))
	f.Add("x1000y1000.zgd", append([]byte("W"), geomtest.ZoneFile(geomtest.Empty)...))
	f.Add("area_a_p.apd", append([]byte("W"), d.fsys["area_a_p.apd"].Data...))
	f.Add("area_a_p.apd", []byte("Q\x05\x00{}"))
	f.Add("nobody.apd", []byte("W"))
	f.Add("x1000y1000.zgd", []byte("Q\xff\xff{}"))
	f.Fuzz(func(t *testing.T, file string, record []byte) {
		d := newEdited(t, folder(2))
		if _, err := d.Replay(t.Context(), file, record); err == nil {
			return
		}
		if files := d.save(); files != nil {
			t.Errorf("a record that was refused is saved: %v", files)
		}
	})
}

// TestEditProperty compares with a model: after any edits squares hold what was written to
// them last, and refused texts stay until then and are in no saved file.
func TestEditProperty(t *testing.T) {
	testneeds.Slow(t, "it decodes a thousand zones")
	rapid.Check(t, func(rt *rapid.T) {
		d := newEdited(t, light())
		want, refused := map[string][]byte{}, map[string]bool{}
		good := func(path string) []byte {
			if !refused[path] {
				return lift(t, read(t, d.Editable, path))
			}
			if err := d.remove(path); err != nil {
				rt.Fatal(err)
			}
			delete(refused, path)
			return lift(t, read(t, d.Editable, path))
		}
		for range rapid.IntRange(1, 6).Draw(rt, "edits") {
			path := fmt.Sprintf("squares/x1000y1000/%03d-%03d.json", rapid.IntRange(0, 1).Draw(rt, "sx"), rapid.IntRange(118, 119).Draw(rt, "sy"))
			switch rapid.IntRange(0, 3).Draw(rt, "how") {
			case 0:
				d.save()
			case 1:
				if err := d.write(path, []byte("{}")); !errors.Is(err, nodes.ErrInvalid) {
					rt.Fatal(err)
				}
				refused[path] = true
			case 2:
				text := good(path)
				if err := d.write(path, text); err != nil {
					rt.Fatal(err)
				}
				want[path] = text
			case 3:
				text := good(path)
				if err := errors.Join(d.create(path+".tmp", text), d.rename(path+".tmp", path)); err != nil {
					rt.Fatal(err)
				}
				want[path] = text
			}
			if len(d.Refused()) != len(refused) {
				rt.Fatalf("refused: %v, want %v", paths(d.Refused()), refused)
			}
			for path, text := range want {
				if refused[path] {
					text = []byte("{}")
				}
				if !bytes.Equal(read(t, d.Editable, path), text) {
					rt.Fatalf("%s is not what was written", path)
				}
			}
		}
	})
}
