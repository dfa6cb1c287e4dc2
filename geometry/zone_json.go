package geometry

import (
	"encoding/binary"
	"sync"
)

// The documents describe themselves in their first lines, for people. Decoders check only
// the format.
const (
	zoneFormat   = "lorefs zone"
	squareFormat = "lorefs square"
	areaFormat   = "lorefs area"

	zoneHead = `{
"format":"` + zoneFormat + `",
"about":[
"squares has a line for each square: square sx,sy (0 to 119 each) is squares[120*sx+sy].",
"A square is a list of 64 cells: cell cx,cy (0 to 7 each) is the one at 8*cx+cy.",
"A cell is a list of at most 255 volumes [z,height], lowest z first: room to stand.",
"z is the world position of the floor, -32768 to 32767; height the room above it, 0 to 65535, where 32767 is open sky.",
"Lengths are position units: 25 are a metre, 16 the side of a cell, 128 of a square, 15360 of a zone.",
"Cell cx,cy of square sx,sy begins at x = 128*sx+16*cx and y = 128*sy+16*cy from the zone's corner, which is at 15360*(zone-origin)."
],
"squares":[
`
	zoneTail = "]\n}\n"
)

// ZoneJSON returns the zone as JSON: about 16 MB, with one line for each square. Its first
// lines describe it.
func ZoneJSON(z *Zone) Text { return zoneJSON{z} }

// zoneJSON has a part for each square, and one before and one behind them.
type zoneJSON struct{ z *Zone }

func (t zoneJSON) Parts() int { return ZoneSquares + 2 }

func (t zoneJSON) put(s *sink, i int) {
	switch i {
	case 0:
		s.str(zoneHead)
		return
	case ZoneSquares + 1:
		s.str(zoneTail)
		return
	}
	of := t.z.Square(i - 1)
	s.str("[")
	if s.counts {
		s.count += volumesSize(of) + (SquareCells-1)*len(",")
	} else {
		s.cells(of)
	}
	s.str("]")
	s.lineEnd(i == ZoneSquares)
}

// cells takes the lists of the volumes of all cells of a square.
func (s *sink) cells(of Square) {
	for cell, volumes := range of.Cells {
		if cell > 0 {
			s.str(",")
		}
		s.volumes(volumes)
	}
}

// volumes takes the list of a cell's volumes.
func (s *sink) volumes(volumes Volumes) {
	s.str("[")
	for i := range volumes.Len() {
		if i > 0 {
			s.str(",")
		}
		v := volumes.At(i)
		s.pair(int(v.Z), int(v.Height))
	}
	s.str("]")
}

// volumesSize returns how many bytes the lists of the volumes of all cells of a square take.
func volumesSize(of Square) int {
	size := len("[]") * SquareCells
	for _, n := range of.counts {
		size -= int(min(n, 1)) // the first volume has no comma
	}
	size += len("[,],") * (len(of.volumes) / volumeSize)
	zs, heights := volumeDigits()
	for b := of.volumes; len(b) >= volumeSize; b = b[volumeSize:] {
		v := binary.LittleEndian.Uint32(b)
		size += int(zs[uint16(v)]) + int(heights[v>>16])
	}
	return size
}

// volumeDigits returns how many bytes each z and each height takes.
var volumeDigits = sync.OnceValues(func() (zs, heights *[1 << 16]uint8) {
	zs, heights = new([1 << 16]uint8), new([1 << 16]uint8)
	for i := range zs {
		zs[i], heights[i] = uint8(digits(int(int16(i)))), uint8(digits(i))
	}
	return zs, heights
})
