package db2

import (
	"lorefs/casc/internal/format"
	"lorefs/internal/shown"
)

// Header is what a table says of itself. What its format doesn't have is 0.
type Header struct {
	// Magic names the format.
	Magic string
	// Table is the hash of the table's name, and Layout that of its columns.
	Table, Layout uint32
	// Build is the last part of the version of the game that the table was made for, and Schema,
	// which WDC5 has, the whole: WOWSTATIC_12_0_0_65028.
	Build  uint32
	Schema string
	// Records counts those of all sections, also the encrypted ones.
	Records uint32
	// Fields counts what a record has. Up to WDB4, each value of an array counts.
	Fields uint32
	// RecordSize is in bytes. A sparse table doesn't use it.
	RecordSize uint32
	// MinID and MaxID are the least and the greatest ID.
	MinID, MaxID int32
	// Locale is a bit for each language, or a number.
	Locale uint32
}

// Table is a table without its definition. It may be used by several goroutines at once.
type Table struct {
	Header

	data []byte
	name format.Name

	strings uint32 // the size of all strings
	flags   uint16
	idIndex uint16
	// described is set if the file describes its fields. If not, fields is nil.
	described bool
	fields    []field
	packed    bool // fields have a packing
	sections  []section
	// secret are the IDs of all rows of encrypted sections, sorted, as far as the table names them.
	secret []int32
	// secondary has a foreign ID for each ID from MinID on.
	secondary []byte
	// fileOrder is set if rows are in the order of the file, and not of their IDs.
	fileOrder bool
	// relative is set if strings are counted from their fields.
	relative bool
}

// The flags of a table.
const (
	flagSparse    = 1
	flagSecondary = 2
	flagIDs       = 4
)

func (t *Table) sparse() bool { return t.flags&flagSparse != 0 }

// Sparse reports whether the records of a table have different sizes.
func (t *Table) Sparse() bool { return t.sparse() }

// Hidden is a section that can't be read, since its key is missing.
type Hidden struct {
	// Key is 0 if another program that wrote the file has removed it.
	Key uint64
	// Rows counts its records and copies.
	Rows int
}

// Hidden returns what is left out.
func (t *Table) Hidden() []Hidden {
	var list []Hidden
	for i := range t.sections {
		if s := &t.sections[i]; s.hidden {
			list = append(list, Hidden{s.key, int(s.n) + len(s.copies)/copySize})
		}
	}
	return list
}

// magics are the formats, and what reads them.
var magics = map[string]func(*Table) error{
	"WDBC": (*Table).parseWDBC,
	"WDB2": (*Table).parseWDB2,
	"WDB3": (*Table).parseWDB34,
	"WDB4": (*Table).parseWDB34,
	"WDB5": (*Table).parseWDB56,
	"WDB6": (*Table).parseWDB56,
	"WDC1": (*Table).parseWDC1,
	"WDC2": (*Table).parseSections,
	"1SLC": (*Table).parseSections, // as a demo had it
	"WDC3": (*Table).parseSections,
	"WDC4": (*Table).parseSections,
	"WDC5": (*Table).parseSections,
}

// magicSize is the size of the name of a format.
const magicSize = 4

// MaxSize is how large a table may be, in bytes.
const MaxSize = format.MaxTable

// IsMagic reports whether a file with such a beginning is a table of a format that is known.
func IsMagic(head []byte) bool {
	return len(head) >= magicSize && magics[string(head[:magicSize])] != nil
}

// Parse reads the parts of a table. The data must not be changed. Errors are of type
// [lorefs/casc.FormatError].
func Parse(data []byte) (*Table, error) {
	if len(data) > MaxSize {
		return nil, format.Name("table").Bad(0, "%d bytes, more than the %d that a table may have", len(data), MaxSize)
	}
	magic := data[:min(len(data), magicSize)]
	parse := magics[string(magic)]
	if parse == nil {
		return nil, format.Name("table").Bad(0, "a table that begins with %s, which no known format does", shown.Quote(magic))
	}
	t := &Table{Header: Header{Magic: string(magic)}, data: data, name: format.Name(magic)}
	if err := parse(t); err != nil {
		return nil, err
	}
	return t, nil
}

// cut takes the parts of a table, one after the other.
type cut struct {
	t   *Table
	at  uint64
	err error
}

// part is bytes, and where they are in the file.
type part struct {
	bytes []byte
	at    int
}

// take returns the next n parts of a size.
func (c *cut) take(what string, n, size uint32) part {
	if c.err != nil {
		return part{}
	}
	whole, end := uint64(n)*uint64(size), uint64(len(c.t.data))
	if c.at > end || whole > end-c.at {
		c.err = c.t.name.Bad(int64(c.at), "%s: %d bytes expected, %d there", what, whole, end-min(c.at, end))
		return part{}
	}
	at := int(c.at)
	c.at += whole
	return part{c.t.data[at:c.at:c.at], at}
}

// eachID returns how many IDs there are from the least to the greatest.
func (t *Table) eachID() (uint32, error) {
	n := int64(t.MaxID) - int64(t.MinID) + 1
	if n < 0 || n > int64(len(t.data)) { // each has at least two bytes
		return 0, t.name.Bad(0, "IDs from %d to %d in %d bytes", t.MinID, t.MaxID, len(t.data))
	}
	return uint32(n), nil
}
