package dcsave

import (
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
)

// NetOf returns the net edits of a journal as far as its notes say, in the order in which they were
// begun: as [edit.Snapshot.Changes], but a change whose old value is not known counts. Each has the
// place and the old value of the first edit of its kind, and the new value of the last.
func NetOf(all func(visit func(*Edited) error) error) ([]Net, error) {
	n := netReader{nodes: map[edit.Number]*netNode{}}
	err := all(func(e *Edited) error {
		n.take(e)
		return nil
	})
	return n.net(), err
}

// Net is a net edit.
type Net struct {
	Kind edit.ChangeKind
	*Edited
}

// countNet counts the net edits of a journal. It is exact if notes describe all nodes: what is not
// known to have been undone counts. But they do not say whether a node that was moved has passed
// another one.
func countNet(all unsaved) (count int, exact bool) {
	r, _ := readJournal(all) // as far as it can be read
	n := netReader{nodes: map[edit.Number]*netNode{}}
	unknown := map[setPart]bool{}    // parts of which the first edit changed what is not known
	isOpen, hasMoved := false, false // something is not known, something was added, moved or removed
	exact = !r.unsure
	for _, e := range r.list {
		n.take(e)
		p := setPart{e.Node, e.Op, e.Name}
		switch e.Op {
		case edit.RemoveAttribute:
			p.op = edit.SetAttribute
		case edit.AddNode, edit.MoveNode, edit.RemoveNode:
			hasMoved = true
		}
		isOpen = isOpen || !e.Known || e.On.Base != nil && e.On.Base.Sketch // the path may be another node's
		exact = exact && !unknown[p]                                        // the first one has changed it, another one may have taken that back
		unknown[p] = !e.Known
	}
	if isOpen && hasMoved && len(r.list) > 1 {
		exact = false
	}
	net := n.net()
	for i := range net {
		exact = exact && net[i].Kind != edit.NodeMoved
	}
	return len(net), exact
}

// setPart is a part of a node that an edit set.
type setPart struct {
	node edit.Number
	op   edit.Op
	name string
}

// netReader makes net edits of the edits of a journal.
type netReader struct {
	nodes map[edit.Number]*netNode
	order []*netNode
	// left has the nodes that are not where the file has them, by their paths.
	left map[string]edit.Number
}

// netNode is an edited node.
type netNode struct {
	number edit.Number
	base   *Before
	// made says that an edit added it. place is the last edit that put it somewhere, and gone the
	// one that removed it.
	made        bool
	place, gone *Edited
	parts       map[part]*Edited
	order       []part
}

// part is an attribute of a node, or its keys or its flags.
type part struct {
	kind edit.ChangeKind
	name string
}

func (r *netReader) take(e *Edited) {
	n := r.nodes[e.Node]
	if n == nil {
		n = &netNode{number: e.Node, parts: map[part]*Edited{}}
		r.nodes[e.Node] = n
		r.order = append(r.order, n)
	}
	if base := baseOf(&e.On); n.base == nil {
		n.base = base
	}
	switch e.Op {
	case edit.AddNode:
		n.made, n.place, n.base = true, e, nil
	case edit.MoveNode:
		n.place = e
	case edit.RemoveNode:
		n.gone = e
	case edit.SetKeys:
		n.part(part{kind: edit.KeysSet}, e)
	case edit.SetFlags:
		n.part(part{kind: edit.FlagsSet}, e)
	default:
		n.part(part{edit.AttributeSet, e.Name}, e)
	}
}

// part adds an edit of a part of a node.
func (n *netNode) part(p part, e *Edited) {
	if was := n.parts[p]; was != nil {
		was.Op, was.Value, was.Keys, was.Flags = e.Op, e.Value, e.Keys, e.Flags
		return
	}
	first := *e
	n.parts[p] = &first
	n.order = append(n.order, p)
}

func (r *netReader) net() (net []Net) {
	r.left = map[string]edit.Number{}
	for _, n := range r.order {
		if n.left() != nil && n.base != nil && n.base.Path != "" && !n.base.Sketch {
			r.left[n.base.Path] = n.number
		}
	}
	for _, n := range r.order {
		switch alive := r.isAlive(n.number); {
		case n.made:
			if into := r.nodes[n.place.Parent]; alive && (into == nil || !into.made) {
				net = append(net, Net{edit.NodeMade, n.place})
			}
		case !alive:
			if e := n.left(); e != nil && (n.base == nil || r.isAlive(r.above(n.base))) {
				net = append(net, Net{edit.NodeGone, e})
			}
		default:
			if n.place != nil && n.isMoved() {
				net = append(net, Net{edit.NodeMoved, n.place})
			}
			net = append(net, n.changes()...)
		}
	}
	return net
}

// left returns the edit after which the node was not where the file has it, nil if it is gone with
// a node above.
func (n *netNode) left() *Edited {
	if n.gone != nil {
		return n.gone
	}
	return n.place
}

// isAlive reports whether a node is there. A node of which nothing is known is.
func (r *netReader) isAlive(number edit.Number) bool {
	for range datacenter.MaxDepth + 1 { // a malicious journal may have cycles
		n := r.nodes[number]
		switch {
		case n == nil || number == 0:
			return true
		case n.gone != nil:
			return false
		case n.place != nil:
			number = n.place.Parent
			if into := baseOf(&n.place.Into); into != nil && r.nodes[number] == nil {
				number = r.above(into)
			}
		case n.base != nil:
			number = r.above(n.base)
		default:
			return true
		}
	}
	return false
}

// above returns the edited node that the file has above a node: its parent, or another one that is
// not where the file has it. It is 0 if none is known.
func (r *netReader) above(b *Before) edit.Number {
	if r.nodes[b.Parent] != nil {
		return b.Parent
	}
	if b.Sketch {
		return 0 // the path may be that of a node somewhere else
	}
	for i := len(b.Path) - 1; i > 0; i-- {
		if b.Path[i] == '/' {
			if n, ok := r.left[b.Path[:i]]; ok {
				return n
			}
		}
	}
	return 0
}

// isMoved reports whether the place of a node is another one than in the file: not only another
// rank between the same siblings.
func (n *netNode) isMoved() bool {
	b, e := n.base, n.place
	if b == nil || e.Parent != b.Parent || e.Name != b.Name {
		return true
	}
	before, after := uint64(b.Place)*edit.RankGap, uint64(b.Place+2)*edit.RankGap
	return e.Rank <= before && b.Place > 0 || e.Rank >= after && !b.Last
}

// changes returns the net edits of the parts of a node.
func (n *netNode) changes() (net []Net) {
	for _, p := range n.order {
		e, kind := n.parts[p], p.kind
		var same bool
		switch kind {
		case edit.KeysSet:
			same = e.OldKeys.String() == e.Keys.String()
		case edit.FlagsSet:
			same = e.OldFlags == e.Flags
		default:
			if same = e.Old == e.Value; e.Value.Type() == 0 {
				kind = edit.AttributeGone
			}
		}
		if !same || !e.Known {
			net = append(net, Net{kind, e})
		}
	}
	return net
}
