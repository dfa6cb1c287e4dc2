package geometry

import (
	"fmt"
	"strconv"
)

// How a zone is divided.
const (
	// ZoneSide and SquareSide are the numbers of squares and cells along a side.
	ZoneSide   = 120
	SquareSide = 8
	// ZoneSquares, SquareCells and ZoneCells are the numbers in a whole zone or square.
	ZoneSquares = ZoneSide * ZoneSide
	SquareCells = SquareSide * SquareSide
	ZoneCells   = ZoneSquares * SquareCells
	// CellSize, SquareSize and ZoneSize are the lengths of sides in position units.
	CellSize   = 16
	SquareSize = SquareSide * CellSize
	ZoneSize   = ZoneSide * SquareSize
)

// SquareIndex returns the number of square sx, sy (0 to 119 each) in a zone.
func SquareIndex(sx, sy int) int { return sx*ZoneSide + sy }

// CellIndex returns the number of cell cx, cy (0 to 7 each) in a square.
func CellIndex(cx, cy int) int { return cx*SquareSide + cy }

// ZonePosition is the place of a zone in the grid of zones.
type ZonePosition struct{ X, Y uint32 }

// DefaultOrigin is the origin zone of most continents (238 of 284).
var DefaultOrigin = ZonePosition{1000, 1000}

// String returns the zone's name, as in its file's name: x0037y0053.
func (p ZonePosition) String() string { return fmt.Sprintf("x%04dy%04d", p.X, p.Y) }

// Corner returns the lowest world position in the zone, in a world whose origin lies at the
// corner of zone origin.
func (p ZonePosition) Corner(origin ZonePosition) (x, y int64) {
	return (int64(p.X) - int64(origin.X)) * ZoneSize, (int64(p.Y) - int64(origin.Y)) * ZoneSize
}

// ParseZoneName is the inverse of String. It also accepts capital letters and numbers
// without leading zeros, as the original server's files have them. ok is false for other
// names.
func ParseZoneName(name string) (p ZonePosition, ok bool) {
	x, rest, ok := axis(name, 'x')
	if !ok {
		return p, false
	}
	y, rest, ok := axis(rest, 'y')
	return ZonePosition{x, y}, ok && rest == ""
}

// axis removes a letter and the number behind it from a name.
func axis(name string, letter byte) (n uint32, rest string, ok bool) {
	if name == "" || name[0]|0x20 != letter {
		return 0, "", false
	}
	end := 1
	for end < len(name) && name[end] >= '0' && name[end] <= '9' {
		end++
	}
	v, err := strconv.ParseUint(name[1:end], 10, 32)
	return uint32(v), name[end:], err == nil
}
