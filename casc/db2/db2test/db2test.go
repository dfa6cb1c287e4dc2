// Package db2test makes client tables for tests and samples: of WDC5, the newest format, with numbers of
// 32 bits and strings, in sections.
package db2test

import (
	"encoding/binary"
	"fmt"
)

// Table is a table to make.
type Table struct {
	// Hash is that of its name, and Layout that of its columns.
	Hash, Layout uint32
	// Schema is the text that names the build, such as WOWSTATIC_10_2_5_52432.
	Schema   string
	Sections []Section
}

// Section is a part of a table. If it has a key, its bytes are to be encrypted with that: see
// [Table.Bytes].
type Section struct {
	Key  uint64
	Rows []Row
}

// Row is a row. Each of its values is an int or a string, and the same in each row.
type Row struct {
	ID     int32
	Values []any
}

// The sizes of the parts of WDC5.
const (
	schemaSize  = 128
	headSize    = 204
	sectionSize = 40
	fieldSize   = 4
	packingSize = 24
	wordSize    = 4
	idList      = 4 // the flag of tables whose IDs are in a list
)

// Part is where the bytes of a section are.
type Part struct {
	Key      uint64
	Off, Len int
}

// Bytes returns the table, and where its sections are: the last parts of it, one after the other.
func (t *Table) Bytes() ([]byte, []Part) {
	fields := 0
	rows := uint32(0)
	low, high := int32(1<<31-1), int32(0)
	for _, s := range t.Sections {
		rows += uint32(len(s.Rows))
		for _, r := range s.Rows {
			fields, low, high = len(r.Values), min(low, r.ID), max(high, r.ID)
		}
	}
	ids := uint32(0) // of encrypted sections
	for _, s := range t.Sections {
		if s.Key != 0 {
			ids += 1 + uint32(len(s.Rows))
		}
	}
	m := maker{fields: fields, rows: int(rows)}
	at := headSize + len(t.Sections)*sectionSize + fields*(fieldSize+packingSize) + int(ids)*wordSize
	var heads, bodies []byte
	var parts []Part
	for _, s := range t.Sections {
		before := m.strings
		body, strings := m.section(s)
		heads = binary.LittleEndian.AppendUint64(heads, s.Key)
		heads = words(heads, at+len(bodies), len(s.Rows), strings-before, 0, len(s.Rows)*wordSize, 0, 0, 0)
		parts = append(parts, Part{s.Key, at + len(bodies), len(body)})
		bodies = append(bodies, body...)
	}
	b := append([]byte("WDC5"), words(nil, 5)...)
	b = append(b, make([]byte, schemaSize)...)
	copy(b[8:], t.Schema)
	b = words(b, int(rows), fields, fields*wordSize, m.strings, int(t.Hash), int(t.Layout), int(low), int(high), 1, idList, fields, 0, 0,
		fields*packingSize, 0, 0, len(t.Sections))
	b = append(b, heads...)
	for i := range fields {
		b = words(b, i*wordSize<<16) // the first half is 0: 32 bits
	}
	for i := range fields {
		b = words(b, i*8*wordSize|8*wordSize<<16, 0, 0, 0, 0, 0)
	}
	for _, s := range t.Sections {
		if s.Key == 0 {
			continue
		}
		b = words(b, len(s.Rows))
		for _, r := range s.Rows {
			b = words(b, int(r.ID))
		}
	}
	return append(b, bodies...), parts
}

// maker makes sections.
type maker struct {
	fields, rows int
	// done counts the rows of the sections before, and strings the bytes of their strings.
	done, strings int
}

// section returns the bytes of a section, and how many bytes of strings there are up to its end.
func (m *maker) section(s Section) ([]byte, int) {
	var records, strings []byte
	if m.strings == 0 {
		strings = []byte{0, 0} // nothing is the string at 0
	}
	for _, r := range s.Rows {
		for k, v := range r.Values {
			switch v := v.(type) {
			case int:
				records = words(records, v)
			case string:
				// An offset is counted from the field, in all records and then all strings.
				here := (m.done*m.fields + k) * wordSize
				target := m.rows*m.fields*wordSize + m.strings + len(strings)
				if v == "" {
					target = here
				} else {
					strings = append(append(strings, v...), 0)
				}
				records = words(records, target-here)
			default:
				panic(fmt.Sprintf("BUG: a value of type %T", v))
			}
		}
		m.done++
	}
	m.strings += len(strings)
	body := append(records, strings...)
	for _, r := range s.Rows {
		body = words(body, int(r.ID))
	}
	return body, m.strings
}

// words appends numbers of 32 bits.
func words(b []byte, numbers ...int) []byte {
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}
