package geometry_test

import (
	"bytes"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
)

// packed packs everything in a folder, and returns it by name.
func packed(t *testing.T, fsys fstest.MapFS) map[string][]byte {
	t.Helper()
	inputs, _, err := geometry.Inputs(fsys)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, in := range inputs {
		var b bytes.Buffer
		if err := in.Pack(t.Context(), fsys, &b, geometry.EncodeOptions{Quality: 1}); err != nil {
			t.Fatalf("%s: %v", in.Name, err)
		}
		all[in.Name] = b.Bytes()
	}
	return all
}

func TestPack(t *testing.T) {
	t.Parallel()
	z := parseZone(t, geomtest.Hills(3))
	paths := geomtest.Paths(geometry.DefaultOrigin, geometry.ZonePosition{X: 5, Y: 6})
	a, err := geometry.ParseArea(paths.Raw())
	if err != nil {
		t.Fatal(err)
	}
	var zone, area bytes.Buffer
	if err := errors.Join(geometry.WriteText(t.Context(), &zone, geometry.ZoneJSON(z)), geometry.WriteText(t.Context(), &area, geometry.AreaJSON(a))); err != nil {
		t.Fatal(err)
	}
	idx, geo := geomtest.OriginalZone(geomtest.Hills(3))
	gdi, nod := paths.Original()
	file := func(data []byte) *fstest.MapFile { return &fstest.MapFile{Data: data} }
	got := packed(t, fstest.MapFS{
		"zones/X1Y2.json": file(zone.Bytes()), "x0003y0004.json": file(zone.Bytes()),
		"areas/Town_P.JSON": file(area.Bytes()), "village_p.json": file(area.Bytes()),
		"x993y1008.IDX": file(idx), "x993y1008.geo": file(geo),
		"pathdata_rucmia_P.gdi": file(gdi), "pathdata_Rucmia_p.nod": file(nod),
		"missing.json": file([]byte("{}")), "areas/town_p.geojson": file(nil), "zones/notes.json": file(nil), "heightmaps/x1y2.json": file(nil),
	})
	for _, name := range []string{"x0001y0002.zgd", "x0003y0004.zgd", "x0993y1008.zgd"} {
		g, err := geometry.DecodeZone(got[name], geometry.DecodeOptions{})
		if err != nil || !bytes.Equal(g.Image(), z.Image()) {
			t.Errorf("%s is another zone: %v", name, err)
		}
	}
	for _, name := range []string{"town_p.apd", "village_p.apd", "rucmia_p.apd"} {
		b, err := geometry.DecodeArea(got[name], geometry.DecodeOptions{})
		if err != nil || !bytes.Equal(b.Image(), a.Image()) {
			t.Errorf("%s is another area: %v", name, err)
		}
	}
	if len(got) != 6 {
		t.Errorf("%d files are packed", len(got))
	}
}

func TestPackHidden(t *testing.T) {
	file := &fstest.MapFile{}
	fsys := fstest.MapFS{
		"areas/.town_p.json": file, "zones/._x1y2.json": file, ".pathdata_a.gdi": file, ".x1y2.idx": file,
		"areas/town_p.json": file, "areas/.town_p.json.swp": file, ".git": &fstest.MapFile{Mode: iofs.ModeDir},
	}
	inputs, hidden, err := geometry.Inputs(fsys)
	if err != nil || len(inputs) != 1 || inputs[0].Name != "town_p.apd" {
		t.Errorf("found %v, %v", inputs, err)
	}
	want := []string{".pathdata_a.gdi", ".x1y2.idx", "zones/._x1y2.json", "areas/.town_p.json"}
	if !slices.Equal(hidden, want) {
		t.Errorf("hidden are %v, want %v", hidden, want)
	}
}

func TestPackRefuses(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for want, fsys := range map[string]fstest.MapFS{
		"x1y2.idx is there without x1y2.geo":                          {"x1y2.idx": text("")},
		"pathdata_a.gdi is there without pathdata_a.nod":              {"pathdata_a.gdi": text("")},
		"x1y2.json and zones/x1y2.json would both be packed as x0001": {"x1y2.json": text(""), "zones/x1y2.json": text("")},
	} {
		if _, _, err := geometry.Inputs(fsys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	fsys := fstest.MapFS{"zones/x1y2.json": text("{\n[]}"), "x3y4.idx": text("1234"), "x3y4.geo": text("")}
	inputs, _, err := geometry.Inputs(fsys)
	if err != nil || len(inputs) != 2 {
		t.Fatal(inputs, err)
	}
	for i, want := range []string{
		"zones/x1y2.json: geometry: line 2, column 1: found '['", "x3y4.idx: geometry: offset 4 of the .idx file: it has 4 bytes: want 1900800",
	} {
		if err := inputs[i].Pack(t.Context(), fsys, &bytes.Buffer{}, geometry.EncodeOptions{}); err == nil || !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
