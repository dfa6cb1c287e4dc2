package db2

import (
	"encoding/binary"
	"slices"
)

// A field is where the values of a column are, as the file says it.
type field struct {
	packing uint32
	// at is the bit of a record at which it begins, and width the bits of one value.
	at, width int
	// count is how many values there are, 0 if only the definition knows. No more than most of them
	// have room in a record, if that is not 0.
	count, most int
	// common has the values of rows by ID. All others have the standard one.
	common   []pair
	standard uint32
	// pallet has numbers of 4 bytes.
	pallet part
}

// pair is the value of a row in a field that has the same one in most rows.
type pair struct {
	id    int32
	value uint32
}

// How the values of a field are packed.
const (
	packNone = iota
	packBits
	packCommon
	packPallet
	packPalletArray
	packSigned
)

// The sizes of what describes a field.
const (
	fieldSize   = 4
	packingSize = 24
)

// numberBits is the size of most numbers.
const numberBits = 32

// mostFields is more than any table has fields.
const mostFields = 1 << 13

// readFields reads how wide the fields are, and where they begin.
func (t *Table) readFields(c *cut, n uint32) error {
	if n > mostFields && c.err == nil {
		return t.name.Bad(0, "%d fields, want at most %d", n, mostFields)
	}
	p := c.take("fields", n, fieldSize)
	if c.err != nil {
		return c.err
	}
	t.described = true
	t.fields = make([]field, n)
	for i := range t.fields {
		b := p.bytes[i*fieldSize:]
		f := &t.fields[i]
		// The file has by how many bits a number is shorter than 32.
		f.width = numberBits - int(int16(binary.LittleEndian.Uint16(b)))
		f.at = int(binary.LittleEndian.Uint16(b[2:])) * 8
		if f.width < 0 || f.width > 64 || f.width%8 != 0 {
			return t.name.Bad(int64(p.at+i*fieldSize), "field %d has values of %d bits, want whole bytes up to 64 bits", i, f.width)
		}
	}
	return nil
}

// countByPlace tells how many values a field has by where the next one begins. Behind the last one
// there may be a few bytes of nothing.
func (t *Table) countByPlace() {
	for i := range t.fields {
		f := &t.fields[i]
		switch {
		case f.width == 0:
		case i+1 < len(t.fields):
			f.count = max(1, (t.fields[i+1].at-f.at)/f.width)
		default:
			f.most = max(1, (int(min(t.RecordSize, 1<<20))*8-f.at)/f.width)
		}
	}
}

// addCommonFields adds the fields of WDB6 that are in no record.
func (t *Table) addCommonFields(total uint32) error {
	n := uint32(len(t.fields))
	if total < n || total > mostFields {
		return t.name.Bad(0, "%d fields, want at least the %d that are in records and at most %d", total, n, mostFields)
	}
	for range total - n {
		t.fields = append(t.fields, field{packing: packCommon, count: 1})
	}
	return nil
}

// narrow are the sizes of values of the types of WDB6 before they all had 4 bytes.
var narrow = [...]int{4, 2, 1, 4, 4}

// readCommonBlock reads the common values of WDB6, whose sizes nothing tells: those are right with
// which the block ends where it should.
func (t *Table) readCommonBlock(p part) error {
	err := t.readCommonValues(p, [...]int{4, 4, 4, 4, 4})
	if err != nil {
		err = t.readCommonValues(p, narrow)
	}
	return err
}

func (t *Table) readCommonValues(p part, sizes [5]int) error {
	b := p.bytes
	bad := func(what string) error { return t.name.Bad(int64(p.at+len(p.bytes)-len(b)), "common values: %s", what) }
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != uint32(len(t.fields)) {
		return bad("not for as many fields as there are")
	}
	b = b[4:]
	for i := range t.fields {
		if len(b) < 5 || int(b[4]) >= len(sizes) {
			return bad("a number of values and a type expected")
		}
		n, size := uint64(binary.LittleEndian.Uint32(b)), sizes[b[4]]
		b = b[5:]
		if n*uint64(idSize+size) > uint64(len(b)) {
			return bad("more values than there is room for")
		}
		list := make([]pair, n)
		for k := range list {
			list[k].id = int32(binary.LittleEndian.Uint32(b))
			list[k].value = uint32(little(b[idSize : idSize+size]))
			b = b[idSize+size:]
		}
		t.fields[i].common = sorted(list)
	}
	if len(b) > 0 {
		return bad("bytes that are no values")
	}
	return nil
}

// little returns the number in up to 8 bytes.
func little(b []byte) (v uint64) {
	for i, c := range b[:min(len(b), 8)] {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// sorted sorts common values by ID.
func sorted(list []pair) []pair {
	byID := func(a, b pair) int { return compareIDs(a.id, b.id) }
	if !slices.IsSortedFunc(list, byID) {
		slices.SortStableFunc(list, byID)
	}
	return list
}
