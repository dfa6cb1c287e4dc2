package geometry

const squareHead = `{
"format":"` + squareFormat + `",
"about":[
"cells has a line for each cell of the square, in the order of cx, and of cy where cx is equal (0 to 7 each).",
"center is the middle of the cell in the world: it is for reading and is not read back. So are zone, origin, square and corner.",
"volumes is a list of at most 255 [z,height], lowest z first: room to stand.",
"z is the world position of the floor, -32768 to 32767; height the room above it, 0 to 65535, where 32767 is open sky.",
"Lengths are position units: 25 are a metre, 16 the side of a cell."
],
`

// SquaresJSON returns a text whose parts are the documents of AppendSquareJSON.
func SquaresJSON(z *Zone, at, origin ZonePosition) Text { return squaresJSON{z, at, origin} }

type squaresJSON struct {
	z          *Zone
	at, origin ZonePosition
}

func (t squaresJSON) Parts() int { return ZoneSquares }

// AppendSquareJSON appends a square of a zone as a JSON document, with positions in the
// world whose origin is at the corner of zone origin.
func AppendSquareJSON(dst []byte, z *Zone, square int, at, origin ZonePosition) []byte {
	return appendPart(dst, SquaresJSON(z, at, origin), square)
}

func (t squaresJSON) put(s *sink, square int) {
	x, y := t.at.Corner(t.origin)
	x += int64(square / ZoneSide * SquareSize)
	y += int64(square % ZoneSide * SquareSize)
	s.str(squareHead)
	s.namedPair(`"zone":`, int(t.at.X), int(t.at.Y))
	s.namedPair(`"origin":`, int(t.origin.X), int(t.origin.Y))
	s.namedPair(`"square":`, square/ZoneSide, square%ZoneSide)
	s.namedPair(`"corner":`, int(x), int(y))
	s.str("\"cells\":[\n")
	for i, volumes := range t.z.Square(square).Cells {
		cx, cy := i/SquareSide, i%SquareSide
		s.str(`{"cell":`)
		s.pair(cx, cy)
		s.str(`,"center":`)
		s.pair(int(x)+cx*CellSize+CellSize/2, int(y)+cy*CellSize+CellSize/2)
		s.str(`,"volumes":`)
		s.volumes(volumes)
		s.str("}")
		s.lineEnd(i == SquareCells-1)
	}
	s.str(zoneTail)
}

// namedPair takes a line with a pair.
func (s *sink) namedPair(name string, a, b int) {
	s.str(name)
	s.pair(a, b)
	s.lineEnd(false)
}
