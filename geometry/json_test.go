package geometry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/testneeds"
)

// write returns a whole text.
func write(t testing.TB, text geometry.Text) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := geometry.WriteText(t.Context(), &b, text); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkText checks that the size is known beforehand, and that each part can be read alone.
func checkText(t *testing.T, text geometry.Text) []byte {
	t.Helper()
	all := write(t, text)
	offsets, err := geometry.OffsetsOf(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	size := offsets.Size()
	if size != int64(len(all)) {
		t.Fatalf("the size is %d, want %d", size, len(all))
	}
	for _, at := range []struct{ off, n int64 }{
		{0, size}, {0, size + 1}, {0, 1}, {size / 3, 1 << 17}, {size - 1, 1}, {size - 1, 2}, {offsets.At(1), 5}, {offsets.At(1) - 1, 3}, {size, 1}, {size + 9, 1},
	} {
		p := make([]byte, at.n)
		n, err := geometry.ReadTextAt(text, offsets, p, at.off)
		want := all[min(at.off, size):min(at.off+at.n, size)]
		if !bytes.Equal(p[:n], want) || (n < len(p)) != (err == io.EOF) { //nolint:errorlint // as io.ReaderAt has it
			t.Errorf("%d bytes at %d = %d, %v", at.n, at.off, n, err)
		}
	}
	if n, err := geometry.ReadTextAt(text, offsets, make([]byte, 1), -1); n != 0 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a read at -1 = %d, %v", n, err)
	}
	return all
}

// TestSizesOfSquares checks the sizes of single squares, where an error of one could make up for
// that of another.
func TestSizesOfSquares(t *testing.T) {
	testneeds.Alone(t)
	t.Parallel()
	testneeds.Seconds(t)
	for name, cells := range samples {
		t.Run(name, func(t *testing.T) {
			z := parseZone(t, cells)
			at, origin := geometry.ZonePosition{X: 1001, Y: 99}, geometry.DefaultOrigin
			offsets, err := geometry.OffsetsOf(t.Context(), geometry.SquaresJSON(z, at, origin))
			if err != nil {
				t.Fatal(err)
			}
			var text []byte
			for square := range geometry.ZoneSquares {
				text = geometry.AppendSquareJSON(text[:0], z, square, at, origin)
				if got := offsets.At(square+1) - offsets.At(square); got != int64(len(text)) {
					t.Fatalf("square %d has %d bytes, want %d", square, got, len(text))
				}
			}
		})
	}
}

// zoneDocument is a zone's JSON as any program would read it.
type zoneDocument struct {
	Format  string
	About   []string
	Squares [][][][2]int
}

func TestZoneJSON(t *testing.T) {
	t.Parallel()
	for name, cells := range samples {
		t.Run(name, func(t *testing.T) {
			if testneeds.Quick() && name != "extremes" {
				t.Skip("the standard library takes a second for its JSON")
			}
			z := parseZone(t, cells)
			text := checkText(t, geometry.ZoneJSON(z))
			var doc zoneDocument
			if err := json.Unmarshal(text, &doc); err != nil {
				t.Fatal(err)
			}
			if doc.Format != "lorefs zone" || len(doc.About) == 0 || len(doc.Squares) != 14400 {
				t.Fatalf("format %q, %d lines about it, %d squares", doc.Format, len(doc.About), len(doc.Squares))
			}
			for i, square := range doc.Squares {
				for k, cell := range square {
					want := cells(i/120*8+k/8, i%120*8+k%8)
					if !slices.EqualFunc(cell, want, func(got [2]int, v geometry.Volume) bool {
						return got == [2]int{int(v.Z), int(v.Height)}
					}) {
						t.Fatalf("cell %d of square %d is %v, want %v", k, i, cell, want)
					}
				}
			}
			checkZoneReadsBack(t, z, text)
		})
	}
}

func checkZoneReadsBack(t *testing.T, z *geometry.Zone, text []byte) {
	t.Helper()
	again, err := geometry.DecodeZoneJSON(text, geometry.JSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Image(), z.Image()) {
		t.Error("the JSON reads back as another zone")
	}
	if !bytes.Equal(write(t, geometry.ZoneJSON(again)), text) {
		t.Error("JSON, zone, JSON: it is another text")
	}
}

// few returns all of a list, or in short tests its second element.
func few(names []string) []string {
	if testneeds.Quick() {
		return names[1:2]
	}
	return names
}

func TestJSONOfFixtures(t *testing.T) {
	testneeds.Alone(t)
	t.Parallel()
	for _, name := range few(zoneFixtures) {
		z := zoneFixture(t, name)
		text := checkText(t, geometry.ZoneJSON(z))
		t.Logf("%s: %d bytes", name, len(text))
		checkZoneReadsBack(t, z, text)
	}
	for _, name := range few(areaFixtures) {
		a := areaFixture(t, name)
		text := checkText(t, geometry.AreaJSON(a))
		t.Logf("%s: %d bytes", name, len(text))
		checkAreaReadsBack(t, a, text)
	}
}

func checkAreaReadsBack(t *testing.T, a *geometry.Area, text []byte) {
	t.Helper()
	again, err := geometry.DecodeAreaJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Raw(), a.Raw()) {
		t.Error("the JSON reads back as another area")
	}
	if !bytes.Equal(write(t, geometry.AreaJSON(again)), text) {
		t.Error("JSON, area, JSON: it is another text")
	}
}

func TestAreaJSON(t *testing.T) {
	area := paths()
	a := parseArea(t, area)
	text := checkText(t, geometry.AreaJSON(a))
	checkAreaReadsBack(t, a, text)
	var doc struct {
		Format string
		About  []string
		Nodes  []struct {
			At    [3]float32
			Edges [][4]float64
		}
		Zones []struct {
			Zone    [2]uint32
			Squares [][2]uint32
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Format != "lorefs area" || len(doc.About) == 0 || len(doc.Nodes) != len(area.Nodes) || len(doc.Zones) != 2 {
		t.Fatalf("format %q, %d lines about it, %d nodes, %d zones", doc.Format, len(doc.About), len(doc.Nodes), len(doc.Zones))
	}
	for i, n := range area.Nodes {
		var edges [][4]float64
		for _, e := range n.Edges {
			to := area.Nodes[e.Target].Position
			edges = append(edges, [4]float64{
				float64(e.Bit), float64(e.Target),
				float64(to[0]) - float64(n.Position[0]), float64(to[1]) - float64(n.Position[1]),
			})
		}
		if doc.Nodes[i].At != n.Position || (len(edges) > 0 && fmt.Sprint(doc.Nodes[i].Edges) != fmt.Sprint(edges)) {
			t.Errorf("node %d is %v, want %v, %v", i, doc.Nodes[i], n.Position, edges)
		}
	}
	for i, z := range area.Zones {
		if doc.Zones[i].Zone != [2]uint32{z.Position.X, z.Position.Y} {
			t.Errorf("zone %d is %v, want %v", i, doc.Zones[i].Zone, z.Position)
		}
		for square, got := range doc.Zones[i].Squares {
			if want := z.Squares[square]; got != [2]uint32{want.First, uint32(want.Count)} {
				t.Errorf("square %d of zone %d is %v, want %v", square, i, got, want)
			}
		}
	}
}

func TestEmptyAreaJSON(t *testing.T) {
	a := parseArea(t, geomtest.Area{})
	checkAreaReadsBack(t, a, checkText(t, geometry.AreaJSON(a)))
}

func TestSquareJSON(t *testing.T) {
	z := parseZone(t, geomtest.Extremes)
	at := geometry.ZonePosition{X: 1002, Y: 998}
	square := geometry.SquareIndex(17, 93)
	text := geometry.AppendSquareJSON(nil, z, square, at, geometry.DefaultOrigin)
	var doc struct {
		Format                       string
		Zone, Origin, Square, Corner [2]int
		Cells                        []struct {
			Cell, Center [2]int
			Volumes      [][2]int
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	x, y := 2*15360+17*128, -2*15360+93*128
	if doc.Format != "lorefs square" || doc.Zone != [2]int{1002, 998} || doc.Origin != [2]int{1000, 1000} ||
		doc.Square != [2]int{17, 93} || doc.Corner != [2]int{x, y} || len(doc.Cells) != 64 {
		t.Errorf("the square is %+v", doc)
	}
	for i, c := range doc.Cells {
		cx, cy := i/8, i%8
		if c.Cell != [2]int{cx, cy} || c.Center != [2]int{x + 16*cx + 8, y + 16*cy + 8} {
			t.Errorf("cell %d is %v at %v", i, c.Cell, c.Center)
		}
		if want := geomtest.Extremes(17*8+cx, 93*8+cy); len(want) != len(c.Volumes) {
			t.Errorf("cell %d has %d volumes, want %d", i, len(c.Volumes), len(want))
		}
	}
	cells, err := geometry.DecodeSquareJSON(text, geometry.JSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := z.WithSquares(map[int]*[geometry.SquareCells][]geometry.Volume{square: cells})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Image(), z.Image()) {
		t.Error("the JSON reads back as another square")
	}
}

func TestAnyOrder(t *testing.T) {
	z := parseZone(t, func(x, y int) []geometry.Volume {
		if x == 3 && y == 4 {
			return []geometry.Volume{{Z: 5}, {Z: -5, Height: 1}, {Z: -5, Height: 2}}
		}
		return nil
	})
	text := write(t, geometry.ZoneJSON(z))
	if _, err := geometry.DecodeZoneJSON(text, geometry.JSONOptions{}); err == nil {
		t.Error("volumes that descend are accepted")
	}
	again, err := geometry.DecodeZoneJSON(text, geometry.JSONOptions{AnyOrder: true})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Image(), z.Image()) {
		t.Error("the JSON reads back as another zone")
	}
}

// zoneText returns a zone with only the text of the first square given.
func zoneText(first string) string {
	empty := "[" + strings.Repeat("[],", 63) + "[]]"
	return `{"squares":[` + first + strings.Repeat(",\n"+empty, 14399) + "]}"
}

// cellsText returns a square with only the text of the first cell given.
func cellsText(first string) string {
	return "[" + first + strings.Repeat(",[]", 63) + "]"
}

func TestBadZoneJSON(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":        {"", "line 1, column 1: found the end of the text, want '{'"},
		"blank":          {" \n ", "line 2, column 2: found the end of the text, want '{'"},
		"a list":         {"[]", "line 1, column 1: found '[', want '{'"},
		"no squares":     {"{\n}", `line 2, column 1: the document ends without "squares"`},
		"another format": {`{"format":"lorefs area"}`, `line 1, column 11: the format is "lorefs area": want "lorefs zone"`},
		"unknown key":    {`{"about":{"a":[1,"\u00e9\n",true,null]}, "squars":[]}`, `line 1, column 42: unknown key "squars"`},
		"key twice":      {`{"about":1,"about":2}`, `line 1, column 12: "about" is there twice`},
		"few squares":    {`{"squares":[]}`, "line 1, column 13: there are 0 squares: want 14400"},
		"more squares":   {strings.Replace(zoneText(cellsText("[]")), "]}", ",[]]}", 1), "line 14400, column 195: there are more than 14400 squares"},
		"few cells":      {zoneText("[[],[]]"), "line 1, column 19: the square has 2 cells: want 64"},
		"more cells":     {zoneText(cellsText("[],[]")), "line 1, column 206: the square has more than 64 cells"},
		"z too low":      {zoneText(cellsText("[[-32769,1]]")), "line 1, column 16: the z is -32769: want a whole number from -32768 to 32767"},
		"z too high":     {zoneText(cellsText("[[32768,1]]")), "line 1, column 16: the z is 32768: want a whole number from -32768 to 32767"},
		"z a fraction":   {zoneText(cellsText("[[1.5,1]]")), "line 1, column 16: the z is 1.5: want a whole number from -32768 to 32767"},
		"z 1e3":          {zoneText(cellsText("[[1e3,1]]")), "line 1, column 16: the z is 1e3: want a whole number from -32768 to 32767"},
		"z huge": {
			zoneText(cellsText("[[99999999999999999999,1]]")),
			"line 1, column 16: the z is 99999999999999999999: want a whole number from -32768 to 32767",
		},
		"z a text":        {zoneText(cellsText(`[["1",1]]`)), `line 1, column 16: found '"', want a number`},
		"z with a zero":   {zoneText(cellsText("[[01,1]]")), "line 1, column 16: a number begins with 0"},
		"z with a plus":   {zoneText(cellsText("[[+1,1]]")), "line 1, column 16: found '+', want a number"},
		"height negative": {zoneText(cellsText("[[1,-1]]")), "line 1, column 18: the height is -1: want a whole number from 0 to 65535"},
		"height too high": {zoneText(cellsText("[[1,\n 65536]]")), "line 2, column 2: the height is 65536: want a whole number from 0 to 65535"},
		"no height":       {zoneText(cellsText("[[1]]")), "line 1, column 17: found ']', want ','"},
		"three numbers":   {zoneText(cellsText("[[1,2,3]]")), "line 1, column 19: found ',', want ']'"},
		"descending": {
			zoneText(cellsText("[[7,1],[7,2]]")),
			"line 1, column 21: the volume's z is 7: want more than that of the one before, 7",
		},
		"256 volumes": {
			zoneText(cellsText("[" + volumesText(256) + "]")),
			fmt.Sprintf("line 1, column %d: the cell has more than 255 volumes", 15+len(volumesText(255))+1),
		},
		"comma at the end":  {zoneText(cellsText("[[1,2],]")), "line 1, column 21: found ']', want '['"},
		"comma missing":     {zoneText(cellsText("[[1,2][3,4]]")), "line 1, column 20: found '[', want ',' or ']'"},
		"text behind it":    {zoneText(cellsText("[]")) + " {}", "line 14400, column 197: found '{', want the end of the text"},
		"cut off":           {zoneText("")[:12], "line 1, column 13: found the end of the text, want '['"},
		"string cut off":    {`{"squ`, "line 1, column 6: found the end of the text in a string"},
		"string of lines":   {"{\"a\nb\":1}", "line 1, column 4: found '\\n' in a string"},
		"string escape":     {`{"a\x":1}`, "line 1, column 4: the string has an unknown escape"},
		"characters":        {`{"about":"몬스터","몬":1}`, `line 1, column 16: unknown key "몬"`},
		"a number cut off":  {`{"about":-`, "line 1, column 11: found the end of the text, want a number"},
		"a word misspelled": {`{"about":nul`, "line 1, column 10: found 'n', want a value"},
		"deep": {
			`{"about":` + strings.Repeat("[", 1000),
			"line 1, column 42: more than 32 brackets are open",
		},
	} {
		_, err := geometry.DecodeZoneJSON([]byte(tt.text), geometry.JSONOptions{})
		checkJSONError(t, name, err, tt.want)
	}
}

// volumesText returns the text of n volumes.
func volumesText(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "[%d,0]", i)
	}
	return b.String()
}

func checkJSONError(t *testing.T, name string, err error, want string) {
	t.Helper()
	if _, ok := errors.AsType[*geometry.JSONError](err); !ok || err.Error() != "geometry: "+want {
		t.Errorf("%s: got %v\nwant geometry: %s", name, err, want)
	}
}

func TestBadAreaJSON(t *testing.T) {
	node := func(s string) string { return `{"nodes":[` + s + `],"zones":[]}` }
	zone := func(s string) string { return `{"nodes":[],"zones":[` + s + `]}` }
	squares := func(first string) string { return first + strings.Repeat(",[0,0]", 14399) }
	for name, tt := range map[string]struct{ text, want string }{
		"no nodes":       {`{"zones":[]}`, `line 1, column 12: the document ends without "nodes"`},
		"no zones":       {`{"nodes":[]}`, `line 1, column 12: the document ends without "zones"`},
		"a zone's text":  {`{"format":"lorefs zone"}`, `line 1, column 11: the format is "lorefs zone": want "lorefs area"`},
		"position short": {node(`{"at":[1,2],"edges":[]}`), "line 1, column 21: found ']', want ','"},
		"position huge":  {node(`{"at":[1,2,4e38],"edges":[]}`), "line 1, column 22: the z is 4e38: want a number that a 32-bit float can hold"},
		"position NaN":   {node(`{"at":[1,NaN,4],"edges":[]}`), "line 1, column 20: found 'N', want a number"},
		"no position":    {node(`{"edges":[]}`), `line 1, column 22: the node ends: want "at" and "edges"`},
		"no edges":       {node(`{"at":[1,2,3]}`), `line 1, column 24: the node ends: want "at" and "edges"`},
		"edges twice":    {node(`{"edges":[],"edges":[]}`), `line 1, column 23: unknown or repeated key "edges"`},
		"bit 8":          {node(`{"edges":[[8,0]],"at":[1,2,3]}`), "line 1, column 22: the bit is 8: want a whole number from 0 to 7"},
		"bit twice":      {node(`{"edges":[[3,0],[3,0]],"at":[1,2,3]}`), "line 1, column 28: the bit is 3: want a whole number from 4 to 7"},
		"edge behind the last": {
			node(`{"edges":[[7,0],[7,0]],"at":[1,2,3]}`),
			"line 1, column 27: the edge with the last bit, 7, is not the last edge",
		},
		"edge to nowhere": {
			node(`{"edges":[[3,0]],"at":[1,2,3]},` + "\n" + `{"edges":[[3,2,0,0]],"at":[1,2,3]}`),
			"line 2, column 14: an edge leads to node 2: there are 2",
		},
		"edge to nowhere but 0": {
			`{"zones":[],"nodes":[` + "\n" + `{"edges":[[3,1]],"at":[1,2,3]}]}`,
			"line 2, column 14: an edge leads to node 1: there are 1",
		},
		"edge of three":     {node(`{"edges":[[3,0,5]],"at":[1,2,3]}`), "line 1, column 27: found ']', want ','"},
		"zone without":      {zone(`{"zone":[1,2]}`), `line 1, column 35: the zone ends: want "zone" and "squares"`},
		"few squares":       {zone(`{"zone":[1,2],"squares":[[0,0]]}`), "line 1, column 52: there are 1 squares: want 14400"},
		"more squares":      {zone(`{"squares":[` + squares("[0,0],[0,0]") + `]}`), "line 1, column 86434: there are more than 14400 squares"},
		"zone negative":     {zone(`{"zone":[-1,2]}`), "line 1, column 31: the x is -1: want a whole number from 0 to 4294967295"},
		"count of nodes":    {zone(`{"squares":[[0,256]]}`), "line 1, column 37: the number of nodes is 256: want a whole number from 0 to 255"},
		"nodes not there":   {zone(`{"zone":[1,2],"squares":[` + squares("[0,3]") + `]}`), "line 1, column 47: a square has nodes up to 2: there are 0"},
		"zone twice":        {zone(`{"zone":[1,2],"squares":[` + squares("[0,0]") + `]},{"zone":[1,2]}`), "line 1, column 86457: zone x0001y0002 is there twice"},
		"unknown of node":   {node(`{"ats":[1,2,3]}`), `line 1, column 12: unknown or repeated key "ats"`},
		"unknown of zone":   {zone(`{"zoned":[1,2]}`), `line 1, column 23: unknown or repeated key "zoned"`},
		"colon missing":     {node(`{"at" [1,2,3]}`), "line 1, column 17: found '[', want ':'"},
		"object of numbers": {node(`{1:2}`), `line 1, column 12: found '1', want '"'`},
	} {
		_, err := geometry.DecodeAreaJSON([]byte(tt.text))
		checkJSONError(t, name, err, tt.want)
	}
}

func TestBadSquareJSON(t *testing.T) {
	cell := `{"cell":[0,0],"volumes":[]}`
	for name, tt := range map[string]struct{ text, want string }{
		"no cells":      {`{"zone":[1,2],"corner":[0,0]}`, `line 1, column 29: the document ends without "cells"`},
		"few cells":     {`{"cells":[` + cell + `]}`, "line 1, column 38: there are 1 cells: want 64"},
		"a wrong cell":  {`{"cells":[` + cell + `,` + cell + `]}`, "line 1, column 47: this is cell 0,0: want cell 0,1 here"},
		"no volumes":    {`{"cells":[{"cell":[0,0]}]}`, `line 1, column 24: the cell ends: want "cell" and "volumes"`},
		"no place":      {`{"cells":[{"volumes":[]}]}`, `line 1, column 24: the cell ends: want "cell" and "volumes"`},
		"unknown key":   {`{"cells":[{"z":1}]}`, `line 1, column 12: unknown or repeated key "z"`},
		"a bad volume":  {`{"cells":[{"volumes":[[1,2],[1,"x"]]}]}`, `line 1, column 32: found '"', want a number`},
		"descending":    {`{"cells":[{"volumes":[[1,2],[0,0]]}]}`, "line 1, column 29: the volume's z is 0: want more than that of the one before, 1"},
		"unknown field": {`{"cell":[]}`, `line 1, column 2: unknown key "cell"`},
	} {
		_, err := geometry.DecodeSquareJSON([]byte(tt.text), geometry.JSONOptions{})
		checkJSONError(t, name, err, tt.want)
	}
}

// TestFreeLayout reads JSON with other white space and order, as other programs write it.
func TestFreeLayout(t *testing.T) {
	t.Parallel()
	a := parseArea(t, paths())
	var indented bytes.Buffer
	if err := json.Indent(&indented, write(t, geometry.AreaJSON(a)), "\t", "  "); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(indented.String(), "\n", "\r\n")
	again, err := geometry.DecodeAreaJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Raw(), a.Raw()) {
		t.Error("it reads back as another area")
	}
	if testneeds.Quick() {
		return // the zone takes a second
	}
	z := parseZone(t, geomtest.Hills(5))
	indented.Reset()
	if err := json.Indent(&indented, write(t, geometry.ZoneJSON(z)), "", " "); err != nil {
		t.Fatal(err)
	}
	zone, err := geometry.DecodeZoneJSON(indented.Bytes(), geometry.JSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(zone.Image(), z.Image()) {
		t.Error("it reads back as another zone")
	}
}
