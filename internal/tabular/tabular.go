package tabular

import (
	"bytes"
	"io"
	"slices"
	"unicode/utf8"

	"lorefs/internal/wtf8"
)

// Format is a format of tables.
type Format uint8

// The formats.
const (
	CSV Format = iota
	TSV
	JSONL
	JSON
)

// Words are the names of the formats, each at its place.
var Words = []string{CSV: "csv", TSV: "tsv", JSONL: "jsonl", JSON: "json"}

// ParseFormat returns the format of a name.
func ParseFormat(word string) (f Format, ok bool) {
	i := slices.Index(Words, word)
	return Format(max(i, 0)), i >= 0
}

// String returns the name of a format, which is also the ending of its files.
func (f Format) String() string { return Words[f] }

// IsJSON reports whether values are JSON.
func (f Format) IsJSON() bool { return f == JSONL || f == JSON }

// bufferSize is how much is written at once, about.
const bufferSize = 64 << 10

// Writer writes a table, cell by cell. It is used by one goroutine. It keeps its first error,
// and does nothing after that.
type Writer struct {
	w      io.Writer
	format Format
	// before is what stands before each cell of a row: the comma and, in JSON, the name.
	before [][]byte
	// head is the line with the names, if the format has one. It goes before the first row.
	head []byte
	buf  []byte
	// at is the column of the next cell.
	at     int
	rows   int64
	broken int64
	err    error
}

// NewWriter returns a writer of a table with some columns. The names are WTF-8, and in JSON no
// two should be the same. Nothing is written until the first row ends, or the table.
func NewWriter(w io.Writer, f Format, columns []string) *Writer {
	t := &Writer{w: w, format: f, before: make([][]byte, len(columns))}
	for i, name := range columns {
		switch {
		case f.IsJSON() && i == 0:
			t.before[i] = append(wtf8.AppendJSON([]byte("{"), name), ':')
		case f.IsJSON():
			t.before[i] = append(wtf8.AppendJSON([]byte(","), name), ':')
		case i > 0:
			t.before[i] = []byte{separator(f)}
		}
	}
	if f.IsJSON() {
		return t
	}
	for _, name := range columns {
		t.Text([]byte(name))
	}
	t.head, t.buf, t.at, t.broken = append(t.buf, '\n'), nil, 0, 0
	return t
}

func separator(f Format) byte {
	if f == TSV {
		return '\t'
	}
	return ','
}

// Format returns the format.
func (t *Writer) Format() Format { return t.format }

// Rows returns the number of rows.
func (t *Writer) Rows() int64 { return t.rows }

// Broken returns the number of cells in which U+FFFD stands for what the format can't hold.
func (t *Writer) Broken() int64 { return t.broken }

// Absent writes a cell without a value.
func (t *Writer) Absent() {
	t.begin()
	switch {
	case t.format.IsJSON():
		t.buf = append(t.buf, "null"...)
	case t.format == CSV && len(t.before) == 1:
		t.buf = append(t.buf, `""`...)
	}
}

// Text writes a cell with a text.
func (t *Writer) Text(text []byte) {
	t.begin()
	switch {
	case t.format.IsJSON():
		t.buf = wtf8.AppendJSON(t.buf, text)
		return
	case !utf8.Valid(text):
		t.broken++
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	t.spell(text)
}

// Plain writes a cell with a number, true, false or other JSON. It stands there as it is, but
// for the quotes of CSV.
func (t *Writer) Plain(json []byte) {
	t.begin()
	if t.format.IsJSON() {
		t.buf = append(t.buf, json...)
		return
	}
	t.spell(json)
}

// begin begins a cell.
func (t *Writer) begin() {
	if t.at == 0 && t.format == JSON {
		t.buf = append(t.buf, t.opening()...)
	}
	t.buf = append(t.buf, t.before[t.at]...)
	t.at++
}

// opening is what stands before a row in a list.
func (t *Writer) opening() string {
	if t.rows == 0 {
		return "[\n"
	}
	return ",\n"
}

// spell writes the text of a cell in CSV or TSV.
func (t *Writer) spell(text []byte) {
	switch {
	case t.format == TSV:
		t.buf = appendEscaped(t.buf, text)
	case quoted(text):
		t.buf = AppendQuoted(t.buf, text)
	default:
		t.buf = append(t.buf, text...)
	}
}

// quoted reports whether CSV quotes a text.
func quoted(text []byte) bool {
	if len(text) == 0 || isSpace(text[0]) || isSpace(text[len(text)-1]) {
		return true
	}
	for _, c := range text { // bytes.ContainsAny takes three times as long
		if c == ',' || c == '"' || c == '\r' || c == '\n' {
			return true
		}
	}
	return false
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// AppendQuoted appends a text in the quotes of CSV.
func AppendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return append(append(dst, text...), '"')
		}
		dst = append(append(dst, text[:i+1]...), '"')
		text = text[i+1:]
	}
}

func appendEscaped(dst, text []byte) []byte {
	for _, c := range text {
		switch c {
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\\':
			dst = append(dst, `\\`...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// EndRow ends a row, of which all cells have been written.
func (t *Writer) EndRow() error {
	if t.at != len(t.before) {
		panic("tabular: BUG: a row has other columns than its table")
	}
	switch t.format {
	case JSON:
		t.buf = append(t.buf, '}')
	case JSONL:
		t.buf = append(t.buf, "}\n"...)
	default:
		t.buf = append(t.buf, '\n')
	}
	t.at = 0
	t.rows++
	if len(t.buf) < bufferSize {
		return t.err
	}
	return t.Flush()
}

// End ends the table. One without rows has its names, or an empty list.
func (t *Writer) End() error {
	switch {
	case t.format == JSON && t.rows == 0:
		t.buf = append(t.buf, "[]\n"...)
	case t.format == JSON:
		t.buf = append(t.buf, "\n]\n"...)
	}
	return t.Flush()
}

// Flush writes the rows so far, for those who wait for them.
func (t *Writer) Flush() error {
	if t.err == nil && len(t.head) > 0 {
		_, t.err = t.w.Write(t.head)
	}
	if t.err == nil && len(t.buf) > 0 {
		_, t.err = t.w.Write(t.buf)
	}
	t.head, t.buf = nil, t.buf[:0]
	return t.err
}
