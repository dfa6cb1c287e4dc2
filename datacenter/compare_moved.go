package datacenter

import (
	"bytes"
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lorefs/internal/cores"
)

// Moved says where a Rewriter has moved the runs and the strings of a file. This is only what the
// Rewriter claims: [Comparer.Prove] finds out whether it is true.
type Moved struct {
	strings   movedStrings
	entries   []storedString
	attrRuns  movedRuns
	childRuns movedRuns
}

// Moved returns where everything was moved. It must be called after Write.
func (r *Rewriter) Moved() *Moved {
	return &Moved{strings: r.strings, entries: r.b.values.entries, attrRuns: r.attrRuns, childRuns: r.childRuns}
}

// hasString reports whether the string at x, which must exist, was moved to y.
func (m *Moved) hasString(x, y Address) bool {
	i, ok := m.strings.get(x)
	return ok && m.entries[i].addr == y
}

// has reports whether x was moved to y.
func (m *movedRuns) has(x, y runKey) bool {
	to, ok := m.get(x)
	return ok && to == movedRun(y)
}

// Prove compares each run and each string that was moved with what it has become, on all cores. If
// all are equal, it returns true, and the Comparer and those beside it take them for equal from
// then on. If it returns false, something differs or is unusual: the Comparer works as if Prove had
// not been called, and finds out what it is. f and g are the two files, to be read by any goroutine.
//
// Each part is compared by itself: a node's runs must be what its former runs have become. If that
// holds for all parts, then, since no node is below itself, whole subtrees are equal. So each part
// is looked at once and in the order of the file, where a walk jumps about and has to remember
// what is equal.
//
// told is called now and then, by several goroutines, with the part that is done, from 0 to 1.
func (c *Comparer) Prove(f, g *File, m *Moved, told func(part float64)) (bool, error) {
	all := m.claims(f)
	var (
		next, done atomic.Int64
		loading    sync.WaitGroup
	)
	defer loading.Wait()
	group, ctx := errgroup.WithContext(c.ctx)
	for range min(cores.Count(), len(all)) {
		p := &prover{Comparer: c, Moved: m, x: f.ReadAhead(&loading), y: g.ReadAhead(&loading)}
		group.Go(func() error {
			return share(ctx, &next, len(all), func(i int) error {
				if !all[i].hold(p, all[i]) {
					return errUnproved
				}
				told(float64(done.Add(1)) / float64(len(all)))
				return nil
			})
		})
	}
	err := group.Wait()
	if err == nil {
		c.moved = m
	}
	if errors.Is(err, errUnproved) {
		return false, nil
	}
	return err == nil, err
}

// errUnproved means that a claim does not hold, or that it can't be told.
var errUnproved = errors.New("unproved")

// claims are to be proved for a segment of the file that was moved.
type claims struct {
	hold    func(p *prover, c claims) bool
	segment int
	// runs are those that movedRuns keeps in a map, and strings those of movedStrings.
	runs    []runKey
	strings []Address
}

// claims returns all claims, in the order of the file.
func (m *Moved) claims(f *File) (list []claims) {
	attrs, nodes := special(f.regions.attributes, &m.attrRuns), special(f.regions.nodes, &m.childRuns)
	for i, runs := range attrs {
		list = append(list, claims{hold: (*prover).attributes, segment: i, runs: runs})
	}
	for i, runs := range nodes {
		list = append(list, claims{hold: (*prover).children, segment: i, runs: runs})
	}
	values := len(list)
	for i := range f.regions.values.data {
		list = append(list, claims{hold: (*prover).strings, segment: i})
	}
	for at := range m.strings.others {
		c := &list[values+int(at.Segment)]
		c.strings = append(c.strings, at)
	}
	return list
}

// special returns the runs of each segment that m keeps in its map.
func special(segs []segment, m *movedRuns) [][]runKey {
	runs := make([][]runKey, len(segs))
	for k := range m.others {
		runs[k.addr.Segment] = append(runs[k.addr.Segment], k)
	}
	return runs
}

// prover proves claims, for one goroutine. It calls no method of the Comparer that changes it.
type prover struct {
	*Comparer
	*Moved
	x, y *File // the two files, for this goroutine only
	// beside compares runs that are not kept by their places. It is nil until there is one.
	beside *Comparer
	// xRun and yRun are copies of runs that straddle two blocks, and xNodes and yNodes are runs
	// with placeholders or many nodes.
	xRun, yRun     [math.MaxUint8 * maxNodeSize]byte
	xNodes, yNodes []Node
}

// attributes reports whether the runs of attributes that begin in a segment are what was claimed.
func (p *prover) attributes(c claims) bool {
	for _, k := range c.runs {
		if p.beside == nil {
			p.beside = p.Beside(p.ctx, p.x, p.y)
		}
		same, err := p.beside.SameAttributes(p.x.withAttributes(k), p.y.withAttributes(runKey(p.attrRuns.others[k])))
		if !same || err != nil {
			return false
		}
	}
	x, y := p.x.regions.attributes, p.y.regions.attributes
	xSize, ySize := p.x.layout.AttributeSize(), p.y.layout.AttributeSize()
	return p.eachRun(&p.attrRuns, c.segment, func(at runKey, to Address) bool {
		xs, xOK := viewRun(p.x, x, at, xSize, p.xRun[:])
		ys, yOK := viewRun(p.y, y, runKey{to, at.count}, ySize, p.yRun[:])
		if !xOK || !yOK {
			return false
		}
		for ; len(xs) > 0; xs, ys = xs[xSize:], ys[ySize:] {
			if !p.sameAttribute(parseAttribute(xs), parseAttribute(ys)) {
				return false
			}
		}
		return true
	})
}

// eachRun calls same for each run that begins in a segment but the special ones, until it returns
// false.
func (p *prover) eachRun(m *movedRuns, segment int, same func(x runKey, to Address) bool) bool {
	first, end := m.base[segment], int64(len(m.counts))
	if segment+1 < len(m.base) {
		end = m.base[segment+1]
	}
	for i, count := range m.counts[first:end] {
		at := runKey{Address{Segment: uint16(segment), Element: uint16(i)}, uint16(count)}
		if count > 0 && count < inOthers && !same(at, m.moved[first+int64(i)]) {
			return false
		}
	}
	return true
}

// viewRun returns the elements of a short run, of size bytes each.
func viewRun(f *File, segs []segment, r runKey, size int64, scratch []byte) ([]byte, bool) {
	off, err := run(segs, r.addr, int(r.count), size)
	if err != nil {
		return nil, false
	}
	b, err := f.view(off, int(r.count)*int(size), scratch)
	return b, err == nil
}

// sameAttribute reports whether two attributes are equal if the strings are. Both runs are in the
// order of the new names, so equal runs have equal names in the same places.
func (p *prover) sameAttribute(x, y StoredAttribute) bool {
	if x.name == 0 || int(x.name) >= len(p.fNames) || p.fNames[x.name] != y.name || y.name == 0 || x.typeCode != y.typeCode {
		return false
	}
	switch Type(x.typeCode) {
	case String:
		at := x.value()
		_, err := run(p.x.regions.values.data, at, 1, charSize)
		return err == nil && p.hasString(at, y.value())
	case Int:
		return x.extended <= 1 && x.extended == y.extended && x.bits == y.bits
	case Float:
		return x.extended == y.extended && x.bits == y.bits
	}
	return false
}

// children is attributes for the runs of children.
func (p *prover) children(c claims) bool {
	for _, k := range c.runs {
		if !p.specialChildren(p.x.withChildren(k), p.y.withChildren(runKey(p.childRuns.others[k]))) {
			return false
		}
	}
	x, y := p.x.regions.nodes, p.y.regions.nodes
	xSize, ySize := p.x.layout.NodeSize(), p.y.layout.NodeSize()
	var was, is StoredNode
	return p.eachRun(&p.childRuns, c.segment, func(at runKey, to Address) bool {
		xs, xOK := viewRun(p.x, x, at, xSize, p.xRun[:])
		ys, yOK := viewRun(p.y, y, runKey{to, at.count}, ySize, p.yRun[:])
		if !xOK || !yOK {
			return false
		}
		for ; len(xs) > 0; xs, ys = xs[xSize:], ys[ySize:] {
			was.parse(xs, p.x.layout)
			is.parse(ys, p.y.layout)
			if !p.sameNode(&was, &is) {
				return false
			}
		}
		return true
	})
}

// sameNode reports whether two nodes are equal if their runs are.
func (p *prover) sameNode(x, y *StoredNode) bool {
	if x.name == 0 || int(x.name) >= len(p.fNames) || p.fNames[x.name] != y.name || y.name == 0 {
		return false
	}
	if x.flags != y.flags || keyAt(p.fKeys, x.key) != keyAt(p.gKeys, y.key) {
		return false
	}
	if x.attrCount == 0 || y.attrCount == 0 {
		if x.attrCount != y.attrCount {
			return false
		}
	} else if !p.attrRuns.has(runKey{x.attrAddr, x.attrCount}, runKey{y.attrAddr, y.attrCount}) {
		return false
	}
	if x.childCount == 0 || y.childCount == 0 {
		return x.childCount == y.childCount
	}
	return p.childRuns.has(runKey{x.childAddr, x.childCount}, runKey{y.childAddr, y.childCount})
}

// strings reports whether the strings that begin in a segment are what was claimed.
func (p *prover) strings(c claims) bool {
	const low = 1<<placeShift - 1
	m := &p.Moved.strings
	for _, at := range c.strings {
		if !p.sameString(at, p.entries[m.others[at]].addr) {
			return false
		}
	}
	first, end := m.base[c.segment], int64(len(m.first))
	if c.segment+1 < len(m.base) {
		end = m.base[c.segment+1]
	}
	for i, place := range m.first[first:end] {
		at := Address{Segment: uint16(c.segment), Element: uint16(i<<placeShift) | uint16(place&low)}
		if place > placeInOthers && !p.sameString(at, p.entries[place>>placeShift-1].addr) {
			return false
		}
	}
	return true
}

func (p *prover) sameString(x, y Address) bool {
	was, err := p.x.stringUnits(p.x.regions.values.data, x)
	if err != nil {
		return false
	}
	is, err := p.y.stringUnits(p.y.regions.values.data, y)
	return err == nil && bytes.Equal(was, is)
}

// specialChildren compares the children of two nodes, of which the first may have placeholders.
func (p *prover) specialChildren(x, y Node) bool {
	var xErr, yErr error
	p.xNodes, xErr = x.AppendChildren(p.xNodes[:0], 0, x.ChildCount())
	p.yNodes, yErr = y.AppendChildren(p.yNodes[:0], 0, y.ChildCount())
	if xErr != nil || yErr != nil {
		return false
	}
	left := p.yNodes
	for i := range p.xNodes {
		if p.xNodes[i].raw.name == 0 {
			continue
		}
		if len(left) == 0 || !p.sameNode(&p.xNodes[i].raw, &left[0].raw) {
			return false
		}
		left = left[1:]
	}
	return len(left) == 0
}

// withAttributes and withChildren return a node that has nothing but a run.
func (f *File) withAttributes(r runKey) Node {
	return Node{file: f, raw: StoredNode{attrAddr: r.addr, attrCount: r.count}}
}

func (f *File) withChildren(r runKey) Node {
	return Node{file: f, raw: StoredNode{childAddr: r.addr, childCount: r.count}}
}
