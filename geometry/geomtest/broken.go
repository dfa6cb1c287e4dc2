package geomtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"lorefs/geometry"
)

// Broken is a file with one thing wrong.
type Broken struct {
	Name string
	File []byte
	// Want is the error of reading it.
	Want string
}

// raw makes a broken file of decompressed data.
func raw(name string, data []byte, want string) Broken {
	return Broken{name, Compress(data), want}
}

// edited returns a copy of data after f has changed it.
func edited(data []byte, f func(b []byte)) []byte {
	data = bytes.Clone(data)
	f(data)
	return data
}

// Where things are in a zone of 921,600 cells of one volume each.
const (
	cells    = 120 * 120 * 64
	flatSize = cells * 5
	// maxZone is the largest decompressed zone that a reader accepts.
	maxZone = 64 << 20
)

// BrokenZones returns broken .zgd files.
func BrokenZones() []Broken {
	flat, empty := RawZone(Flat(100)), RawZone(Empty)
	file := Compress(empty)
	const last = "cell 7,7 of square 119,119 has 1 volumes"
	return []Broken{
		raw("no data", nil,
			"geometry: offset 0 of the zone: the data ends: want at least 921600 bytes, one for each cell"),
		raw("a cell too few", empty[:cells-1],
			"geometry: offset 921599 of the zone: the data ends: want at least 921600 bytes, one for each cell"),
		raw("a byte too few", flat[:flatSize-1],
			fmt.Sprintf("geometry: offset %d of the zone: %s: 3 bytes are left for them and 0 more cells", flatSize-5, last)),
		raw("a volume too few", flat[:flatSize-4],
			fmt.Sprintf("geometry: offset %d of the zone: %s: 0 bytes are left for them and 0 more cells", flatSize-5, last)),
		raw("a byte too many", append(bytes.Clone(flat), 0),
			fmt.Sprintf("geometry: offset %d of the zone: 1 bytes follow the last cell: want none", flatSize)),
		raw("a volume too many", append(bytes.Clone(flat), 1, 2, 3, 4),
			fmt.Sprintf("geometry: offset %d of the zone: 4 bytes follow the last cell: want none", flatSize)),
		raw("a count that lies", edited(empty, func(b []byte) { b[64+8+1] = 255 }),
			"geometry: offset 73 of the zone: cell 1,1 of square 0,1 has 255 volumes: 921526 bytes are left for them and 921526 more cells"),
		raw("a bomb of counts", bytes.Repeat([]byte{255}, maxZone+1),
			"geometry: offset 67108864 of the zone: it goes on beyond 67108864 bytes: more than is allowed"),
		raw("a bomb of empty cells", make([]byte, maxZone+1),
			"geometry: offset 67108864 of the zone: it goes on beyond 67108864 bytes: more than is allowed"),
		{
			"no file", nil,
			"geometry: offset 0 of the .zgd file: the Brotli stream is cut off: unexpected EOF",
		},
		{
			"a file cut off", file[:len(file)-1],
			fmt.Sprintf("geometry: offset %d of the .zgd file: the Brotli stream is cut off: unexpected EOF", len(file)-1),
		},
		{
			"bytes behind the stream", append(bytes.Clone(file), "more"...),
			"geometry: offset 921600 of the zone: the Brotli stream is damaged from here on: brotli: excessive input",
		},
		{
			"no Brotli", bytes.Repeat([]byte{0xff}, 40),
			"geometry: offset 0 of the zone: the Brotli stream is damaged from here on: brotli: ",
		},
	}
}

// pair returns an area of two nodes that lead to each other, and two zones.
func pair() Area {
	return Area{
		Nodes: []Node{
			{[3]float32{8, 24, -100}, []geometry.Edge{{Bit: 4, Target: 1}}},
			{[3]float32{40, 24, 0.5}, []geometry.Edge{{Bit: 0, Target: 0}}},
		},
		Zones: []AreaZone{
			{geometry.ZonePosition{X: 1000, Y: 1000}, map[int]geometry.NodeRange{0: {First: 0, Count: 2}}},
			{geometry.ZonePosition{X: 1000, Y: 1001}, nil},
		},
	}
}

// Where things are in the decompressed pair.
const (
	pairNode0     = 4
	pairTarget0   = pairNode0 + 13
	pairNode1     = pairTarget0 + 4
	pairZoneCount = pairNode1 + 17
	pairZone0     = pairZoneCount + 4
	pairZone1     = pairZone0 + 8 + 14400*5
	pairSize      = pairZone1 + 8 + 14400*5
)

// BrokenAreas returns broken .apd files.
func BrokenAreas() []Broken {
	a := pair().Raw()
	put := func(off int, v uint32) []byte {
		return edited(a, func(b []byte) { binary.LittleEndian.PutUint32(b[off:], v) })
	}
	file := Compress(a)
	all := []Broken{
		raw("no data", nil, "geometry: offset 0 of the area: the data ends in the number of nodes"),
		raw("no nodes of many", binary.LittleEndian.AppendUint32(nil, math.MaxUint32),
			"geometry: offset 0 of the area: it has 4294967295 nodes: the data has room for at most 0"),
		raw("more nodes than bytes", put(0, 100_000),
			fmt.Sprintf("geometry: offset 0 of the area: it has 100000 nodes: the data has room for at most %d", (pairSize-4)/13)),
		raw("cut off in a node", a[:pairNode1+13],
			"geometry: offset 21 of the area: node 1 of 2: 13 bytes are left, want 17 for its edges"),
		raw("cut off before a node", append(bytes.Clone(a[:pairNode1]), make([]byte, 9)...),
			"geometry: offset 21 of the area: node 1 of 2: 9 bytes are left, want at least 13"),
		raw("cut off in the number of zones", a[:pairZoneCount+3],
			"geometry: offset 38 of the area: the data ends in the number of zones"),
		raw("cut off in a zone", a[:pairSize-1],
			"geometry: offset 38 of the area: 2 zones take 144016 bytes: 144015 follow"),
		raw("a byte too many", append(bytes.Clone(a), 0),
			"geometry: offset 38 of the area: 2 zones take 144016 bytes: 144017 follow"),
		raw("zones that lie", put(pairZoneCount, math.MaxUint32),
			"geometry: offset 38 of the area: 4294967295 zones take 309272004978360 bytes: 144016 follow"),
		raw("a zone twice", put(pairZone1+4, 1000),
			fmt.Sprintf("geometry: offset %d of the area: zones 0 and 1 are both x1000y1000", pairZone1)),
		raw("a position that is no number", put(pairNode1+4, math.Float32bits(float32(math.NaN()))),
			"geometry: offset 25 of the area: node 1: its y is NaN: want a finite number"),
		raw("a position that is infinite", put(pairNode0+8, math.Float32bits(float32(math.Inf(-1)))),
			"geometry: offset 12 of the area: node 0: its z is -Inf: want a finite number"),
		raw("an edge to nowhere", put(pairTarget0, 2),
			"geometry: offset 17 of the area: node 0: an edge leads to node 2: there are 2"),
		raw("a square of too many nodes", edited(a, func(b []byte) { b[pairZone0+8+5+4] = 3 }),
			"geometry: offset 55 of the area: square 0,1 of zone x1000y1000 has nodes 0 to 2: there are 2"),
		raw("a square of nodes at the end of numbers", edited(a, func(b []byte) {
			copy(b[pairZone1+8+5*120:], []byte{255, 255, 255, 255, 1})
		}), fmt.Sprintf("geometry: offset %d of the area: square 1,0 of zone x1000y1001 has nodes 4294967295 to 4294967295: there are 2",
			pairZone1+8+5*120)),
	}
	return append(all, Broken{
		"a file cut off", file[:len(file)/2],
		fmt.Sprintf("geometry: offset %d of the .apd file: the Brotli stream is cut off: unexpected EOF", len(file)/2),
	})
}
