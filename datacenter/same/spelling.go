package same

import (
	"bytes"
	"errors"
	"io"

	"lorefs/datacenter/internal/prefix"
)

// comparer is a writer that compares a sheet of the data center, which is written to it, with a file. They are
// the same if they differ only in white space by which XML is laid out: between tags, between the parts of a
// tag, and at the ends of lines. An XML declaration makes no difference either.
type comparer struct {
	file io.Reader
	// buf is a buffer of bufferSize bytes, and ahead what is read and not compared yet.
	buf, ahead []byte
	begun      bool
	ended      bool // all of the file is read
	last       byte // the last byte that was written
}

const (
	bufferSize = 64 << 10
	// mostSpace is how much white space may lie where a sheet has other.
	mostSpace = 4 << 10
)

// Write implements [io.Writer].
func (c *comparer) Write(p []byte) (int, error) {
	l := layout{text: p, before: c.last}
	for i := 0; i < len(p); {
		if err := c.read(); err != nil {
			return i, err
		}
		n := min(len(p)-i, len(c.ahead))
		if !bytes.Equal(p[i:i+n], c.ahead[:n]) {
			n = prefix.Common(p[i:], c.ahead)
		}
		i += n
		c.ahead = c.ahead[n:]
		if i == len(p) || len(c.ahead) < mostSpace && !c.ended {
			continue
		}
		n, space := l.skip(i, c.ahead)
		if n+space == 0 {
			return i, errDiffers
		}
		i += n
		c.ahead = c.ahead[space:]
	}
	if len(p) > 0 {
		c.last = p[len(p)-1]
	}
	return len(p), nil
}

// read makes at least mostSpace bytes ready, unless the file ends before.
func (c *comparer) read() error {
	if len(c.ahead) >= mostSpace || c.ended {
		return nil
	}
	kept := copy(c.buf, c.ahead)
	n, err := io.ReadFull(c.file, c.buf[kept:])
	c.ahead = c.buf[:kept+n]
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		c.ended, err = true, nil
	}
	if !c.begun {
		c.begun = true
		c.ahead = withoutProlog(c.ahead)
	}
	return err
}

// end returns an error if the file has more than was written, but for white space.
func (c *comparer) end() error {
	if err := c.read(); err != nil {
		return err
	}
	if !c.ended || spaces(c.ahead) < len(c.ahead) {
		return errDiffers
	}
	return nil
}

// declarations are the usual XML declarations of a file in UTF-8.
var declarations = []string{`<?xml version="1.0"?>`, `<?xml version="1.0" encoding="utf-8"?>`, `<?xml version="1.0" encoding="UTF-8"?>`}

// withoutProlog returns a file without what may stand before its element. XML has no second declaration.
func withoutProlog(file []byte) []byte {
	file = bytes.TrimPrefix(file, []byte("\ufeff"))
	for _, declaration := range declarations {
		if rest, ok := bytes.CutPrefix(file, []byte(declaration)); ok {
			file = rest
			break
		}
	}
	return file[spaces(file):]
}

// spaces returns how much white space is at the start of a text.
func spaces(text []byte) int {
	n := 0
	for n < len(text) && isSpace(text[n]) {
		n++
	}
	return n
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// layout finds out whether white space in a part of a sheet lays it out. A sheet has no > but at the end of a
// tag, no line ends but between tags and in texts, and white space alone is no text in it.
type layout struct {
	text   []byte
	before byte // the byte before text
	// The start tag around from ends at to. outside is set if from does not lie in the value of an attribute.
	from, to int
	outside  bool
}

// skip is called where the sheet, from place i on, and the file differ. It returns how many bytes of each to
// skip, so that both are behind white space that only lays out the sheet. If the difference matters, both
// numbers are 0.
func (l *layout) skip(i int, file []byte) (n, space int) {
	if l.text[i] == '\n' && bytes.HasPrefix(file, []byte("\r\n")) {
		return len("\n"), len("\r\n")
	}
	if space = spaces(file); space >= mostSpace {
		return 0, 0
	}
	from, before := l.behind(i)
	n = spaces(l.text[i:])
	text, file := l.text[i+n:], file[space:]
	free := false
	switch {
	case before == '>': // behind a tag
		free = bothBegin(text, file, "<") || len(text) == 0 && len(file) == 0
	case bothBegin(text, file, "/>"), bothBegin(text, file, ">") && before != '/': // at the end of a tag
		free = true
	case !l.inTag(i):
	case i+n > from: // before an attribute, where both must have some, here or before i
		free = space > 0 || i > from
	default:
		free = before == '=' || bothBegin(text, file, "=")
	}
	if !free {
		return 0, 0
	}
	return n, space
}

// behind returns where the white space before place i begins, and the byte before it.
func (l *layout) behind(i int) (from int, before byte) {
	for from = i; from > 0 && isSpace(l.text[from-1]); {
		from--
	}
	if from == 0 {
		return 0, l.before
	}
	return from, l.text[from-1]
}

func bothBegin(a, b []byte, with string) bool {
	return bytes.HasPrefix(a, []byte(with)) && bytes.HasPrefix(b, []byte(with))
}

// inTag reports whether place i is in a start tag, and not in the value of an attribute.
func (l *layout) inTag(i int) bool {
	quote := []byte(`"`)
	if l.from <= i && i < l.to {
		l.outside = l.outside == (bytes.Count(l.text[l.from:i], quote)%2 == 0)
	} else {
		n := bytes.IndexByte(l.text[i:], '>')
		if n < 0 || bytes.IndexByte(l.text[i:i+n], '<') >= 0 {
			return false
		}
		l.to = i + n
		l.outside = bytes.Count(l.text[i:l.to], quote)%2 == 0
	}
	l.from = i
	return l.outside
}
