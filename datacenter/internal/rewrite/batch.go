package rewrite

import (
	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
)

// movedAtOnce is how many siblings' attributes are moved at once.
const movedAtOnce = 32

// askedAtOnce is how many bytes of their strings are read to ask for the places of these, with the NULs.
// Siblings of a real file have a few KiB. Some could be made that have one string a million times, be
// it long or empty.
const askedAtOnce = 64 << 10

// pendingRun is a run of attributes in the form of the new file, which is not stored yet.
type pendingRun struct {
	was        form.RunKey
	start, end int // in Rewriter.encoded
	hash       uint64
}

// askedString is a string of the file that is read.
type askedString struct {
	addr  form.Address
	units []byte
	hash  uint32 // the one by which the new file's table finds it
}

// batch returns how many of some siblings can have their attributes moved before anything else is:
// those up to the first with children that are not moved, itself included.
func (r *Rewriter) batch(siblings []datacenter.Node) int {
	for i := range min(len(siblings), movedAtOnce) {
		n := siblings[i].Form()
		if n.Name == 0 || n.ChildCount == 0 {
			continue
		}
		if _, ok := r.childRuns.get(form.RunKey{Addr: n.ChildAddr, Count: n.ChildCount}); !ok {
			return i + 1
		}
	}
	return min(len(siblings), movedAtOnce)
}

// moveAttributes moves the attributes of siblings, in the same order as one by one. That is faster,
// because the tables of the new file are much larger than the processor's cache: the places that
// are looked at next are all asked for at once, so that it waits for them together.
//
// It leaves out what can't be moved, so that moving the node reports the error.
func (r *Rewriter) moveAttributes(siblings []datacenter.Node) {
	r.askForStrings(siblings)
	r.pending, r.encoded = r.pending[:0], r.encoded[:0]
	for _, n := range siblings {
		if !r.hasNewAttributes(n) {
			continue
		}
		var err error
		if r.attrs, err = r.attributes(n, r.attrs[:0]); err != nil {
			break
		}
		start := len(r.encoded)
		if r.encoded, err = r.b.EncodeAttributes(r.encoded, r.attrs); err != nil {
			break
		}
		hash := r.b.Attributes.HashOf(r.encoded[start:])
		r.pending = append(r.pending, pendingRun{n.Form().AttrRun(), start, len(r.encoded), hash})
	}
	for i := range r.pending {
		r.b.Attributes.Found.Ask(r.pending[i].hash)
	}
	for _, p := range r.pending {
		if _, ok := r.attrRuns.get(p.was); ok {
			continue // two of the siblings share it
		}
		addr, err := r.b.Attributes.AddHashed(r.encoded[p.start:p.end], p.hash)
		if err != nil {
			return
		}
		r.attrRuns.put(p.was, form.RunKey{Addr: addr, Count: p.was.Count})
	}
}

// hasNewAttributes reports whether a node has attributes that are not moved yet.
func (r *Rewriter) hasNewAttributes(n datacenter.Node) bool {
	if n.Form().Name == 0 || n.Form().AttrCount == 0 { // a placeholder's run means nothing
		return false
	}
	_, ok := r.attrRuns.get(n.Form().AttrRun())
	return !ok
}

// askForStrings asks for the places of the first strings that are not moved yet.
func (r *Rewriter) askForStrings(siblings []datacenter.Node) {
	values := r.f.Regions.Values.Data
	size := int(r.f.Layout.AttributeSize())
	r.asked, r.nextAsked = r.asked[:0], 0
	left := askedAtOnce
	for _, n := range siblings {
		if left <= 0 {
			break
		}
		if !r.hasNewAttributes(n) {
			continue
		}
		off, err := form.Run(r.f.Regions.Attributes, n.Form().AttrAddr, int(n.Form().AttrCount), int64(size))
		if err != nil {
			return
		}
		var scratch [form.MaxAttributeSize]byte
		b, err := r.f.Elements(off, int(n.Form().AttrCount), size, scratch[:])
		if err != nil {
			return
		}
		for ; len(b) >= size && left > 0; b = b[size:] {
			a := form.ParseAttribute(b)
			if form.Type(a.TypeCode) != form.String {
				continue
			}
			if _, err := form.Run(values, a.Value(), 1, form.CharSize); err != nil {
				return
			}
			if _, ok := r.strings.get(a.Value()); ok {
				continue
			}
			units, err := r.f.StringUnits(values, a.Value())
			if err != nil {
				return
			}
			r.asked = append(r.asked, askedString{a.Value(), units, r.b.Values.HashOf(units)})
			left -= len(units) + form.CharSize
		}
	}
	for i := range r.asked {
		r.b.Values.Found.Ask(uint64(r.asked[i].hash))
	}
}

// readString returns the string at addr. Strings that were asked for come in that order, so it looks for
// them only once: those before the one that it finds are moved already.
func (r *Rewriter) readString(addr form.Address) (askedString, error) {
	for r.nextAsked < len(r.asked) {
		r.nextAsked++
		if s := r.asked[r.nextAsked-1]; s.addr == addr {
			return s, nil
		}
	}
	units, err := r.f.StringUnits(r.f.Regions.Values.Data, addr)
	if err != nil {
		return askedString{}, err
	}
	return askedString{addr, units, r.b.Values.HashOf(units)}, nil
}
