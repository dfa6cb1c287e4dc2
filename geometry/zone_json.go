package geometry

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
	s.str("[")
	for cell, volumes := range t.z.Square(i - 1).Cells {
		if cell > 0 {
			s.str(",")
		}
		s.volumes(volumes)
	}
	s.str("]")
	s.lineEnd(i == ZoneSquares)
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
