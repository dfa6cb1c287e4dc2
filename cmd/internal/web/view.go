package web

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"lorefs/internal/shown"
	"lorefs/nodes"
)

const (
	// viewText and viewHex are how much of a file a page shows at once, as text or in hex.
	viewText = 128 << 10
	viewHex  = 4 << 10
)

// filePage is a page that shows a part of a file.
type filePage struct {
	frame
	// Raw is the address of the bytes, and Picture that of a picture.
	Raw, Picture string
	Size         int64
	// From and To are the part that is shown.
	From, To int64
	// Text is the part as text, Hex as a table of bytes, and Rows as a table of CSV.
	Text, Hex string
	Columns   []string
	Rows      [][]string
	// Next, Previous and Other are addresses of other parts, and of the other way to show this one.
	Next, Previous, Other string
	// AsText is the address of this part as text, if it is shown as a table.
	AsText  string
	AsHex   bool
	Problem string
}

// view answers with a page that shows a part of a file.
func (v *visit) view() {
	e, query := v.at.Entry, v.r.URL.Query()
	p := filePage{frame: v.frame(), Raw: v.address(v.at.Path, nodes.File), Size: e.Size}
	p.From, _ = strconv.ParseInt(query.Get("at"), 10, 64) // 0 for what is no number
	p.From = min(max(p.From, 0), e.Size)
	mediaType, _ := typeOf(e.Name)
	part, err := v.part(p.From)
	switch {
	case err != nil:
		p.Problem = shown.Line(err)
	case strings.HasPrefix(mediaType, "image/") && !query.Has("hex"):
		p.Picture = p.Raw
	default:
		p.show(part, query.Has("hex"))
		if isCSV := strings.EqualFold(path.Ext(e.Name), ".csv"); isCSV && p.Text != "" && !query.Has("text") {
			v.asTable(&p)
		}
	}
	v.render("file.html", p)
}

// asTable shows a part of a table as one, with the heads of its columns from the beginning of the file. What is
// no CSV stays text.
func (v *visit) asTable(p *filePage) {
	head, err := v.part(0)
	if err != nil {
		return
	}
	r := csv.NewReader(bytes.NewReader(head))
	columns, err := r.Read()
	if err != nil {
		return
	}
	text := p.Text
	if p.From == 0 {
		text = text[r.InputOffset():]
	}
	r = csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = len(columns)
	end := int64(0)
	var rows [][]string
	for len(rows) < pageEntries {
		row, err := r.Read()
		goesOn := r.InputOffset() == int64(len(text)) && p.To < p.Size && !strings.HasSuffix(text, "\n")
		if err != nil || goesOn {
			break
		}
		rows, end = append(rows, row), r.InputOffset()
	}
	if whole := end == int64(len(text)) && p.To == p.Size; len(rows) == 0 && !whole {
		return
	}
	p.Columns, p.Rows, p.Text = columns, rows, ""
	p.AsText = p.Raw + "?view&text&at=" + strconv.FormatInt(p.From, 10)
	p.To += end - int64(len(text))
	if p.Next = ""; p.To < p.Size {
		p.Next = p.Raw + "?view&at=" + strconv.FormatInt(p.To, 10)
	}
	if p.Previous = ""; p.From > 0 {
		p.Previous = p.Raw + "?view"
	}
}

// part returns what a page shows of a file at most.
func (v *visit) part(from int64) ([]byte, error) {
	buf := make([]byte, min(viewText, v.at.Size-from))
	n, err := v.source.Content(v.r.Context(), v.at.Entry).ReadAt(buf, from)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return buf[:n], err
}

// show fills in a part that begins at From, as text if it is one.
func (p *filePage) show(part []byte, asHex bool) {
	text, isText := textOf(part, p.From+int64(len(part)) == p.Size)
	size := int64(viewText)
	if p.AsHex = asHex || !isText; p.AsHex {
		size = viewHex
		part = part[:min(len(part), viewHex)]
		p.Hex = dump(part, p.From)
	} else {
		p.Text = string(text)
		part = text
	}
	p.To = p.From + int64(len(part))
	how := ""
	if p.AsHex {
		how = "&hex"
	}
	if p.To < p.Size && len(part) > 0 {
		p.Next = p.Raw + "?view" + how + "&at=" + strconv.FormatInt(p.To, 10)
	}
	if p.From > 0 {
		p.Previous = p.Raw + "?view" + how + "&at=" + strconv.FormatInt(max(0, p.From-size), 10)
	}
	switch {
	case isText && !p.AsHex:
		p.Other = p.Raw + "?view&hex&at=" + strconv.FormatInt(p.From, 10)
	case isText:
		p.Other = p.Raw + "?view&at=" + strconv.FormatInt(p.From, 10)
	}
}

// textOf reports whether a part of a file is text, and cuts off a character that goes on behind it.
func textOf(part []byte, atEnd bool) (text []byte, ok bool) {
	if bytes.IndexByte(part, 0) >= 0 {
		return nil, false
	}
	for cut := 0; cut < utf8.UTFMax && cut <= len(part); cut++ {
		if utf8.Valid(part[:len(part)-cut]) {
			return part[:len(part)-cut], true
		}
		if atEnd {
			break
		}
	}
	return nil, false
}

// dump returns bytes as hex.Dumper writes them, with their offsets in the file.
func dump(part []byte, from int64) string {
	var b strings.Builder
	for len(part) > 0 {
		n := min(len(part), 16)
		line := hex.Dump(part[:n])
		b.WriteString(strings.ToLower(padded(from)))
		b.WriteString(line[8:])
		part, from = part[n:], from+int64(n)
	}
	return b.String()
}

// padded returns an offset as at least eight digits of hex.
func padded(offset int64) string {
	text := strconv.FormatInt(offset, 16)
	return strings.Repeat("0", max(0, 8-len(text))) + text
}
