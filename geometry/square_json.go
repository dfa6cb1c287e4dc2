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

func (t squaresJSON) AppendPart(dst []byte, i int) []byte {
	return AppendSquareJSON(dst, t.z, i, t.at, t.origin)
}

// AppendSquareJSON appends a square of a zone as a JSON document, with positions in the
// world whose origin is at the corner of zone origin.
func AppendSquareJSON(dst []byte, z *Zone, square int, at, origin ZonePosition) []byte {
	x, y := at.Corner(origin)
	x += int64(square / ZoneSide * SquareSize)
	y += int64(square % ZoneSide * SquareSize)
	dst = append(dst, squareHead...)
	dst = appendNamedPair(dst, `"zone":`, int(at.X), int(at.Y))
	dst = appendNamedPair(dst, `"origin":`, int(origin.X), int(origin.Y))
	dst = appendNamedPair(dst, `"square":`, square/ZoneSide, square%ZoneSide)
	dst = appendNamedPair(dst, `"corner":`, int(x), int(y))
	dst = append(dst, "\"cells\":[\n"...)
	for i, volumes := range z.Square(square).Cells {
		cx, cy := i/SquareSide, i%SquareSide
		dst = append(dst, `{"cell":`...)
		dst = appendPair(dst, cx, cy)
		dst = append(dst, `,"center":`...)
		dst = appendPair(dst, int(x)+cx*CellSize+CellSize/2, int(y)+cy*CellSize+CellSize/2)
		dst = append(dst, `,"volumes":`...)
		dst = appendVolumes(dst, volumes)
		dst = append(dst, '}')
		dst = appendLineEnd(dst, i == SquareCells-1)
	}
	return append(dst, zoneTail...)
}

// appendNamedPair appends a line with a pair.
func appendNamedPair(dst []byte, name string, a, b int) []byte {
	dst = append(dst, name...)
	dst = appendPair(dst, a, b)
	return append(dst, ',', '\n')
}
