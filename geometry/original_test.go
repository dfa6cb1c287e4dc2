package geometry_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/testneeds"
)

func TestParseOriginalZone(t *testing.T) {
	t.Parallel()
	testneeds.Seconds(t)
	for name, cells := range samples {
		idx, geo := geomtest.OriginalZone(cells)
		z, err := geometry.ParseOriginalZone(idx, geo)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(z.AppendRaw(nil), geomtest.RawZone(cells)) {
			t.Errorf("%s: it is another zone", name)
		}
	}
}

func TestParseOriginalArea(t *testing.T) {
	area := paths()
	gdi, nod := area.Original()
	a, err := geometry.ParseOriginalArea(gdi, nod)
	if err != nil {
		t.Fatal(err)
	}
	checkArea(t, a, area)
}

// put writes a number into a copy of data.
func put(data []byte, off int, v uint32) []byte {
	data = slices.Clone(data)
	binary.LittleEndian.PutUint32(data[off:], v)
	return data
}

func TestBrokenOriginals(t *testing.T) {
	idx, geo := geomtest.OriginalZone(geomtest.Flat(1))
	gdi, nod := paths().Original()
	const (
		nodes = 289
		// Node 0 leads to node 12 by bit 0.
		target0 = 12
		counts0 = 20
		firsts0 = 20 + 2*14400*2
	)
	for name, tt := range map[string]struct {
		a, b []byte
		area bool
		want string
	}{
		"idx cut off": {idx[:100], geo, false, "geometry: offset 100 of the .idx file: it has 100 bytes: want 1900800"},
		"idx sum":     {put(idx, 132, 65), geo, false, "geometry: offset 132 of the .idx file: square 0,1 has 65 volumes: its cells have 64"},
		"idx count": {
			put(idx, 138, 256), geo, false,
			"geometry: offset 138 of the .idx file: cell 0,1 of square 0,1 has 256 volumes: want at most 255",
		},
		"geo cut off": {idx, geo[:40], false, "geometry: offset 40 of the .geo file: it has 40 bytes: want 3686400 for 921600 volumes"},
		"geo longer":  {idx, append(geo, 0), false, "geometry: offset 3686400 of the .geo file: it has 3686401 bytes: want 3686400 for 921600 volumes"},
		"gdi cut off": {gdi[:19], nod, true, "geometry: offset 19 of the .gdi file: it ends in its header of 20 bytes"},
		"gdi no rectangle": {
			put(gdi, 8, 1001), nod, true,
			"geometry: offset 0 of the .gdi file: zones 1002,1006 to 1001,1007 are no rectangle",
		},
		"gdi too many zones": {
			put(put(gdi, 8, 0x7fffffff), 12, 0x7fffffff), nod, true,
			"geometry: offset 20 of the .gdi file: 172800 bytes follow the header: want 86400 for each of 2147482646 by 2147482642 zones",
		},
		"gdi nodes": {put(gdi, 16, 5), nod, true, "geometry: offset 16 of the .gdi file: it has 5 nodes: the .nod file has 289"},
		"gdi square": {
			put(gdi, counts0, 256), nod, true,
			"geometry: offset 20 of the .gdi file: square 0,0 of zone 0 has 256 nodes from 0 on: want at most 255, and there are 289",
		},
		"gdi first": {
			put(gdi, firsts0, nodes), nod, true,
			"geometry: offset 20 of the .gdi file: square 0,0 of zone 0 has 1 nodes from 289 on: want at most 255, and there are 289",
		},
		"nod cut off": {gdi, nod[:100], true, "geometry: offset 76 of the .nod file: it has 100 bytes: want a multiple of 76"},
		"nod edge":    {gdi, put(nod, target0, nodes), true, "geometry: offset 12 of the .nod file: node 0: an edge leads to node 289: there are 289"},
		"nod minus":   {gdi, put(nod, target0, 0xfffffffe), true, "geometry: offset 12 of the .nod file: node 0: an edge leads to node -2: there are 289"},
		"nod NaN":     {gdi, put(nod, 0, 0x7fc00000), true, "geometry: offset 0 of the .nod file: node 0: its x is NaN: want a finite number"},
	} {
		var err error
		if tt.area {
			_, err = geometry.ParseOriginalArea(tt.a, tt.b)
		} else {
			_, err = geometry.ParseOriginalZone(tt.a, tt.b)
		}
		if _, ok := errors.AsType[*geometry.FormatError](err); !ok || err.Error() != tt.want {
			t.Errorf("%s: got %v\nwant %s", name, err, tt.want)
		}
	}
}

// TestOriginalEmptySquares checks that a square without nodes may name any node as its
// first.
func TestOriginalEmptySquares(t *testing.T) {
	gdi, nod := paths().Original()
	const square1 = 20 + 2*14400*2 + 4
	a, err := geometry.ParseOriginalArea(put(gdi, square1, 0xffffffff), nod)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Zone(0).Square(1); got != (geometry.NodeRange{}) {
		t.Errorf("the square is %v", got)
	}
}
