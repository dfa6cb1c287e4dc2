package db2

import (
	"encoding/binary"
	"slices"

	"lorefs/internal/cursor"
)

// The sizes of an ID, a copy and an entry of an offset map, and of the head of foreign IDs.
const (
	idSize       = 4
	copySize     = 8
	spanSize     = 6
	relationHead = 12
)

// A section is a part of the rows, with all that belongs to them.
type section struct {
	key uint64
	// hidden is set if there are only zeros, since the key is missing.
	hidden bool
	// first counts the records of the sections before, and n those of this one.
	first, n uint32
	records  part
	// stringsAt counts the bytes of strings of the sections before.
	stringsAt   int64
	strings     part
	ids, copies []byte
	relation    part
	// spans is the offset map. It has an entry for each of spanIDs, or, if that is nil, for each ID
	// of the table.
	spans, spanIDs []byte
}

// head is what the head of a section says.
type head struct {
	key                                        uint64
	at, records, strings, copies               uint32
	recordsEnd, spans, ids, relation, spanEach uint32
}

// sectionHead returns the size of a head.
func (t *Table) sectionHead() uint32 {
	if t.oldSections() {
		return 36
	}
	return 40
}

// oldSections reports whether sections are those of WDC2.
func (t *Table) oldSections() bool { return t.Magic == "WDC2" || t.Magic == "1SLC" }

func (t *Table) readHead(c *cursor.Cursor) head {
	h := head{key: c.LE64(), at: c.LE32(), records: c.LE32(), strings: c.LE32()}
	if t.oldSections() {
		h.copies = c.LE32() / copySize
		h.spans, h.ids, h.relation = c.LE32(), c.LE32(), c.LE32()
		return h
	}
	h.recordsEnd, h.ids, h.relation = c.LE32(), c.LE32(), c.LE32()
	h.spanEach, h.copies = c.LE32(), c.LE32()
	return h
}

// readSections reads the sections of WDC2 and later, which begin at from or later.
func (t *Table) readSections(heads part, from uint64) error {
	c := cursor.New(heads.bytes)
	first, strings, begin := uint64(0), int64(0), uint64(len(t.data))
	for c.Left() > 0 {
		at := heads.at + c.Off()
		h := t.readHead(c)
		s, err := t.readSection(h)
		if err != nil {
			return err
		}
		begin = min(begin, uint64(h.at))
		s.first, s.stringsAt = uint32(first), strings
		first += uint64(s.n)
		strings += int64(len(s.strings.bytes))
		if first > uint64(t.Records) {
			return t.name.Bad(int64(at), "%d records up to this section, want at most %d", first, t.Records)
		}
		t.sections = append(t.sections, s)
	}
	if t.Magic >= "WDC4" && from < begin {
		t.readSecret(t.data[from:begin])
	}
	return nil
}

// readSecret reads the IDs of encrypted rows: a number of IDs for each encrypted section, and these.
func (t *Table) readSecret(b []byte) {
	for len(b) >= idSize {
		n := binary.LittleEndian.Uint32(b)
		if b = b[idSize:]; uint64(n)*idSize > uint64(len(b)) {
			return // nobody relies on them
		}
		for ; n > 0; n, b = n-1, b[idSize:] {
			t.secret = append(t.secret, int32(binary.LittleEndian.Uint32(b)))
		}
	}
	slices.Sort(t.secret)
}

func (t *Table) readSection(h head) (section, error) {
	s := section{key: h.key, n: h.records}
	c := &cut{t: t, at: uint64(h.at)}
	begin := c.at
	switch {
	case !t.sparse():
		s.records = c.take("records", h.records, t.RecordSize)
		s.strings = c.take("strings", 1, h.strings)
	case t.oldSections():
		n, err := t.eachID()
		if err != nil {
			return s, err
		}
		c.at = uint64(h.spans)
		s.spans = c.take("offset map", n, spanSize).bytes
	default:
		c.at = uint64(h.recordsEnd)
	}
	s.ids = c.take("IDs", h.ids/idSize, idSize).bytes
	s.copies = c.take("copies", h.copies, copySize).bytes
	t.readTail(&s, c, h)
	if c.err != nil {
		return s, c.err
	}
	if c.at < begin {
		return s, t.name.Bad(int64(begin), "a section that ends at %#x", c.at)
	}
	s.hidden = s.n > 0 && isZero(t.data[begin:c.at])
	return s, nil
}

// readTail reads what follows the copies. In WDC4 and later, foreign IDs by ID are the last.
func (t *Table) readTail(s *section, c *cut, h head) {
	last := t.flags&flagSecondary != 0 && t.Magic >= "WDC4"
	mapped := t.sparse() && !t.oldSections()
	if mapped {
		s.spans = c.take("offset map", h.spanEach, spanSize).bytes
	}
	if !last {
		s.relation = c.take("foreign IDs", 1, h.relation)
	}
	if mapped {
		s.spanIDs = c.take("IDs of the offset map", h.spanEach, idSize).bytes
	}
	if last {
		s.relation = c.take("foreign IDs", 1, h.relation)
	}
}

// isZero reports whether there are bytes, and all of them are 0.
func isZero(b []byte) bool {
	for ; len(b) > 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
	}
	return len(b) > 0 && little(b) == 0
}
