package write

import (
	"fmt"
	"math"

	"lorefs/datacenter/internal/form"
	"lorefs/internal/wtf8"
)

// Whoever knows which runs and strings nodes share can store each of these once, instead of passing
// all nodes to Begin and End. Strings, attributes and children lie in regions of their own, and in each the file
// has things in the order in which they are stored.

// StoredText is a string that a Store has stored. The zero value is none.
type StoredText struct {
	bits     uint32
	extended uint16
	known    bool
}

// Known reports whether t is a string, even an empty one.
func (t StoredText) Known() bool { return t.known }

// SetText stores a string, v as WTF-8, and gives it to an attribute.
func (b *Store) SetText(r *form.Attribute, v string) {
	if b.err != nil {
		return // it may be that there is no such name
	}
	b.run = wtf8.AppendUTF16(b.run[:0], v)
	t, err := b.storeUnits(b.run)
	if err != nil {
		b.Fail(fmt.Errorf("%s: %w", b.names[r.Name-1], err))
		return
	}
	t.Set(r)
}

// Set gives a string attribute the text.
func (t StoredText) Set(r *form.Attribute) { r.Bits, r.Extended = t.bits, t.extended }

// StoreText stores a string. buf is a buffer, which StoreText may replace.
func (b *Store) StoreText(v []byte, buf *[]byte) (StoredText, error) {
	*buf = wtf8.AppendUTF16((*buf)[:0], v)
	return b.storeUnits(*buf)
}

// TextBatch stores some strings at once, for the same reason as an AttributeBatch.
type TextBatch struct {
	b     *Store
	units []byte
	texts []encodedText
}

// encodedText is a string that is not stored yet.
type encodedText struct {
	start, end int // in units
	hash       uint32
}

// NewTextBatch returns an empty batch.
func (b *Store) NewTextBatch() *TextBatch { return &TextBatch{b: b} }

// Add adds a string.
func (t *TextBatch) Add(v []byte) {
	start := len(t.units)
	t.units = wtf8.AppendUTF16(t.units, v)
	t.texts = append(t.texts, encodedText{start, len(t.units), t.b.Values.HashOf(t.units[start:])})
}

// Store stores the strings and calls stored with each, in the order in which they were added. Then the batch
// is empty, unless there is an error.
func (t *TextBatch) Store(stored func(i int, text StoredText)) error {
	s := &t.b.Values
	for _, e := range t.texts {
		s.Found.Ask(uint64(e.hash))
	}
	for i, e := range t.texts {
		at, err := s.InternHashed(t.units[e.start:e.end], e.hash)
		if err != nil {
			return err
		}
		stored(i, s.storedText(at))
	}
	t.units, t.texts = t.units[:0], t.texts[:0]
	return nil
}

func (b *Store) storeUnits(units []byte) (StoredText, error) {
	i, err := b.Values.Intern(units)
	if err != nil {
		return StoredText{}, err
	}
	return b.Values.storedText(i), nil
}

func (s *stringStore) storedText(i uint32) StoredText {
	r := s.Attribute(i)
	return StoredText{bits: r.Bits, extended: r.Extended, known: true}
}

// NameIndex returns the index of a name, by which attributes are sorted. It must be one that NewBuilder
// was given, __root__ or __value__.
func (b *Store) NameIndex(name string) uint16 {
	i, ok := b.index[name]
	if !ok {
		b.Fail(fmt.Errorf("datacenter: BUG: the name %q was not announced", name))
	}
	return i
}

// AttributeBatch stores some runs of attributes at once: that is faster than one by one, since the
// processor then waits for the places of all of them at once.
type AttributeBatch struct {
	b       *Store
	encoded []byte
	runs    []encodedRun
}

// encodedRun is a run of attributes that is not stored yet.
type encodedRun struct {
	start, end int // in encoded
	hash       uint64
}

// NewAttributeBatch returns an empty batch.
func (b *Store) NewAttributeBatch() *AttributeBatch { return &AttributeBatch{b: b} }

// Add adds a run, which it sorts.
func (a *AttributeBatch) Add(run []form.Attribute) (err error) {
	if len(run) > math.MaxUint16 {
		return fmt.Errorf("datacenter: %d attributes: %w", len(run), form.ErrTooLarge)
	}
	start := len(a.encoded)
	if a.encoded, err = a.b.EncodeAttributes(a.encoded, run); err != nil {
		a.encoded = a.encoded[:start]
		return err
	}
	a.runs = append(a.runs, encodedRun{start, len(a.encoded), a.b.Attributes.HashOf(a.encoded[start:])})
	return nil
}

// Store stores the runs and calls stored with the place of each, in the order in which they were added. Then
// the batch is empty, unless there is an error.
func (a *AttributeBatch) Store(stored func(i int, at form.Address)) error {
	s := &a.b.Attributes
	for _, r := range a.runs {
		s.Found.Ask(r.hash)
	}
	for i, r := range a.runs {
		at := form.Absent
		if r.start < r.end {
			var err error
			if at, err = s.AddHashed(a.encoded[r.start:r.end], r.hash); err != nil {
				return err
			}
		}
		stored(i, at)
	}
	a.encoded, a.runs = a.encoded[:0], a.runs[:0]
	return nil
}

// AddKeys adds a key definition, unless there is one like it. They are numbered in this order.
func (b *Store) AddKeys(keys form.KeyDefinition) { b.KeyOf(b.keyNames(keys)) }

// NewNode returns a node without attributes and children.
func (b *Store) NewNode(name string, keys form.KeyDefinition, flags form.KeyFlags) form.Node {
	return form.Node{
		Name: b.NameIndex(name), Key: b.KeyOf(b.keyNames(keys)), Flags: uint8(flags & 0xf), AttrAddr: form.Absent, ChildAddr: form.Absent,
	}
}

// StoreChildren stores a run of children, which it sorts.
func (b *Store) StoreChildren(run []form.Node) (form.Address, error) {
	if b.err != nil {
		return form.Absent, b.err
	}
	return b.AddChildren(run)
}
