package datacenter

import (
	"fmt"
	"math"

	"lorefs/internal/wtf8"
)

// Whoever knows which runs and strings nodes share can store each of these once, instead of passing
// all nodes to Begin and End. Strings, attributes and children can then be stored by a goroutine
// each, since they lie in regions of their own: StoreText, a TextBatch and an AttributeBatch may be used by other
// goroutines than the one that calls the other methods, until Write or Open is called. In each region the file
// has things in the order in which they are stored.

// StoredText is a string that a Builder has stored. The zero value is none.
type StoredText struct {
	bits     uint32
	extended uint16
	known    bool
}

// Known reports whether t is a string, even an empty one.
func (t StoredText) Known() bool { return t.known }

// StoreText stores a string. buf is a buffer, which StoreText may replace.
func (b *Builder) StoreText(v []byte, buf *[]byte) (StoredText, error) {
	*buf = wtf8.AppendUTF16((*buf)[:0], v)
	b.textTurn.Lock()
	defer b.textTurn.Unlock()
	return b.storeUnits(*buf)
}

// TextBatch stores some strings at once, for the same reason as an AttributeBatch. It is for one goroutine.
type TextBatch struct {
	b     *Builder
	units []byte
	texts []encodedText
}

// encodedText is a string that is not stored yet.
type encodedText struct {
	start, end int // in units
	hash       uint32
}

// NewTextBatch returns an empty batch.
func (b *Builder) NewTextBatch() *TextBatch { return &TextBatch{b: b} }

// Add adds a string.
func (t *TextBatch) Add(v []byte) {
	start := len(t.units)
	t.units = wtf8.AppendUTF16(t.units, v)
	t.texts = append(t.texts, encodedText{start, len(t.units), t.b.values.hashOf(t.units[start:])})
}

// Store stores the strings and calls stored with each, in the order in which they were added. Then the batch
// is empty, unless there is an error.
func (t *TextBatch) Store(stored func(i int, text StoredText)) error {
	s := &t.b.values
	t.b.textTurn.Lock()
	defer t.b.textTurn.Unlock()
	for _, e := range t.texts {
		s.found.ask(uint64(e.hash))
	}
	for i, e := range t.texts {
		at, err := s.internHashed(t.units[e.start:e.end], e.hash)
		if err != nil {
			return err
		}
		stored(i, s.storedText(at))
	}
	t.units, t.texts = t.units[:0], t.texts[:0]
	return nil
}

// EndTexts says that no more strings will be stored. What Write and Open do with them is done now, and
// again if strings come nevertheless.
func (b *Builder) EndTexts() {
	b.values.prepareTable() // no string is stored meanwhile, so others may read them
}

func (b *Builder) storeUnits(units []byte) (StoredText, error) {
	i, err := b.values.intern(units)
	if err != nil {
		return StoredText{}, err
	}
	return b.values.storedText(i), nil
}

func (s *stringStore) storedText(i uint32) StoredText {
	r := s.attribute(i)
	return StoredText{bits: r.bits, extended: r.extended, known: true}
}

// NameIndex returns the index of a name, by which attributes are sorted. It must be one that NewBuilder
// was given, __root__ or __value__.
func (b *Builder) NameIndex(name string) uint16 {
	i, ok := b.index[name]
	if !ok {
		b.fail(fmt.Errorf("datacenter: BUG: the name %q was not announced", name))
	}
	return i
}

// NewAttribute returns an attribute, of which a number lacks the bits, and a string the text.
func NewAttribute(nameIndex uint16, t Type) StoredAttribute {
	r := StoredAttribute{name: nameIndex, typeCode: uint8(t)}
	if t == Bool {
		r.typeCode, r.extended = uint8(Int), 1
	}
	return r
}

// SetNumber sets the bits of a value that is no string.
func (r *StoredAttribute) SetNumber(bits uint32) { r.bits = bits }

// SetText sets a string.
func (r *StoredAttribute) SetText(t StoredText) { r.bits, r.extended = t.bits, t.extended }

// AttributeBatch stores some runs of attributes at once: that is faster than one by one, since the
// processor then waits for the places of all of them at once. It is for one goroutine.
type AttributeBatch struct {
	b       *Builder
	encoded []byte
	runs    []encodedRun
}

// encodedRun is a run of attributes that is not stored yet.
type encodedRun struct {
	start, end int // in encoded
	hash       uint64
}

// NewAttributeBatch returns an empty batch.
func (b *Builder) NewAttributeBatch() *AttributeBatch { return &AttributeBatch{b: b} }

// Add adds a run, which it sorts.
func (a *AttributeBatch) Add(run []StoredAttribute) (err error) {
	if len(run) > math.MaxUint16 {
		return fmt.Errorf("datacenter: %d attributes: %w", len(run), ErrTooLarge)
	}
	start := len(a.encoded)
	if a.encoded, err = a.b.encodeAttributes(a.encoded, run); err != nil {
		a.encoded = a.encoded[:start]
		return err
	}
	a.runs = append(a.runs, encodedRun{start, len(a.encoded), a.b.attributes.hashOf(a.encoded[start:])})
	return nil
}

// Store stores the runs and calls stored with the place of each, in the order in which they were added. Then
// the batch is empty, unless there is an error.
func (a *AttributeBatch) Store(stored func(i int, at Address)) error {
	s := &a.b.attributes
	a.b.attributeTurn.Lock()
	defer a.b.attributeTurn.Unlock()
	for _, r := range a.runs {
		s.found.ask(r.hash)
	}
	for i, r := range a.runs {
		at := absent
		if r.start < r.end {
			var err error
			if at, err = s.addHashed(a.encoded[r.start:r.end], r.hash); err != nil {
				return err
			}
		}
		stored(i, at)
	}
	a.encoded, a.runs = a.encoded[:0], a.runs[:0]
	return nil
}

// attributesAt returns the stored attributes from an address on. It remembers where a segment lies,
// because others may be stored meanwhile.
func (b *Builder) attributesAt(addr Address) []byte {
	segment, from := int(addr.Segment), int(addr.Element)*b.attributes.size
	for segment >= len(b.seen) {
		b.seen = append(b.seen, nil)
	}
	if from >= len(b.seen[segment]) {
		b.attributeTurn.Lock()
		b.seen[segment] = b.attributes.segments[segment]
		b.attributeTurn.Unlock()
	}
	return b.seen[segment][from:]
}

// AddKeys adds a key definition, unless there is one like it. They are numbered in this order.
func (b *Builder) AddKeys(keys KeyDefinition) { b.keyOf(b.keyNames(keys)) }

// NewNode returns a node without attributes and children.
func (b *Builder) NewNode(name string, keys KeyDefinition, flags KeyFlags) StoredNode {
	return StoredNode{
		name: b.NameIndex(name), key: b.keyOf(b.keyNames(keys)), flags: uint8(flags & 0xf), attrAddr: absent, childAddr: absent,
	}
}

// SetAttributes gives a node attributes that were stored.
func (n *StoredNode) SetAttributes(at Address, count int) {
	n.attrAddr, n.attrCount = at, uint16(count)
}

// SetChildren gives a node children that were stored.
func (n *StoredNode) SetChildren(at Address, count int) {
	n.childAddr, n.childCount = at, uint16(count)
}

// StoreChildren stores a run of children, which it sorts.
func (b *Builder) StoreChildren(run []StoredNode) (Address, error) {
	if b.err != nil {
		return absent, b.err
	}
	return b.addChildren(run)
}

// AddSheet adds a sheet.
func (b *Builder) AddSheet(n StoredNode) { b.open[0].children = append(b.open[0].children, n) }
