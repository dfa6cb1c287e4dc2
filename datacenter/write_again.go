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

// StoredText is a string that a Builder has stored. The zero value is none.
type StoredText struct {
	bits     uint32
	extended uint16
	known    bool
}

// Known reports whether t is a string, even an empty one.
func (t StoredText) Known() bool { return t.known }

// SameText adds an attribute with a string that this Builder has stored.
func (b *Builder) SameText(nameIndex uint16, t StoredText) {
	b.attribute(StoredAttribute{name: nameIndex, typeCode: uint8(String), extended: t.extended, bits: t.bits})
}
