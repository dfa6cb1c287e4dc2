package db2

import (
	"bytes"

	"lorefs/internal/cursor"
)

// numbers returns a cursor behind the magic.
func (t *Table) numbers() *cursor.Cursor {
	c := cursor.New(t.data)
	c.Bytes(magicSize)
	return c
}

// body returns the cut behind the numbers that a cursor has read.
func (t *Table) body(c *cursor.Cursor) *cut {
	return &cut{t: t, at: uint64(c.Off()), err: t.name.Ends(c, 0)}
}

// counts reads the four numbers that all formats begin with.
func (t *Table) counts(c *cursor.Cursor) {
	t.Records, t.Fields, t.RecordSize, t.strings = c.LE32(), c.LE32(), c.LE32(), c.LE32()
}

// ids reads the least and the greatest ID, and the language.
func (t *Table) ids(c *cursor.Cursor) {
	t.MinID, t.MaxID, t.Locale = int32(c.LE32()), int32(c.LE32()), c.LE32()
}

// layoutHead reads the numbers that the heads of WDB5, WDB6 and WDC1 begin with, and returns the size of
// the copies.
func (t *Table) layoutHead(c *cursor.Cursor) (copies uint32) {
	t.counts(c)
	t.Table, t.Layout = c.LE32(), c.LE32()
	t.ids(c)
	copies = c.LE32()
	t.flags, t.idIndex = c.LE16(), c.LE16()
	return copies
}

// only makes the table's only section, of the records and the strings that come next.
func (t *Table) only(c *cut) *section {
	s := section{n: t.Records}
	s.records = c.take("records", t.Records, t.RecordSize)
	s.strings = c.take("strings", 1, t.strings)
	t.sections = []section{s}
	return &t.sections[0]
}

func (t *Table) parseWDBC() error {
	c := t.numbers()
	t.counts(c)
	t.fileOrder = true
	body := t.body(c)
	t.only(body)
	return body.err
}

// longBuild is the last build with the short head of WDB2.
const longBuild = 12880

func (t *Table) parseWDB2() error {
	c := t.numbers()
	t.counts(c)
	t.Table, t.Build = c.LE32(), c.LE32()
	c.LE32() // when it was made
	if t.Build > longBuild {
		t.ids(c)
		c.LE32() // the size of copies, of which there are none
	}
	t.fileOrder = true
	body := t.body(c)
	if t.MaxID > 0 {
		n, err := t.eachID()
		if err != nil {
			return err
		}
		body.take("index", n, 4)
		body.take("lengths of strings", n, 2)
	}
	t.only(body)
	return body.err
}

func (t *Table) parseWDB34() error {
	c := t.numbers()
	t.counts(c)
	t.Table, t.Build = c.LE32(), c.LE32()
	c.LE32() // when it was made
	t.ids(c)
	copies := c.LE32()
	if t.Magic == "WDB4" {
		t.flags = uint16(c.LE32())
	}
	body := t.body(c)
	if t.Records == 0 || body.err != nil {
		return body.err
	}
	if t.sparse() {
		return t.mapped(body, t.strings)
	}
	s := t.only(body)
	// WDB3 has no flags: if there is room for IDs, they are there.
	room := uint64(t.Records)*idSize + uint64(copies)
	if t.flags&flagIDs != 0 || t.Magic == "WDB3" && body.err == nil && uint64(len(t.data))-body.at >= room {
		s.ids = body.take("IDs", t.Records, idSize).bytes
	}
	s.copies = body.take("copies", copies/copySize, copySize).bytes
	return body.err
}

// mapped makes the only section of a sparse table, whose map begins at an offset. Up to WDB6, that
// stands in place of the size of strings.
func (t *Table) mapped(c *cut, at uint32) error {
	n, err := t.eachID()
	if err != nil {
		return err
	}
	c.at = uint64(at)
	s := section{n: t.Records, spans: c.take("offset map", n, spanSize).bytes}
	t.sections = []section{s}
	return c.err
}

func (t *Table) parseWDB56() error {
	c := t.numbers()
	copies := t.layoutHead(c)
	total, common := t.Fields, uint32(0)
	if t.Magic == "WDB6" {
		total, common = c.LE32(), c.LE32()
	}
	body := t.body(c)
	if err := t.readFields(body, t.Fields); err != nil {
		return err
	}
	t.countByPlace()
	if err := t.addCommonFields(total); err != nil || t.Records == 0 {
		return err
	}
	s, err := t.fieldsBody(body)
	if err != nil {
		return err
	}
	if t.flags&flagIDs != 0 {
		s.ids = body.take("IDs", t.Records, idSize).bytes
	}
	s.copies = body.take("copies", copies/copySize, copySize).bytes
	if common == 0 || body.err != nil {
		return body.err
	}
	values := body.take("common values", 1, common)
	if body.err != nil {
		return body.err
	}
	return t.readCommonBlock(values)
}

// fieldsBody takes the records of WDB5 and WDB6, and what follows them up to the IDs.
func (t *Table) fieldsBody(c *cut) (*section, error) {
	if t.sparse() {
		if err := t.mapped(c, t.strings); err != nil {
			return nil, err
		}
	} else {
		t.only(c)
	}
	if t.flags&flagSecondary != 0 && c.err == nil {
		n, err := t.eachID()
		if err != nil {
			return nil, err
		}
		t.secondary = c.take("foreign IDs", n, idSize).bytes
	}
	return &t.sections[0], c.err
}

// The sizes of the rest of WDC1's head.
type sizes struct{ ids, packing, common, pallets, foreign uint32 }

func (t *Table) parseWDC1() error {
	c := t.numbers()
	copies := t.layoutHead(c)
	total := c.LE32()
	c.LE32() // where packed fields begin
	c.LE32() // whether there are foreign IDs
	spans := c.LE32()
	n := sizes{c.LE32(), c.LE32(), c.LE32(), c.LE32(), c.LE32()}
	body := t.body(c)
	if err := t.readFields(body, total); err != nil || t.Records == 0 {
		return err
	}
	if t.sparse() {
		if err := t.mapped(body, spans); err != nil {
			return err
		}
	} else {
		t.only(body)
	}
	if body.err != nil {
		return body.err
	}
	s := &t.sections[0]
	s.ids = body.take("IDs", n.ids/idSize, idSize).bytes
	s.copies = body.take("copies", copies/copySize, copySize).bytes
	if err := t.readPacking(body, n); err != nil {
		return err
	}
	s.relation = body.take("foreign IDs", 1, n.foreign)
	return body.err
}

// schemaSize is the size of the text in the head of WDC5.
const schemaSize = 128

func (t *Table) parseSections() error {
	c := t.numbers()
	if t.Magic == "WDC5" {
		if v := c.LE32(); v != 5 && c.Err() == nil {
			return t.name.Bad(magicSize, "version %d, want 5", v)
		}
		t.Schema = string(bytes.TrimRight(c.Bytes(schemaSize), "\x00"))
	}
	t.counts(c)
	t.Table, t.Layout = c.LE32(), c.LE32()
	t.ids(c)
	t.flags, t.idIndex = c.LE16(), c.LE16()
	total := c.LE32()
	c.LE32() // where packed fields begin
	c.LE32() // whether there are foreign IDs
	n := sizes{packing: c.LE32(), common: c.LE32(), pallets: c.LE32()}
	sections := c.LE32()
	t.relative = true
	body := t.body(c)
	heads := body.take("heads of sections", sections, t.sectionHead())
	if body.err != nil {
		return body.err
	}
	if err := t.readFields(body, total); err != nil {
		return err
	}
	if err := t.readPacking(body, n); err != nil {
		return err
	}
	return t.readSections(heads, body.at)
}
