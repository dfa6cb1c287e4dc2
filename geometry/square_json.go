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
	if s.counts {
		s.count += cellsSize(t.z.Square(square), int(x), int(y))
	} else {
		s.centeredCells(t.z.Square(square), int(x), int(y))
	}
	s.str(zoneTail)
}

// What is around the fields of a cell.
const (
	beforeCell    = `{"cell":`
	beforeCenter  = `,"center":`
	beforeVolumes = `,"volumes":`
	behindVolumes = "}"
)

// centeredCells takes the lines of all cells of a square with its corner at x, y.
func (s *sink) centeredCells(of Square, x, y int) {
	for i, volumes := range of.Cells {
		cx, cy := i/SquareSide, i%SquareSide
		s.str(beforeCell)
		s.pair(cx, cy)
		s.str(beforeCenter)
		s.pair(center(x, cx), center(y, cy))
		s.str(beforeVolumes)
		s.volumes(volumes)
		s.str(behindVolumes)
		s.lineEnd(i == SquareCells-1)
	}
}

// center returns the middle of a cell on an axis.
func center(corner, cell int) int { return corner + cell*CellSize + CellSize/2 }

// cellsSize returns how many bytes centeredCells takes.
func cellsSize(of Square, x, y int) int {
	const line = len(beforeCell + "[0,0]" + beforeCenter + "[,]" + beforeVolumes + behindVolumes + ",\n")
	size := line*SquareCells - len(",") + volumesSize(of)
	for i := range SquareSide {
		// Each row and each column has as many cells as a side.
		size += (digits(center(x, i)) + digits(center(y, i))) * SquareSide
	}
	return size
}

// namedPair takes a line with a pair.
func (s *sink) namedPair(name string, a, b int) {
	s.str(name)
	s.pair(a, b)
	s.lineEnd(false)
}
