package geometry

import (
	"math"

	"lorefs/internal/shown"
)

// JSONOptions are the options of decoders of JSON.
type JSONOptions struct {
	// AnyOrder allows volumes of a cell that do not ascend. It is for zones that had such
	// volumes before: see [Zone.Ascending].
	AnyOrder bool
}

// DecodeZoneJSON reads the text of ZoneJSON. White space and the order of keys are free,
// and the format may be left out. Numbers must be whole and in their range, and the volumes
// of a cell must ascend. Every error is a [JSONError].
func DecodeZoneJSON(text []byte, opts JSONOptions) (*Zone, error) {
	d := cellDecoder{scanner: newScanner(text), opts: opts}
	// A volume takes about 17 bytes of JSON. A wrong guess costs little.
	d.zone.counts = make([]byte, 0, ZoneCells)
	d.zone.volumes = make([]byte, 0, len(text)/17*volumeSize)
	err := d.document(zoneFormat, []string{"squares"}, func(key string) bool {
		if key != "squares" {
			return false
		}
		d.squares()
		return true
	})
	if err != nil {
		return nil, err
	}
	return d.zone.Zone()
}

type cellDecoder struct {
	scanner
	opts JSONOptions
	zone ZoneBuilder
	// volumes are those of the newest cell.
	volumes []Volume
}

func (d *cellDecoder) squares() {
	d.Open('[')
	n := 0
	for ; d.More(n, ']'); n++ {
		if n == ZoneSquares {
			d.Fail(d.Pos(), "there are more than %d squares", ZoneSquares)
			return
		}
		d.square()
	}
	if n < ZoneSquares {
		d.Fail(d.Pos()-1, "there are %d squares: want %d", n, ZoneSquares)
	}
}

func (d *cellDecoder) square() {
	d.Open('[')
	n := 0
	for ; d.More(n, ']'); n++ {
		if n == SquareCells {
			d.Fail(d.Pos(), "the square has more than %d cells", SquareCells)
			return
		}
		d.cell()
		if !d.Failed() {
			if err := d.zone.Add(d.volumes...); err != nil {
				d.Fail(d.Pos(), "%v", err)
			}
			d.checkSize()
		}
	}
	if n < SquareCells {
		d.Fail(d.Pos()-1, "the square has %d cells: want %d", n, SquareCells)
	}
}

// checkSize fails if the zone is larger than decoders accept.
func (d *cellDecoder) checkSize() {
	if d.zone.rawSize() > MaxZone {
		d.Fail(d.Pos(), "the zone takes more than the %d bytes that one may have", MaxZone)
	}
}

// cell reads a list of volumes.
func (d *cellDecoder) cell() {
	d.volumes = d.volumes[:0]
	d.Open('[')
	for i := 0; d.More(i, ']'); i++ {
		at := d.Next()
		if i == MaxVolumes {
			d.Fail(at, "the cell has more than %d volumes", MaxVolumes)
			return
		}
		v := d.volume()
		if i > 0 && v.Z <= d.volumes[i-1].Z && !d.opts.AnyOrder {
			d.Fail(at, "the volume's z is %d: want more than that of the one before, %d", v.Z, d.volumes[i-1].Z)
			return
		}
		d.volumes = append(d.volumes, v)
	}
}

func (d *cellDecoder) volume() Volume {
	d.Open('[')
	z := d.Integer("z", math.MinInt16, math.MaxInt16)
	d.comma()
	height := d.Integer("height", 0, math.MaxUint16)
	d.close()
	return Volume{int16(z), uint16(height)}
}

// DecodeSquareJSON reads the cells from the text of AppendSquareJSON, and ignores all else.
// Every error is a [JSONError].
func DecodeSquareJSON(text []byte, opts JSONOptions) (*[SquareCells][]Volume, error) {
	d := cellDecoder{scanner: newScanner(text), opts: opts}
	cells := new([SquareCells][]Volume)
	err := d.document(squareFormat, []string{"cells"}, func(key string) bool {
		switch key {
		case "cells":
			d.squareCells(cells)
		case "zone", "origin", "square", "corner":
			d.ignore()
		default:
			return false
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return cells, nil
}

func (d *cellDecoder) squareCells(cells *[SquareCells][]Volume) {
	d.Open('[')
	n := 0
	for ; d.More(n, ']'); n++ {
		if n == SquareCells {
			d.Fail(d.Pos(), "there are more than %d cells", SquareCells)
			return
		}
		d.squareCell(n)
		cells[n] = append([]Volume{}, d.volumes...)
	}
	if n < SquareCells {
		d.Fail(d.Pos()-1, "there are %d cells: want %d", n, SquareCells)
	}
}

// squareCell reads cell n, which must state its number.
func (d *cellDecoder) squareCell(n int) {
	named, filled := false, false
	d.Open('{')
	for i := 0; d.More(i, '}'); i++ {
		at := d.Next()
		switch key := d.Key(); {
		case d.Failed():
		case key == "cell" && !named:
			named = true
			d.cellPlace(n)
		case key == "center":
			d.ignore()
		case key == "volumes" && !filled:
			filled = true
			d.cell()
		default:
			d.Fail(at, "unknown or repeated key %s", shown.Quote(key))
		}
	}
	if !named || !filled {
		d.Fail(d.Pos()-1, `the cell ends: want "cell" and "volumes"`)
	}
}

func (d *cellDecoder) cellPlace(n int) {
	at := d.Next()
	d.Open('[')
	cx := d.Integer("cx", 0, SquareSide-1)
	d.comma()
	cy := d.Integer("cy", 0, SquareSide-1)
	d.close()
	if got := CellIndex(int(cx), int(cy)); got != n {
		d.Fail(at, "this is cell %d,%d: want cell %d,%d here", cx, cy, n/SquareSide, n%SquareSide)
	}
}
