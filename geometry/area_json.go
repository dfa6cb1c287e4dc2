package geometry

const (
	areaHead = `{
"format":"` + areaFormat + `",
"about":[
"nodes has a line for each node; edges and squares name a node by its place in that list, from 0 on.",
"at is the node's position x,y,z in the world. Lengths are position units: 25 are a metre.",
"edges has at most 8 edges [bit,target,dx,dy], in the order of their bits 0 to 7: one may go from the node to node target.",
"The documentation calls bits 0 to 7 WSW, SSW, SSE, ESE, ENE, NNE, NNW, WNW; the only public sample has the opposite of each.",
"dx and dy tell how far the target is from the node: they are for reading and are not read back, and may be left out.",
"zones has the zones of the area by their x,y; squares has 14400 [first,count]: square sx,sy (0 to 119 each), at 120*sx+sy, holds count (0 to 255) nodes from node first on."
],
"nodes":[
`
	areaMiddle = "],\n\"zones\":[\n"
	areaTail   = "]\n}\n"
)

// nodesAPart is how many nodes make up a part of a text.
const nodesAPart = 256

// nodeParts returns the number of parts that the nodes make up.
func (a *Area) nodeParts() int { return (a.nodes + nodesAPart - 1) / nodesAPart }

// ofPart returns the range of nodes in a part.
func (a *Area) ofPart(part int) (first, end int) {
	return part * nodesAPart, min((part+1)*nodesAPart, a.nodes)
}

// AreaJSON returns the area as JSON, with one line for each node. Its first lines describe
// it.
func AreaJSON(a *Area) Text { return areaJSON{a} }

// areaJSON has parts of nodes, a part for each 120 squares of each zone, and a part before,
// between, and behind them.
type areaJSON struct{ a *Area }

func (t areaJSON) Parts() int { return t.a.nodeParts() + ZoneSide*t.a.zones + 3 }

func (t areaJSON) put(s *sink, i int) {
	nodes, rows := t.a.nodeParts(), ZoneSide*t.a.zones
	switch {
	case i == 0:
		s.str(areaHead)
	case i <= nodes:
		t.putNodes(s, i-1)
	case i == nodes+1:
		s.str(areaMiddle)
	case i <= nodes+1+rows:
		t.putRow(s, i-nodes-2)
	default:
		s.str(areaTail)
	}
}

func (t areaJSON) putNodes(s *sink, part int) {
	first, end := t.a.ofPart(part)
	for i := first; i < end; i++ {
		t.putNode(s, t.a.Node(i))
		s.lineEnd(i == t.a.nodes-1)
	}
}

// edgeStarts are the beginnings of edges, up to their bits.
var edgeStarts = [MaxEdges]string{"[0,", "[1,", "[2,", "[3,", "[4,", "[5,", "[6,", "[7,"}

func (t areaJSON) putNode(s *sink, n Node) {
	at := n.Position()
	s.str(`{"at":`)
	s.position(at)
	s.str(`,"edges":[`)
	first := true
	for e := range n.Edges() {
		if !first {
			s.str(",")
		}
		first = false
		to := t.a.Node(int(e.Target)).Position()
		s.str(edgeStarts[e.Bit])
		s.int(int(e.Target))
		s.str(",")
		s.float64(float64(to[0]) - float64(at[0]))
		s.str(",")
		s.float64(float64(to[1]) - float64(at[1]))
		s.str("]")
	}
	s.str(`]}`)
}

// putRow writes the squares of one sx and, at the first and last row of a zone, what encloses
// its squares.
func (t areaJSON) putRow(s *sink, row int) {
	zone, sx := row/ZoneSide, row%ZoneSide
	z := t.a.Zone(zone)
	if sx == 0 {
		at := z.Position()
		s.str(`{"zone":`)
		s.pair(int(at.X), int(at.Y))
		s.str(",\"squares\":[\n")
	}
	for sy := range ZoneSide {
		r := z.Square(SquareIndex(sx, sy))
		s.pair(int(r.First), int(r.Count))
		if sy < ZoneSide-1 {
			s.str(",")
		}
	}
	s.lineEnd(sx == ZoneSide-1)
	if sx == ZoneSide-1 {
		s.str("]}")
		s.lineEnd(zone == t.a.zones-1)
	}
}
