package datacenter

import (
	"fmt"

	"lorefs/internal/wtf8"
)

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

// StoreText stores a string, for SameText. Another goroutine may call it than the one that calls the other
// methods, until Write is called, if that one adds no strings but with SameText. The file has the strings in
// the order in which they are stored. buf is a buffer, which StoreText may replace.
func (b *Builder) StoreText(v []byte, buf *[]byte) (StoredText, error) {
	*buf = wtf8.AppendUTF16((*buf)[:0], v)
	b.textTurn.Lock()
	defer b.textTurn.Unlock()
	return b.storeUnits(*buf)
}

// EndTexts says that StoreText will not be called again. What Write does with the strings is done now, and
// again if strings come nevertheless.
func (b *Builder) EndTexts() {
	b.values.prepareTable() // no string is stored meanwhile, so others may read them
}

func (b *Builder) storeUnits(units []byte) (StoredText, error) {
	i, err := b.values.intern(units)
	if err != nil {
		return StoredText{}, err
	}
	r := b.values.attribute(i)
	return StoredText{bits: r.bits, extended: r.extended, known: true}, nil
}

// SameText adds an attribute with a string that this Builder has stored.
func (b *Builder) SameText(nameIndex uint16, t StoredText) {
	b.attribute(StoredAttribute{name: nameIndex, typeCode: uint8(String), extended: t.extended, bits: t.bits})
}
