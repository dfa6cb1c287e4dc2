package sheets

import (
	"encoding/binary"
	"math"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/internal/cursor"
)

// The saved form of a family, in varints:
//
//	elements: count, ( name, keys, text,
//	                   attributes: count, ( name, type, required )…,
//	                   children:   count, ( name, element, required, repeated )… )…
//	sheets:   ( bytes, found )… as many as the file has
//
// Names and keys are the file's indexes.

// append is the inverse of parseFamily.
func (info *familyInfo) append(b []byte) []byte {
	b = appendUint(b, len(info.elements.all))
	for _, el := range info.elements.all {
		b = el.append(b)
	}
	for _, s := range info.sizes {
		b = appendUint(b, s.bytes)
		b = append(b, byte(s.found))
	}
	return b
}

func (el *element) append(b []byte) []byte {
	b = appendUint(b, el.name)
	b = appendUint(b, el.keys)
	b = appendBool(b, el.text)
	b = appendUint(b, len(el.attrs))
	for _, a := range el.attrs {
		b = appendUint(b, a.name)
		b = append(b, byte(a.typ), byte(a.seen))
	}
	b = appendUint(b, len(el.kids))
	for _, c := range el.kids {
		b = appendUint(b, c.name)
		b = appendUint(b, c.elem.id)
		b = append(b, byte(c.seen))
		b = appendBool(b, c.repeated)
	}
	return b
}

func appendUint[T int | int64 | uint16 | uint32 | vocab.NameID | vocab.KeyID](b []byte, v T) []byte {
	return binary.AppendUvarint(b, uint64(v))
}

func appendBool(b []byte, v bool) []byte { return append(b, byte(required(v))) }

// parseFamily parses the saved form of f. A checksum has shown that it is unchanged, so it
// checks only numbers that would be used as indexes.
func parseFamily(data []byte, f *Family) (*familyInfo, error) {
	c := indexReader{cursor.New(data)}
	info := &familyInfo{
		elements: c.elements(f),
		sizes:    make([]sheetSize, 0, len(f.base)),
	}
	for range f.base {
		info.sizes = append(info.sizes, sheetSize{bytes: int64(c.uint()), found: findings(c.U8())})
	}
	return info, c.End()
}

// indexReader reads the saved form, and checks that numbers are in range.
type indexReader struct{ *cursor.Cursor }

func (c indexReader) uint() uint64 { return c.Uvarint(math.MaxUint64) }

// count reads the number of items that follow, each of at least one byte.
func (c indexReader) count() int {
	n := c.uint()
	if n > uint64(c.Left()) {
		c.Fail("%d items in %d bytes", n, c.Left())
		return 0
	}
	return int(n)
}

// part reads a length and as many bytes.
func (c indexReader) part() []byte { return c.Bytes(c.count()) }

// below reads a number less than limit.
func (c indexReader) below(limit int) int {
	n := c.uint()
	if n >= uint64(limit) {
		c.Fail("%d where less than %d is expected", n, limit)
		return 0
	}
	return int(n)
}

func (c indexReader) elements(f *Family) *elements {
	v := f.src.voc
	es := &elements{strategy: f.src.opts.Strategy}
	for range c.count() {
		es.add(0)
	}
	if len(es.all) == 0 {
		c.Fail("no elements")
		es.add(f.name)
	}
	for _, el := range es.all {
		el.name = vocab.NameID(c.below(len(v.Names)))
		el.keys = vocab.KeyID(c.below(len(v.FileKeys) + 1))
		el.text = c.U8() != 0
		el.visits, el.bodies = 1, 1
		for range c.count() {
			el.attrs = append(el.attrs, elementAttribute{
				name: vocab.NameID(c.below(len(v.Names))), typ: datacenter.Type(c.U8()), seen: uint32(c.U8()),
			})
		}
		for range c.count() {
			el.kids = append(el.kids, elementChild{
				name: vocab.NameID(c.below(len(v.Names))), elem: es.all[c.below(len(es.all))],
				seen: uint32(c.U8()), repeated: c.U8() != 0,
			})
		}
	}
	es.shareBeyondLimit()
	return es
}
