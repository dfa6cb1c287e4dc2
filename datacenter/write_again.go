package datacenter

import "fmt"

// StoredRun is a run of attributes or of children that a Builder has stored. The zero value
// is none.
type StoredRun struct {
	addr  Address
	count uint16
	known bool
}

// Known reports whether r is a run, even one without elements.
func (r StoredRun) Known() bool { return r.known }

// SameAttributes gives the open node that was begun last the attributes of a node that this
// Builder has stored. It gets no others.
func (b *Builder) SameAttributes(r StoredRun) {
	n := b.top()
	if len(n.attrs) > 0 || len(b.open) == 1 || !r.known {
		b.fail(fmt.Errorf("datacenter: BUG: a node with some attributes gets those of another"))
	}
	n.sameAttrs = r
}

// SameChildren gives the open node that was begun last the children of a node that this
// Builder has stored. It gets no others.
func (b *Builder) SameChildren(r StoredRun) {
	n := b.top()
	if len(n.children) > 0 || len(b.open) == 1 || !r.known {
		b.fail(fmt.Errorf("datacenter: BUG: a node with some children gets those of another"))
	}
	n.sameChildren = r
}
