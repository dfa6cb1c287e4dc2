package worldtree_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/geometry/picture"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/internal/svg/svgtest"
	"lorefs/nodes/worldtree"
)

// pictureOf reads a PNG file of a tree.
func pictureOf(t *testing.T, tree nodes.Tree, path string) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(read(t, tree, path)))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return img
}

// TestWorldPicture checks that world.png has each zone as its preview shows it, in its place.
func TestWorldPicture(t *testing.T) {
	testneeds.Seconds(t)
	tree := newTree(t, folder(2), worldtree.Options{})
	world := pictureOf(t, tree, "world.png")
	if world.Bounds() != image.Rect(0, 0, 960, 1920) {
		t.Fatalf("the picture is %v", world.Bounds())
	}
	for i, name := range []string{"x1000y1000", "x1000y1001"} {
		zone := pictureOf(t, tree, "heightmaps/"+name+".preview.png")
		for _, at := range [][2]int{{0, 0}, {959, 959}, {480, 3}, {77, 800}} {
			if got, want := world.At(at[0], at[1]+960*i), zone.At(at[0], at[1]); got != want {
				t.Errorf("%s: pixel %v is %v, want %v", name, at, got, want)
			}
		}
	}
}

// TestWorldPictureFollowsEdits edits a zone: its part of world.png changes, and no other.
func TestWorldPictureFollowsEdits(t *testing.T) {
	testneeds.Seconds(t)
	d := newEdited(t, folder(2))
	id := find(t, d.Editable, "world.png").ID
	before := pictureOf(t, d.Editable, "world.png")
	time := find(t, d.Editable, "world.png").ModTime
	if err := d.write(aZone, otherZone(t, geomtest.Extremes)); err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	told := d.told[id]
	d.mu.Unlock()
	if told == 0 {
		t.Error("nobody is told that the picture has changed")
	}
	if e := find(t, d.Editable, "world.png"); !e.ModTime.After(time) {
		t.Errorf("the picture has the time %v, and had %v", e.ModTime, time)
	}
	after := pictureOf(t, d.Editable, "world.png")
	same, other := 0, 0
	for y := range 960 {
		for x := range 960 {
			if before.At(x, y) == after.At(x, y) {
				same++
			}
			if before.At(x, y+960) != after.At(x, y+960) {
				other++
			}
		}
	}
	if same > 960*960/2 || other > 0 {
		t.Errorf("%d pixels of the edited zone are as before, and %d of the other one are not", same, other)
	}
	if _, err := d.Revert(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := pictureOf(t, d.Editable, "world.png"); again.At(500, 500) != before.At(500, 500) {
		t.Error("the picture is not as before after a revert")
	}
}

// TestPicturesAreDrawnOnce reads pictures of the world piece by piece through a cache without room
// for them. Sizes need no file.
func TestPicturesAreDrawnOnce(t *testing.T) {
	testneeds.Seconds(t)
	for _, name := range []string{"world.png", "world.svg"} {
		files := &countedFS{MapFS: folder(3)}
		tree := newTree(t, files, worldtree.Options{Blocks: blockcache.New(0).View()})
		opened := files.opened.Load()
		e := find(t, tree, name)
		if _, err := tree.Attr(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		if n := files.opened.Load() - opened; n > 0 {
			t.Errorf("the size of %s took %d files to be opened", name, n)
		}
		want := read(t, tree, name)
		opened = files.opened.Load()
		var got []byte
		for off := int64(0); off < e.Size; off += 1000 {
			p := make([]byte, 1000)
			n, err := tree.ReadAt(t.Context(), e.ID, p, off)
			if err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			got = append(got, p[:n]...)
		}
		if !bytes.Equal(got, want) || int64(len(want)) != e.Size {
			t.Errorf("%s: %d and %d bytes that differ, the size is %d", name, len(got), len(want), e.Size)
		}
		if n := files.opened.Load() - opened; n > 0 {
			t.Errorf("%s: reading it again opened %d files", name, n)
		}
	}
}

// TestWorldWithDamage checks that a damaged file keeps no other from being shown.
func TestWorldWithDamage(t *testing.T) {
	files := folder(2)
	nonsense := &fstest.MapFile{Data: []byte("nonsense")}
	files["x1000y1000.zgd"], files["broken.apd"], files["b & <b>.apd"] = nonsense, nonsense, files["area_a_p.apd"]
	tree := newTree(t, files, worldtree.Options{})
	world := pictureOf(t, tree, "world.png")
	if damaged, good := world.At(500, 500), world.At(500, 1500); damaged != picture.Unreadable(1, 1).At(0, 0) || damaged == good {
		t.Errorf("the damaged zone is %v, the other one %v", damaged, good)
	}
	texts := svgtest.Texts(t, read(t, tree, "world.svg"))
	for name, want := range map[string]bool{"x1000y1000": true, "x1000y1001": true, "area_a_p": true, "b & <b>": true, "broken": false} {
		if slices.Contains(texts, name) != want {
			t.Errorf("world.svg has %q: %v, want %v", name, !want, want)
		}
	}
}

// TestOutlines checks the lines around an area of two zones above each other: none lies between
// them.
func TestOutlines(t *testing.T) {
	text := string(read(t, newTree(t, folder(2), worldtree.Options{}), "world.svg"))
	if want := `<path d="M0 0H960M0 1920H960M0 0V1920M960 0V1920"`; !strings.Contains(text, want) {
		t.Errorf("world.svg lacks %s:\n%s", want, strings.TrimSpace(text))
	}
}

// TestOutlinesOnTerrain checks that the zones of world.png lie where world.svg has them, also where
// areas without files have moved them apart, and that areas have different colours and widths.
func TestOutlinesOnTerrain(t *testing.T) {
	at := func(y uint32) geometry.ZonePosition { return geometry.ZonePosition{X: 1000, Y: y} }
	files := folder(2) // at 1000 and 1001
	files["x1000y1004.zgd"] = files["x1000y1000.zgd"]
	apart := []worldtree.NamedArea{{Name: "elsewhere", Zones: []geometry.ZonePosition{at(1002), at(1003)}}}
	for _, c := range []struct {
		named []worldtree.NamedArea
		want  []string
	}{
		// A gap is 240 pixels.
		{nil, []string{`<svg x="0" y="0" width="960" height="3120" viewBox="0 0 960 3120" preserveAspectRatio="none"><image width="960" height="3120" href="world.png"/></svg>`}},
		{apart, []string{`<svg x="0" y="0" width="819" height="1638" viewBox="0 0 960 1920"`, `<svg x="0" y="3276" width="819" height="820" viewBox="0 2160 960 960"`}},
	} {
		text := string(read(t, newTree(t, files, worldtree.Options{Named: c.named}), "world.svg"))
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("world.svg lacks %s:\n%s", want, strings.TrimSpace(text))
			}
		}
		if n := strings.Count(text, "<image"); n != len(c.want) {
			t.Errorf("there are %d parts of world.png, want %d", n, len(c.want))
		}
		if styles := regexp.MustCompile(`stroke="hsl[^"]*" stroke-width="[^"]*"`).FindAllString(text, -1); len(styles) != 1+len(c.named) ||
			len(c.named) == 1 && styles[0][:16] == styles[1][:16] {
			t.Errorf("the outlines are %q", styles)
		}
	}
}

// TestOutlinesWithoutFile checks that areas are drawn that only somebody else knows, and that a
// zone which such an area has twice is still in it.
func TestOutlinesWithoutFile(t *testing.T) {
	lower, upper := geometry.ZonePosition{X: 1000, Y: 1000}, geometry.ZonePosition{X: 1000, Y: 1001}
	text := read(t, newTree(t, folder(2), worldtree.Options{Named: []worldtree.NamedArea{
		{Name: "area_a_p", Zones: []geometry.ZonePosition{lower}}, // this one has a file
		{Name: "elsewhere", Zones: []geometry.ZonePosition{upper, lower, upper}},
		{Name: "nowhere"},
	}}), "world.svg")
	for name, want := range map[string]bool{
		"area_a_p": true, "elsewhere": true, "elsewhere (no file)": true, "area_a_p (no file)": false, "nowhere": false,
	} {
		if slices.Contains(svgtest.Texts(t, text), name) != want {
			t.Errorf("world.svg has %q: %v, want %v", name, !want, want)
		}
	}
	if border := []byte(`<path d="M0 0H960M0 1920H960M0 0V1920M960 0V1920"`); bytes.Count(text, border) != 2 {
		t.Errorf("%d areas have the border of both zones, want 2:\n%s", bytes.Count(text, border), bytes.TrimSpace(text))
	}
}

// TestWorldOfAreas checks a folder without zones: there is nothing to see from above.
func TestWorldOfAreas(t *testing.T) {
	tree := newTree(t, fstest.MapFS{"area_a_p.apd": folder(2)["area_a_p.apd"]}, worldtree.Options{})
	if names := list(t, tree, ""); slices.Contains(names, "world.png") || !slices.Contains(names, "world.svg") {
		t.Errorf("the root has %v", names)
	}
	if texts := svgtest.Texts(t, read(t, tree, "world.svg")); !slices.Contains(texts, "area_a_p") {
		t.Errorf("world.svg has %q", texts)
	}
}
