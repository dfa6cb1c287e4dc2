package datacenter

import (
	"context"
	"fmt"
)

// repacker moves stored runs from a file to a Builder, each once.
type repacker struct {
	ctx context.Context
	f   *File // the same file, for this goroutine only
	b   *Builder

	names []uint16 // new name indexes by old ones
	keys  []uint16 // new key indexes by old ones
	// What has been moved, by its place in the file.
	strings   movedStrings
	attrRuns  movedRuns
	childRuns movedRuns

	attrs  []rawAttribute // scratch
	levels [][]rawNode    // scratch, one for each depth
}

func newRepacker(ctx context.Context, f *File, b *Builder) *repacker {
	r := &repacker{
		ctx: ctx, f: f.forOne(&b.loading), b: b,
		names:    make([]uint16, len(f.names)+1),
		strings:  newMovedStrings(f.regions.values.data),
		attrRuns: newMovedRuns(f.regions.attributes), childRuns: newMovedRuns(f.regions.nodes),
	}
	b.reserve(f.counts)
	for i, name := range f.names {
		r.names[i+1] = b.name(name)
	}
	for _, k := range f.keys {
		for i, n := range k {
			k[i] = r.names[n] // NewDraft has looked whether there is such a name
		}
		r.keys = append(r.keys, b.keyOf(k))
	}
	return r
}

// keyOf is the new key index of a node; one that does not exist becomes empty.
func (r *repacker) keyOf(n Node) uint16 {
	if int(n.raw.key) < len(r.keys) {
		return r.keys[n.raw.key]
	}
	return 0
}

// node moves a node's runs, and gives the node as it is stored then.
func (r *repacker) node(n Node, depth int) (rawNode, error) {
	n.file = r.f
	raw := rawNode{name: r.names[n.raw.name], flags: n.raw.flags, attrAddr: absent, childAddr: absent}
	raw.key = r.keyOf(n)
	var err error
	if raw.attrCount = n.raw.attrCount; raw.attrCount > 0 {
		if raw.attrAddr, err = r.attrRun(n); err != nil {
			return raw, err
		}
	}
	if n.raw.childCount > 0 {
		var moved movedRun
		moved, err = r.childRun(n, depth)
		raw.childAddr, raw.childCount = moved.addr, moved.count
	}
	return raw, err
}

func (r *repacker) attrRun(n Node) (Address, error) {
	k := runKey{n.raw.attrAddr, n.raw.attrCount}
	if moved, ok := r.attrRuns.get(k); ok {
		return moved.addr, nil
	}
	var err error
	if r.attrs, err = r.attributes(n, r.attrs[:0]); err != nil {
		return absent, err
	}
	addr, err := r.b.addAttributes(r.attrs)
	if err == nil {
		r.attrRuns.put(k, movedRun{addr, k.count})
	}
	return addr, err
}

// attributes appends the attributes of n as they are stored then.
func (r *repacker) attributes(n Node, dst []rawAttribute) ([]rawAttribute, error) {
	if run, ok := r.plainRun(n, dst); ok {
		return run, nil
	}
	for a, err := range n.Attributes() {
		if err != nil {
			return dst, err
		}
		raw := a.raw()
		if a.typ == String {
			if raw, err = r.string(a); err != nil {
				return dst, err
			}
		}
		raw.name = r.names[a.name]
		dst = append(dst, raw)
	}
	return dst, nil
}

// plainRun is attributes for nearly all runs: they lie in one block, their names
// ascend, and nothing is wrong with them. Of another run nothing is appended, so
// that what else there can be, and each error, is in one place.
func (r *repacker) plainRun(n Node, dst []rawAttribute) ([]rawAttribute, bool) {
	size, count := int(r.f.layout.AttributeSize()), int(n.raw.attrCount)
	if count == 0 {
		return dst, true
	}
	off, err := run(r.f.regions.attributes, n.raw.attrAddr, count, int64(size))
	if err != nil {
		return dst, false
	}
	var scratch [maxAttributeSize]byte
	b, err := r.f.elements(off, count, size, scratch[:])
	if err != nil || len(b) < count*size {
		return dst, false
	}
	moved := dst
	prev := uint16(0)
	for ; len(b) >= size; b = b[size:] {
		raw := parseAttribute(b)
		ok := raw.name > prev && int(raw.name) < len(r.names)
		prev = raw.name
		if ok {
			raw, ok = r.plain(raw)
		}
		if !ok {
			return dst, false
		}
		raw.name = r.names[prev]
		moved = append(moved, raw)
	}
	return moved, true
}

// plain is an attribute as it is stored then, but for its name. It is not ok if
// something is wrong with it.
func (r *repacker) plain(raw rawAttribute) (rawAttribute, bool) {
	switch Type(raw.typeCode) {
	case String:
		moved, err := r.value(raw.value())
		return moved, err == nil
	case Int: // and Bool
		return raw, raw.extended <= 1 && raw.name != r.f.valueName
	case Float:
		raw.extended = 0 // means nothing
		return raw, raw.name != r.f.valueName
	}
	return raw, false
}

// string moves a string, and gives an attribute that refers to it.
func (r *repacker) string(a Attribute) (rawAttribute, error) {
	raw, err := r.value(a.StringAddress())
	if err != nil {
		return raw, a.bad("%w", err)
	}
	return raw, nil
}

// value moves the string at addr.
func (r *repacker) value(addr Address) (rawAttribute, error) {
	values := r.f.regions.values.data
	if _, err := run(values, addr, 1, charSize); err != nil {
		return rawAttribute{}, fmt.Errorf("string: %w", err)
	}
	if i, ok := r.strings.get(addr); ok {
		return r.b.values.attribute(i), nil
	}
	units, err := r.f.stringUnits(values, addr)
	if err != nil {
		return rawAttribute{}, err
	}
	i, err := r.b.values.intern(units)
	if err != nil {
		return rawAttribute{}, err
	}
	r.strings.put(addr, i)
	return r.b.values.attribute(i), nil
}

func (r *repacker) childRun(n Node, depth int) (movedRun, error) {
	k := runKey{n.raw.childAddr, n.raw.childCount}
	if moved, ok := r.childRuns.get(k); ok {
		return moved, nil
	}
	if err := r.ctx.Err(); err != nil {
		return movedRun{}, err
	}
	if depth == len(r.levels) {
		r.levels = append(r.levels, nil)
	}
	run, err := r.children(n, r.levels[depth][:0], depth+1)
	if err != nil {
		return movedRun{}, err
	}
	r.levels[depth] = run
	addr, err := r.b.addChildren(run)
	if err != nil {
		return movedRun{}, err
	}
	moved := movedRun{addr, uint16(len(run))}
	r.childRuns.put(k, moved)
	return moved, nil
}

// children appends the children of n as they are stored then.
func (r *repacker) children(n Node, dst []rawNode, depth int) ([]rawNode, error) {
	for c, err := range n.Children() {
		if err != nil {
			return dst, err
		}
		raw, err := r.node(c, depth)
		if err != nil {
			return dst, err
		}
		dst = append(dst, raw)
	}
	return dst, nil
}
