package treepath

import (
	"strconv"

	"lorefs/datacenter"
)

// Path is the path from the root to a node during a walk. Push and Pop cost little: the text
// is made only when it is needed, and only for new levels.
type Path struct {
	names  *Names
	levels []level
	// text is the text of the first built levels.
	text   []byte
	built  int
	shared Shared
}

// level is one node on the path.
type level struct {
	name    uint16
	ordinal int
	end     int // of the path's text up to this level, once it is built
}

// NewPath returns the path of the root. names are the names of its file.
func NewPath(names *Names) *Path { return &Path{names: names} }

// Push goes down to a child with ordinal siblings of its name before it.
func (p *Path) Push(name uint16, ordinal int) {
	p.levels = append(p.levels, level{name: name, ordinal: ordinal})
}

// Pop goes up to the parent.
func (p *Path) Pop() {
	p.levels = p.levels[:len(p.levels)-1]
	p.built = min(p.built, len(p.levels))
}

// Depth returns the number of nodes below the root on the path.
func (p *Path) Depth() int { return len(p.levels) }

// Level returns the name and the ordinal of the node i levels below the root's children.
func (p *Path) Level(i int) (name uint16, ordinal int) {
	return p.levels[i].name, p.levels[i].ordinal
}

// Node returns the path of the current node. The path of the root is empty.
func (p *Path) Node() string { return string(p.build()) }

// Attribute returns the path of an attribute of n, the current node.
func (p *Path) Attribute(n datacenter.Node, name uint16) (string, error) {
	both, err := p.shared.Has(n, name)
	if err != nil {
		return "", err
	}
	b := p.build()
	keep := len(b)
	if keep > 0 {
		b = append(b, '/')
	}
	if both {
		b = append(b, '@')
	}
	b = append(b, p.names.Escaped(name)...)
	p.text = b[:keep]
	return string(b), nil
}

// build makes the text of all levels.
func (p *Path) build() []byte {
	end := 0
	if p.built > 0 {
		end = p.levels[p.built-1].end
	}
	b := p.text[:end]
	for ; p.built < len(p.levels); p.built++ {
		l := &p.levels[p.built]
		if len(b) > 0 {
			b = append(b, '/')
		}
		b = append(b, p.names.Escaped(l.name)...)
		if l.ordinal > 0 {
			b = append(b, '.')
			b = strconv.AppendInt(b, int64(l.ordinal), 10)
		}
		l.end = len(b)
	}
	p.text = b
	return b
}
