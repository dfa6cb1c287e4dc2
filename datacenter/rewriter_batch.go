package datacenter

// movedAtOnce is how many siblings' attributes are moved at once.
const movedAtOnce = 32

// askedAtOnce is how many bytes of their strings are read to ask for the places of these, with the NULs.
// Siblings of a real file have a few KiB. Some could be made that have one string a million times, be
// it long or empty.
const askedAtOnce = 64 << 10

// pendingRun is a run of attributes in the form of the new file, which is not stored yet.
type pendingRun struct {
	was        runKey
	start, end int // in Rewriter.encoded
	hash       uint64
}

// askedString is a string of the file that is read.
type askedString struct {
	addr  Address
	units []byte
	hash  uint32 // the one by which the new file's table finds it
}

// batch returns how many of some siblings can have their attributes moved before anything else is:
// those up to the first with children that are not moved, itself included.
func (r *Rewriter) batch(siblings []Node) int {
	for i := range min(len(siblings), movedAtOnce) {
		n := &siblings[i].raw
		if n.name == 0 || n.childCount == 0 {
			continue
		}
		if _, ok := r.childRuns.get(runKey{n.childAddr, n.childCount}); !ok {
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
func (r *Rewriter) moveAttributes(siblings []Node) {
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
		if r.encoded, err = r.b.encodeAttributes(r.encoded, r.attrs); err != nil {
			break
		}
		hash := r.b.attributes.hashOf(r.encoded[start:])
		r.pending = append(r.pending, pendingRun{n.attrRun(), start, len(r.encoded), hash})
	}
	for i := range r.pending {
		r.b.attributes.found.ask(r.pending[i].hash)
	}
	for _, p := range r.pending {
		if _, ok := r.attrRuns.get(p.was); ok {
			continue // two of the siblings share it
		}
		addr, err := r.b.attributes.addHashed(r.encoded[p.start:p.end], p.hash)
		if err != nil {
			return
		}
		r.attrRuns.put(p.was, movedRun{addr, p.was.count})
	}
}

// hasNewAttributes reports whether a node has attributes that are not moved yet.
func (r *Rewriter) hasNewAttributes(n Node) bool {
	if n.raw.name == 0 || n.raw.attrCount == 0 { // a placeholder's run means nothing
		return false
	}
	_, ok := r.attrRuns.get(n.attrRun())
	return !ok
}

// askForStrings asks for the places of the first strings that are not moved yet.
func (r *Rewriter) askForStrings(siblings []Node) {
	values := r.f.regions.values.data
	size := int(r.f.layout.AttributeSize())
	r.asked, r.nextAsked = r.asked[:0], 0
	left := askedAtOnce
	for _, n := range siblings {
		if left <= 0 {
			break
		}
		if !r.hasNewAttributes(n) {
			continue
		}
		off, err := run(r.f.regions.attributes, n.raw.attrAddr, int(n.raw.attrCount), int64(size))
		if err != nil {
			return
		}
		var scratch [maxAttributeSize]byte
		b, err := r.f.elements(off, int(n.raw.attrCount), size, scratch[:])
		if err != nil {
			return
		}
		for ; len(b) >= size && left > 0; b = b[size:] {
			a := parseAttribute(b)
			if Type(a.typeCode) != String {
				continue
			}
			if _, err := run(values, a.value(), 1, charSize); err != nil {
				return
			}
			if _, ok := r.strings.get(a.value()); ok {
				continue
			}
			units, err := r.f.stringUnits(values, a.value())
			if err != nil {
				return
			}
			r.asked = append(r.asked, askedString{a.value(), units, r.b.values.hashOf(units)})
			left -= len(units) + charSize
		}
	}
	for i := range r.asked {
		r.b.values.found.ask(uint64(r.asked[i].hash))
	}
}

// readString returns the string at addr. Strings that were asked for come in that order, so it looks for
// them only once: those before the one that it finds are moved already.
func (r *Rewriter) readString(addr Address) (askedString, error) {
	for r.nextAsked < len(r.asked) {
		r.nextAsked++
		if s := r.asked[r.nextAsked-1]; s.addr == addr {
			return s, nil
		}
	}
	units, err := r.f.stringUnits(r.f.regions.values.data, addr)
	if err != nil {
		return askedString{}, err
	}
	return askedString{addr, units, r.b.values.hashOf(units)}, nil
}
