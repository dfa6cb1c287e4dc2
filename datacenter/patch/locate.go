package patch

import (
	"fmt"

	"lorefs/datacenter/query"
)

// located holds the nodes that a path of a patch leads to.
type located struct {
	found
	// parents are those of the nodes.
	parents []node
	// renamed tells that the path was not found, but one with the values that the patch gives:
	// such a node may be another one, unless it is as the patch makes it.
	renamed bool
	// reason tells why it is not known which node is meant.
	reason string
}

// locate follows a path. Several nodes are left to who asks.
func (r *resolver) locate(b *Block) (l located, err error) {
	if err := r.view.ctx.Err(); err != nil {
		return l, err
	}
	if l.found, err = r.root(); err != nil {
		return l, err
	}
	renamed := false
	for i := range b.Path.Steps {
		if l, err = r.locateStep(l.found, b.Path.Steps, i, b.contextOf(i)); err != nil || len(l.nodes) == 0 {
			return l, err
		}
		renamed = renamed || l.renamed
		l.renamed = renamed
	}
	return l, nil
}

// locateStep follows one step of a path.
func (r *resolver) locateStep(at found, steps []query.PlainStep, i int, c *Context) (l located, err error) {
	s := steps[i]
	g, rows, err := r.step(at, &s)
	if err != nil {
		return l, err
	}
	if len(rows) == 0 {
		if other, ok := r.renamed[string(query.AppendPlain(nil, steps[:i+1]))]; ok {
			s, l.renamed = other, true
			if g, rows, err = r.step(at, &s); err != nil {
				return l, err
			}
		}
	}
	l.key = at.key + "/" + bareStep(&s)
	if n := placeOf(&s); n > 0 {
		if s.Nth > 0 && len(at.nodes) > 1 {
			l.reason = fmt.Sprintf("%s is a place below %d nodes", s.Append(nil), len(at.nodes))
			return l, nil
		}
		if rows, l.reason, err = r.place(g, &s, rows, n, c); err != nil || len(rows) == 0 {
			return l, err
		}
		l.key += fmt.Sprintf("#%d", rows[0].node.number)
	} else if c != nil && !l.renamed {
		if l.reason, err = r.doubt(c, g, &s, rows); err != nil || l.reason != "" {
			return l, err
		}
	}
	for _, w := range rows {
		l.nodes = append(l.nodes, w.node)
		l.parents = append(l.parents, g.parents[w.parent])
		r.above[w.node.number] = g.parents[w.parent].number
	}
	return l, nil
}
