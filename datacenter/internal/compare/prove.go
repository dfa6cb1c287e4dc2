package compare

import (
	"bytes"
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/rewrite"
	"lorefs/internal/cores"
)

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
func (c *Comparer) Prove(f, g *datacenter.File, m *rewrite.Moved, told func(part float64)) (bool, error) {
	all := claimsOf(m, f.Form())
	var (
		next, done atomic.Int64
		loading    sync.WaitGroup
	)
	defer loading.Wait()
	group, ctx := errgroup.WithContext(c.ctx)
	for range min(cores.Count(), len(all)) {
		p := &prover{Comparer: c, Moved: m, x: f.Form().ReadAhead(&loading), y: g.Form().ReadAhead(&loading)}
		group.Go(func() error {
			return cores.Take(ctx, &next, len(all), func(i int) error {
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
	// runs are those that MovedRuns keeps in a map, and strings those of movedStrings.
	runs    []form.RunKey
	strings []form.Address
}

// claimsOf returns all claims, in the order of the file.
func claimsOf(m *rewrite.Moved, f *form.File) (list []claims) {
	attrs, nodes := special(f.Regions.Attributes, &m.AttrRuns), special(f.Regions.Nodes, &m.ChildRuns)
	for i, runs := range attrs {
		list = append(list, claims{hold: (*prover).attributes, segment: i, runs: runs})
	}
	for i, runs := range nodes {
		list = append(list, claims{hold: (*prover).children, segment: i, runs: runs})
	}
	values := len(list)
	for i := range f.Regions.Values.Data {
		list = append(list, claims{hold: (*prover).strings, segment: i})
	}
	for at := range m.Strings.Others {
		c := &list[values+int(at.Segment)]
		c.strings = append(c.strings, at)
	}
	return list
}

// special returns the runs of each segment that m keeps in its map.
func special(segs []form.Segment, m *rewrite.MovedRuns) [][]form.RunKey {
	runs := make([][]form.RunKey, len(segs))
	for k := range m.Others {
		runs[k.Addr.Segment] = append(runs[k.Addr.Segment], k)
	}
	return runs
}

// prover proves claims, for one goroutine. It calls no method of the Comparer that changes it.
type prover struct {
	*Comparer
	*rewrite.Moved
	x, y *form.File // the two files, for this goroutine only
	// Others compares runs that are not kept by their places. It is nil until there is one.
	others *Comparer
	// xRun and yRun are copies of runs that straddle two blocks, and xNodes and yNodes are runs
	// with placeholders or many nodes.
	xRun, yRun     [math.MaxUint8 * form.MaxNodeSize]byte
	xNodes, yNodes []form.Node
}

// Attributes reports whether the runs of attributes that begin in a segment are what was claimed.
func (p *prover) attributes(c claims) bool {
	for _, k := range c.runs {
		if p.others == nil {
			p.others = p.beside(p.ctx, p.x, p.y)
		}
		moved := p.AttrRuns.Others[k]
		if k.Count != moved.Count {
			return false
		}
		same, err := p.others.sameRun(k, moved, datacenter.Node{})
		if !same || err != nil {
			return false
		}
	}
	x, y := p.x.Regions.Attributes, p.y.Regions.Attributes
	xSize, ySize := p.x.Layout.AttributeSize(), p.y.Layout.AttributeSize()
	return p.eachRun(&p.AttrRuns, c.segment, func(at form.RunKey, to form.Address) bool {
		xs, xOK := viewRun(p.x, x, at, xSize, p.xRun[:])
		ys, yOK := viewRun(p.y, y, form.RunKey{Addr: to, Count: at.Count}, ySize, p.yRun[:])
		if !xOK || !yOK {
			return false
		}
		for ; len(xs) > 0; xs, ys = xs[xSize:], ys[ySize:] {
			if !p.sameAttribute(form.ParseAttribute(xs), form.ParseAttribute(ys)) {
				return false
			}
		}
		return true
	})
}

// eachRun calls same for each run that begins in a segment but the special ones, until it returns
// false.
func (p *prover) eachRun(m *rewrite.MovedRuns, segment int, same func(x form.RunKey, to form.Address) bool) bool {
	first, end := m.Base[segment], int64(len(m.Counts))
	if segment+1 < len(m.Base) {
		end = m.Base[segment+1]
	}
	for i, count := range m.Counts[first:end] {
		at := form.RunKey{Addr: form.Address{Segment: uint16(segment), Element: uint16(i)}, Count: uint16(count)}
		if count > 0 && count < rewrite.InOthers && !same(at, m.Moved[first+int64(i)]) {
			return false
		}
	}
	return true
}

// viewRun returns the elements of a short run, of size bytes each.
func viewRun(f *form.File, segs []form.Segment, r form.RunKey, size int64, scratch []byte) ([]byte, bool) {
	off, err := form.Run(segs, r.Addr, int(r.Count), size)
	if err != nil {
		return nil, false
	}
	b, err := f.View(off, int(r.Count)*int(size), scratch)
	return b, err == nil
}

// sameAttribute reports whether two attributes are equal if the strings are. Both runs are in the
// order of the new names, so equal runs have equal names in the same places.
func (p *prover) sameAttribute(x, y form.Attribute) bool {
	if x.Name == 0 || int(x.Name) >= len(p.fNames) || p.fNames[x.Name] != y.Name || y.Name == 0 || x.TypeCode != y.TypeCode {
		return false
	}
	switch form.Type(x.TypeCode) {
	case form.String:
		at := x.Value()
		_, err := form.Run(p.x.Regions.Values.Data, at, 1, form.CharSize)
		return err == nil && p.HasString(at, y.Value())
	case form.Int:
		return x.Extended <= 1 && x.Extended == y.Extended && x.Bits == y.Bits
	case form.Float:
		return x.Extended == y.Extended && x.Bits == y.Bits
	}
	return false
}

// children is attributes for the runs of children.
func (p *prover) children(c claims) bool {
	for _, k := range c.runs {
		if !p.specialChildren(k, p.ChildRuns.Others[k]) {
			return false
		}
	}
	x, y := p.x.Regions.Nodes, p.y.Regions.Nodes
	xSize, ySize := p.x.Layout.NodeSize(), p.y.Layout.NodeSize()
	var was, is form.Node
	return p.eachRun(&p.ChildRuns, c.segment, func(at form.RunKey, to form.Address) bool {
		xs, xOK := viewRun(p.x, x, at, xSize, p.xRun[:])
		ys, yOK := viewRun(p.y, y, form.RunKey{Addr: to, Count: at.Count}, ySize, p.yRun[:])
		if !xOK || !yOK {
			return false
		}
		for ; len(xs) > 0; xs, ys = xs[xSize:], ys[ySize:] {
			was.Parse(xs, p.x.Layout)
			is.Parse(ys, p.y.Layout)
			if !p.sameNode(&was, &is) {
				return false
			}
		}
		return true
	})
}

// sameNode reports whether two nodes are equal if their runs are.
func (p *prover) sameNode(x, y *form.Node) bool {
	if x.Name == 0 || int(x.Name) >= len(p.fNames) || p.fNames[x.Name] != y.Name || y.Name == 0 {
		return false
	}
	if x.Flags != y.Flags || keyAt(p.fKeys, x.Key) != keyAt(p.gKeys, y.Key) {
		return false
	}
	if x.AttrCount == 0 || y.AttrCount == 0 {
		if x.AttrCount != y.AttrCount {
			return false
		}
	} else if !p.AttrRuns.Has(form.RunKey{Addr: x.AttrAddr, Count: x.AttrCount}, form.RunKey{Addr: y.AttrAddr, Count: y.AttrCount}) {
		return false
	}
	if x.ChildCount == 0 || y.ChildCount == 0 {
		return x.ChildCount == y.ChildCount
	}
	return p.ChildRuns.Has(form.RunKey{Addr: x.ChildAddr, Count: x.ChildCount}, form.RunKey{Addr: y.ChildAddr, Count: y.ChildCount})
}

// Strings reports whether the strings that begin in a segment are what was claimed.
func (p *prover) strings(c claims) bool {
	const low = 1<<rewrite.PlaceShift - 1
	m := &p.Strings
	for _, at := range c.strings {
		if !p.sameString(at, p.Entries[m.Others[at]].Addr) {
			return false
		}
	}
	first, end := m.Base[c.segment], int64(len(m.First))
	if c.segment+1 < len(m.Base) {
		end = m.Base[c.segment+1]
	}
	for i, place := range m.First[first:end] {
		at := form.Address{Segment: uint16(c.segment), Element: uint16(i<<rewrite.PlaceShift) | uint16(place&low)}
		if place > rewrite.PlaceInOthers && !p.sameString(at, p.Entries[place>>rewrite.PlaceShift-1].Addr) {
			return false
		}
	}
	return true
}

func (p *prover) sameString(x, y form.Address) bool {
	was, err := p.x.StringUnits(p.x.Regions.Values.Data, x)
	if err != nil {
		return false
	}
	is, err := p.y.StringUnits(p.y.Regions.Values.Data, y)
	return err == nil && bytes.Equal(was, is)
}

// specialChildren compares two runs of children, of which the first may have placeholders.
func (p *prover) specialChildren(x, y form.RunKey) bool {
	var xErr, yErr error
	p.xNodes, xErr = p.x.AppendRun(p.xNodes[:0], x)
	p.yNodes, yErr = p.y.AppendRun(p.yNodes[:0], y)
	if xErr != nil || yErr != nil {
		return false
	}
	left := p.yNodes
	for i := range p.xNodes {
		if p.xNodes[i].Name == 0 {
			continue
		}
		if len(left) == 0 || !p.sameNode(&p.xNodes[i], &left[0]) {
			return false
		}
		left = left[1:]
	}
	return len(left) == 0
}
