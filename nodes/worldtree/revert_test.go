package worldtree_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/worldtree"
)

// edits returns the lines of all edits, or of those of some paths, and fails the test if Pending
// counts others.
func (d *edited) edits(paths ...string) (lines []string) {
	d.t.Helper()
	for e, err := range d.Edits(d.t.Context(), d.ids(paths)...) {
		if err != nil {
			d.t.Fatal(err)
		}
		lines = append(lines, strings.TrimSuffix(string(e.Append(nil)), "\n"))
	}
	if len(paths) == 0 && int64(len(lines)) != d.Pending() {
		d.t.Errorf("%d edits are pending: %q", d.Pending(), lines)
	}
	return lines
}

func (d *edited) ids(paths []string) (ids []nodes.ID) {
	for _, path := range paths {
		ids = append(ids, d.id(path))
	}
	return ids
}

// wantEdits fails the test unless the lines of all edits begin like these.
func (d *edited) wantEdits(want ...string) {
	d.t.Helper()
	same := func(line, want string) bool { return strings.HasPrefix(line, "~ "+want) }
	if got := d.edits(); !slices.EqualFunc(got, want, same) {
		d.t.Errorf("edits: %q, want %q", got, want)
	}
}

func (d *edited) revert(want int, paths ...string) {
	d.t.Helper()
	if taken, err := d.Revert(d.t.Context(), d.ids(paths)...); err != nil || len(taken) != want {
		d.t.Errorf("took back %v, %v; want %d", taken, err, want)
	}
}

// replayed returns an Editable of the same folder in which all records were replayed.
func (d *edited) replayed() *edited {
	d.t.Helper()
	again := newEdited(d.t, d.fsys)
	for _, r := range d.records {
		if _, err := again.Replay(d.t.Context(), r.file, r.record); err != nil {
			d.t.Fatal(err)
		}
	}
	return again
}

func TestRevert(t *testing.T) {
	d := newEdited(t, folder(2))
	was := map[string][]byte{}
	for _, path := range []string{aZone, aSquare, anArea, "squares/x1000y1001/000-001.json"} {
		was[path] = read(t, d.Editable, path)
	}
	other := "squares/x1000y1000/000-000.json"
	area := bytes.Replace(was[anArea], []byte(`"at":[`), []byte(`"at":[1`), 1)
	err := errors.Join(
		d.write(aSquare, lift(t, was[aSquare])), d.write(other, lift(t, read(t, d.Editable, other))), d.write(anArea, area),
		d.write("squares/x1000y1001/000-001.json", lift(t, was["squares/x1000y1001/000-001.json"])),
	)
	if err != nil {
		t.Fatal(err)
	}
	d.wantEdits(other+": 1 of 64 cells, 0,1: [[", aSquare+": ", "squares/x1000y1001/000-001.json: ", anArea+": 1 of ")
	if got := d.edits(aSquare, "areas"); len(got) != 2 {
		t.Errorf("edits of both: %q", got)
	}

	clear(d.told)
	d.revert(1, aSquare)
	if d.told[d.id(aSquare)] == 0 || d.told[d.id(aZone)] == 0 || d.told[d.id(other)] != 0 {
		t.Errorf("told of %v", d.told)
	}
	if !bytes.Equal(read(t, d.Editable, aSquare), was[aSquare]) {
		t.Error("the square is not as it was")
	}
	d.revert(0, aSquare)
	d.wantEdits(other, "squares/x1000y1001/000-001.json", anArea)
	for _, path := range []string{"heightmaps/x1000y1000.png", "meshes", "areas/area_a_p.geojson"} {
		if _, err := d.Revert(t.Context(), d.id(path)); !errors.Is(err, nodes.ErrReadOnly) {
			t.Errorf("%s: %v", path, err)
		}
	}

	d.revert(1, aZone) // both names of a zone
	d.revert(1, "squares/x1000y1001")
	d.wantEdits(anArea)
	d.revert(1, "areas")
	d.wantEdits()
	again := d.replayed()
	again.wantEdits()
	for path, text := range was {
		if !bytes.Equal(read(t, d.Editable, path), text) || !bytes.Equal(read(t, again.Editable, path), text) {
			t.Errorf("%s is not as it was", path)
		}
	}
	if files := d.save(); files != nil {
		t.Errorf("saved %v", files)
	}
}

// bare returns a folder of one empty zone.
func bare() fstest.MapFS {
	return fstest.MapFS{"x1000y1000.zgd": {Data: geomtest.ZoneFile(geomtest.Empty), ModTime: geomtest.FolderTime}}
}

// TestEditJSON checks the members of edits, which scripts rely on.
func TestEditJSON(t *testing.T) {
	d := newEdited(t, bare())
	square := bytes.Replace(read(t, d.Editable, aSquare), []byte(`"volumes":[]`), []byte(`"volumes":[[-9,3]]`), 1)
	if err := d.write(aSquare, square); err != nil {
		t.Fatal(err)
	}
	for e, err := range d.Edits(t.Context()) {
		b, jsonErr := json.Marshal(e)
		want := `{"kind":"square_changed","path":"` + aSquare + `","changed":1,"of":64,` +
			`"old":[{"cell":[0,0],"volumes":[]}],"new":[{"cell":[0,0],"volumes":[[-9,3]]}]}`
		if err != nil || jsonErr != nil || string(b) != want {
			t.Errorf("%s, %v; want %s", b, err, want)
		}
	}
	d.wantEdits(aSquare + ": 1 of 64 cells, 0,0: [] -> [[-9,3]]")
}

// TestEditsOfZone writes a whole zone: only the squares that differ are edits.
func TestEditsOfZone(t *testing.T) {
	d := newEdited(t, bare())
	empty := read(t, d.Editable, aZone)
	at := func(i int) string { return fmt.Sprintf("squares/x1000y1000/%03d-%03d.json", i/120, i%120) }
	lines := bytes.Split(empty, []byte("\n"))
	first := slices.IndexFunc(lines, func(l []byte) bool { return bytes.HasPrefix(l, []byte("[[")) })
	for _, i := range []int{0, 700, 14399} {
		lines[first+i] = bytes.Replace(lines[first+i], []byte("[]"), []byte("[[5,6]]"), 2)
	}
	if err := d.write(aZone, bytes.Join(lines, []byte("\n"))); err != nil {
		t.Fatal(err)
	}
	d.wantEdits(at(0)+": 2 of 64", at(700), at(14399))
	d.revert(1, at(700))
	d.wantEdits(at(0), at(14399))
	d.replayed().wantEdits(at(0), at(14399))
	if err := d.write(aZone, empty); err != nil {
		t.Fatal(err)
	}
	d.wantEdits()
}

// TestRevertBadFile replaces a zone that can't be decoded, and takes that back.
func TestRevertBadFile(t *testing.T) {
	fsys := light()
	good := read(t, newEdited(t, fsys).Editable, aZone)
	fsys["x1000y1000.zgd"].Data = []byte("nonsense")
	d := newEdited(t, fsys)
	if err := d.write(aZone, good); err != nil {
		t.Fatal(err)
	}
	d.wantEdits(aZone + ": was x1000y1000.zgd: ")
	if err := d.write(aSquare, lift(t, read(t, d.Editable, aSquare))); err != nil {
		t.Fatal(err)
	}
	d.wantEdits(aZone)
	d.replayed().wantEdits(aZone)
	d.revert(0, aSquare)
	d.revert(1)
	for _, e := range []*edited{d, d.replayed()} {
		e.wantEdits()
		if _, err := e.ReadAt(t.Context(), e.id(aZone), make([]byte, 1), 0); err == nil {
			t.Error("the file is not as bad as before")
		}
		if err := e.write(aZone, good); err != nil {
			t.Error(err)
		}
		e.wantEdits(aZone)
	}
}

// TestRevertUnordered takes back the only square of a zone whose volumes were in no order.
func TestRevertUnordered(t *testing.T) {
	fsys := light()
	fsys["x1000y1000.zgd"].Data = geomtest.ZoneFile(func(x, y int) []geometry.Volume {
		if x == 0 && y == 0 {
			return []geometry.Volume{{Z: 9, Height: 1}, {Z: 3, Height: 1}}
		}
		return nil
	})
	d := newEdited(t, fsys)
	path := "squares/x1000y1000/000-000.json"
	was := read(t, d.Editable, path)
	if err := d.write(path, bytes.Replace(was, []byte("[[9,1],[3,1]]"), []byte("[[3,1],[9,1]]"), 1)); err != nil {
		t.Fatal(err)
	}
	d.wantEdits(path + ": 1 of 64 cells, 0,0: [[9,1],[3,1]] -> [[3,1],[9,1]]")
	d.revert(1, path)
	for _, e := range []*edited{d, d.replayed()} {
		e.wantEdits()
		if !bytes.Equal(read(t, e.Editable, path), was) {
			t.Error("it is not as it was")
		}
	}
}

// TestRevertChanged checks that nothing is taken back if another program has replaced the file.
func TestRevertChanged(t *testing.T) {
	d := newEdited(t, light())
	text := lift(t, read(t, d.Editable, aSquare))
	if err := d.write(aSquare, text); err != nil {
		t.Fatal(err)
	}
	d.fsys["x1000y1000.zgd"].ModTime = geomtest.FolderTime.Add(1)
	if taken, err := d.Revert(t.Context()); !errors.Is(err, nodes.ErrChanged) || len(taken) != 0 {
		t.Errorf("took back %v, %v", taken, err)
	}
	if !bytes.Equal(read(t, d.Editable, aSquare), text) || d.Pending() != 1 {
		t.Error("the edit is gone")
	}
}

// TestTakeBackZone gives up the refused texts of a zone by either of its names.
func TestTakeBackZone(t *testing.T) {
	d := newEdited(t, folder(2))
	for _, name := range []string{aZone, "squares/x1000y1000", "zones", "squares"} {
		for _, path := range []string{aZone, aSquare, anArea} {
			if err := d.write(path, []byte("bad")); err == nil {
				t.Fatal("a bad text was taken")
			}
		}
		if got := d.TakeBack(d.id(name)); !slices.Equal(got, []string{aSquare, aZone}) {
			t.Errorf("%s: took back %q", name, got)
		}
		if got := d.Refused(); len(got) != 1 || got[0].Path != anArea {
			t.Errorf("%s: refused %q", name, paths(got))
		}
	}
}

// netModel is what a world with a few squares has to show. Squares are named by their places.
type netModel struct {
	*rapid.T
	d *edited
	// is and saved are the z of each square that is not empty, shown and in the folder.
	is, saved map[string]int
}

func (m *netModel) square() string {
	return fmt.Sprintf("squares/x1000y1000/000-%03d.json", rapid.IntRange(0, 2).Draw(m.T, "square"))
}

func (m *netModel) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// edit sets the z of the first cell of a square; 0 makes it empty.
func (m *netModel) edit() {
	path, z := m.square(), rapid.IntRange(0, 2).Draw(m.T, "z")
	text := blank
	if delete(m.is, path); z > 0 {
		m.is[path] = z
		text = bytes.Replace(blank, []byte(`"volumes":[]`), fmt.Appendf(nil, `"volumes":[[%d,1]]`, z), 1)
	}
	m.must(m.d.write(path, text))
}

// blank is a square without volumes.
var blank = func() []byte {
	var b strings.Builder
	for i := range 64 {
		fmt.Fprintf(&b, ",{\"cell\":[%d,%d],\"volumes\":[]}", i/8, i%8)
	}
	return []byte(`{"cells":[` + b.String()[1:] + "]}")
}()

func (m *netModel) revert() {
	if rapid.Bool().Draw(m.T, "all") {
		_, err := m.d.Revert(context.Background())
		m.must(err)
		m.is = maps.Clone(m.saved)
		return
	}
	path := m.square()
	_, err := m.d.Revert(context.Background(), m.d.id(path))
	m.must(err)
	if z, ok := m.saved[path]; ok {
		m.is[path] = z
	} else {
		delete(m.is, path)
	}
}

// save saves. If something changes during that, it is relative to the old file until then.
func (m *netModel) save() {
	m.must(m.d.Save(context.Background(), func(c *worldtree.Changed) error {
		snapshot, begun := maps.Clone(m.is), len(m.d.records)
		err := m.d.replace(c, func() {
			for range rapid.IntRange(0, 3).Draw(m.T, "meanwhile") {
				if rapid.Bool().Draw(m.T, "edit") {
					m.edit()
				} else {
					m.revert()
				}
			}
		})
		m.saved = snapshot
		m.d.records = m.d.records[begun:]
		return err
	}))
	if m.d.Pending() == 0 {
		m.d.records = nil
	}
}

func (m *netModel) check(d *edited) {
	want := map[string]bool{}
	for _, path := range slices.Concat(slices.Collect(maps.Keys(m.is)), slices.Collect(maps.Keys(m.saved))) {
		if m.is[path] != m.saved[path] {
			want[path] = true
		}
	}
	var got []string
	for e, err := range d.Edits(context.Background()) {
		m.must(err)
		got = append(got, e.Path)
	}
	if !slices.Equal(got, slices.Sorted(maps.Keys(want))) || d.Pending() != int64(len(got)) {
		m.Fatalf("edits %q, %d pending, want %v", got, d.Pending(), want)
	}
	for i := range 3 {
		path := fmt.Sprintf("squares/x1000y1000/000-%03d.json", i)
		text := read(d.t, d.Editable, path)
		if z := m.is[path]; (z > 0) != bytes.Contains(text, fmt.Appendf(nil, `"volumes":[[%d,1]]`, z)) {
			m.Fatalf("%s has not the z %d: %s", path, z, text)
		}
	}
}

// TestNetProperty compares edits, reverts and saves with a model: an edit is what differs from
// the saved file, also after the records were replayed.
func TestNetProperty(t *testing.T) {
	testneeds.Slow(t, "it decodes a thousand zones")
	rapid.Check(t, func(rt *rapid.T) {
		// Without a cache everything is read from where it is.
		m := &netModel{T: rt, d: newEditedIn(t, bare(), 1, worldtree.EditOptions{}), is: map[string]int{}, saved: map[string]int{}}
		for range rapid.IntRange(1, 5).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				m.save()
			case 1:
				m.revert()
			default:
				m.edit()
			}
			m.check(m.d)
		}
		m.check(m.d.replayed())
	})
}
