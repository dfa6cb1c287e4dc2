package db2

import (
	"bytes"
	"encoding/hex"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"lorefs/internal/tabular"
	"lorefs/internal/wtf8"
)

// Form is what a table is written as.
type Form uint8

// The forms. CSV is as wow.tools.local writes it, with Name[0] for the first value of an array;
// CSVUnderscores has Name_0 there. JSON is one array of objects, and JSONLines an object a line.
const (
	CSV Form = iota
	CSVUnderscores
	JSON
	JSONLines
)

func (f Form) isCSV() bool { return f == CSV || f == CSVUnderscores }

// writeEach is how much of a table is written at a time.
const writeEach = 1 << 16

// Write writes all rows.
func (v *View) Write(w io.Writer, form Form) error {
	b := v.AppendHead(make([]byte, 0, writeEach+writeEach/4), form)
	for i := range v.rows {
		var err error
		if b, err = v.AppendRow(b, form, i); err != nil {
			return err
		}
		if len(b) < writeEach {
			continue
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	_, err := w.Write(AppendTail(b, form))
	return err
}

// AppendHead appends what precedes the rows.
func (v *View) AppendHead(dst []byte, form Form) []byte {
	switch form {
	case JSON:
		return append(dst, '[')
	case JSONLines:
		return dst
	}
	for i, c := range v.Columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		for k := range max(1, c.Array) {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = appendCSV(dst, []byte(c.Cell(k, form)))
		}
	}
	return append(dst, '\n')
}

// Cell returns the name of a value of a column in CSV.
func (c *Shown) Cell(k int, form Form) string {
	switch {
	case c.Array == 0:
		return c.Name
	case form == CSVUnderscores:
		return c.Name + "_" + strconv.Itoa(k)
	}
	return c.Name + "[" + strconv.Itoa(k) + "]"
}

// AppendTail appends what follows the rows.
func AppendTail(dst []byte, form Form) []byte {
	if form == JSON {
		return append(dst, "\n]\n"...)
	}
	return dst
}

// AppendRow appends a row.
func (v *View) AppendRow(dst []byte, form Form, i int) ([]byte, error) {
	if form == JSON {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '\n')
	}
	r := v.reader(i, &v.t.sections[0])
	var err error
	if form.isCSV() {
		dst, err = r.appendCSV(dst)
	} else {
		dst, err = r.appendJSON(dst)
	}
	if err == nil && form != JSON {
		dst = append(dst, '\n')
	}
	return dst, err
}

func (r *reader) appendCSV(dst []byte) ([]byte, error) {
	for i := range r.v.cells {
		if i > 0 {
			dst = append(dst, ',')
		}
		c := &r.v.cells[i]
		n, text, err := r.read(c)
		if err != nil {
			return dst, err
		}
		switch c.typ {
		case String, LocString:
			dst = appendCSV(dst, text)
		default:
			dst = c.appendNumber(dst, n, text)
		}
	}
	return dst, nil
}

func (r *reader) appendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, '{')
	for i := range r.v.Columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		s := &r.v.Columns[i]
		dst = append(wtf8.AppendJSON(dst, s.Name), ':')
		if s.Array > 0 {
			dst = append(dst, '[')
		}
		for k := range max(1, s.Array) {
			if k > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = r.appendValue(dst, &r.v.cells[s.cell+k]); err != nil {
				return dst, err
			}
		}
		if s.Array > 0 {
			dst = append(dst, ']')
		}
	}
	return append(dst, '}'), nil
}

// appendValue appends a cell to JSON.
func (r *reader) appendValue(dst []byte, c *cell) ([]byte, error) {
	n, text, err := r.read(c)
	if err != nil {
		return dst, err
	}
	return c.appendJSON(dst, n, text), nil
}

// appendJSON appends what was read of a cell.
func (c *cell) appendJSON(dst []byte, n uint64, text []byte) []byte {
	switch {
	case c.isText():
		return wtf8.AppendJSON(dst, text)
	case c.typ == raw, c.typ == Float && !isFinite(uint32(n)):
		return append(c.appendNumber(append(dst, '"'), n, text), '"')
	}
	return c.appendNumber(dst, n, text)
}

// appendNumber appends a number, or the bytes of a record.
func (c *cell) appendNumber(dst []byte, n uint64, text []byte) []byte {
	switch {
	case c.typ == raw:
		return hex.AppendEncode(dst, text)
	case c.typ == Float:
		return appendFloat(dst, math.Float32frombits(uint32(n)))
	case c.signed:
		return strconv.AppendInt(dst, int64(extend(n, c.bits)), 10)
	case c.bits < 64:
		n &= 1<<c.bits - 1
	}
	return strconv.AppendUint(dst, n, 10)
}

// isFinite reports whether the bits of a float are those of a number.
func isFinite(bits uint32) bool { return bits>>23&0xff != 0xff }

// Between these, a float is written without exponent.
const (
	leastPlain = 1e-4
	mostPlain  = 1e9
	// wholePlain is up to where each whole number is a float.
	wholePlain = 1 << 24
)

// appendFloat appends a float as .NET writes it: the shortest digits that mean it.
func appendFloat(dst []byte, f float32) []byte {
	a := f
	if a < 0 {
		a = -a
	}
	switch {
	case f != f: //nolint:gocritic // NaN is what differs from itself
		return append(dst, "NaN"...)
	case a > math.MaxFloat32:
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "Infinity"...)
	case a < wholePlain && a > 0 && f == float32(int32(f)):
		return strconv.AppendInt(dst, int64(f), 10)
	case a == 0 || a >= leastPlain && a < mostPlain:
		return strconv.AppendFloat(dst, float64(f), 'f', -1, 32)
	}
	return strconv.AppendFloat(dst, float64(f), 'E', -1, 32)
}

// appendCSV appends a text, in quotes if it needs them. Bytes that are no UTF-8 become U+FFFD.
func appendCSV(dst, text []byte) []byte {
	plain, ascii := true, true
	for _, c := range text {
		if c == ',' || c == '"' || c == '\n' || c == '\r' {
			plain = false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii && !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte(string(utf8.RuneError)))
	}
	if plain {
		return append(dst, text...)
	}
	return tabular.AppendQuoted(dst, text)
}
