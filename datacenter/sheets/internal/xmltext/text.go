package xmltext

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode/utf8"
)

// piece reads text up to the next markup. skipped is set for white space between elements,
// as in indented files, or around the document's element.
func (x *Reader) piece() (skipped bool, err error) {
	x.At = x.pos
	x.literal = false
	x.skipIndentation()
	x.Blank = x.pos == len(x.Data) || x.Data[x.pos] == '<'
	if len(x.open) == 0 {
		if !x.Blank {
			return false, x.Errorf(x.pos, "text outside of the document's element")
		}
		return true, nil
	}
	if x.Blank && x.beginsElement() && !x.open[len(x.open)-1].preserve {
		return true, nil
	}
	start := x.At
	raw := bytes.IndexByte(x.Data[start:x.pos], '\r') < 0
	for i := x.pos; ; i++ {
		for i < len(x.Data) && class[x.Data[i]]&isTextChar != 0 {
			i++
		}
		if i-start > MaxSpelled && i > x.pos {
			return false, x.Wrap(start, "", ErrTooLong)
		}
		if i == len(x.Data) || x.Data[i] == '<' {
			x.pos = i
			break
		}
		switch x.Data[i] {
		case '&', '\r':
			raw = false
		case ']':
			if bytes.HasPrefix(x.Data[i:], []byte("]]>")) {
				return false, x.Errorf(i, "]]> in text: want ]]&gt;")
			}
		default:
			return false, x.badControl(i)
		}
	}
	x.Text = x.Data[start:x.pos]
	if !raw {
		if x.Text, err = x.unfold(start, x.pos, false); err != nil {
			return false, err
		}
	}
	x.Blank = IsBlank(x.Text) && !x.open[len(x.open)-1].preserve
	return false, nil
}

// skipIndentation is skipSpace for many spaces, of which indented files are full.
func (x *Reader) skipIndentation() {
	const spaces, size = 0x2020202020202020, 8
	i := x.pos
	for i < len(x.Data) && class[x.Data[i]]&isSpace != 0 {
		i++
		for len(x.Data)-i >= size && binary.LittleEndian.Uint64(x.Data[i:]) == spaces {
			i += size
		}
	}
	x.pos = i
}

// beginsElement reports whether the markup at pos begins an element.
func (x *Reader) beginsElement() bool {
	return x.pos+1 < len(x.Data) && class[x.Data[x.pos+1]]&isNameStart != 0
}

// IsBlank reports whether a text is white space only.
func IsBlank(text []byte) bool {
	for _, c := range text {
		if class[c]&isSpace == 0 {
			return false
		}
	}
	return true
}

// section reads a CDATA section.
func (x *Reader) section() error {
	start := x.pos + len("<![CDATA[")
	n := bytes.Index(x.Data[start:], []byte("]]>"))
	switch {
	case n < 0:
		return x.Errorf(x.pos, "the CDATA section has no end")
	case len(x.open) == 0:
		return x.Errorf(x.pos, "text outside of the document's element")
	}
	end := start + n
	if n > MaxSpelled {
		return x.Wrap(start, "", ErrTooLong)
	}
	x.pos = end + len("]]>")
	x.Text, x.Blank, x.literal = x.Data[start:end], false, true
	if bytes.IndexByte(x.Text, '\r') >= 0 {
		x.Text = bytes.ReplaceAll(x.Text, []byte("\r\n"), []byte("\n"))
		x.Text = bytes.ReplaceAll(x.Text, []byte("\r"), []byte("\n"))
	}
	return x.noControls(start, end)
}

// unfold decodes references and the ends of lines: CRLF and CR become LF, and in an
// attribute's value all white space that is no reference becomes a space.
func (x *Reader) unfold(from, to int, attribute bool) ([]byte, error) {
	begin := len(x.scratch)
	for i := from; i < to; i++ {
		c := x.Data[i]
		if c == '&' {
			n, err := x.reference(i, to)
			if err != nil {
				return nil, err
			}
			i += n - 1
			continue
		}
		if c == '\r' {
			if i+1 < to && x.Data[i+1] == '\n' {
				continue
			}
			c = '\n'
		}
		if attribute && class[c]&isSpace != 0 {
			c = ' '
		}
		x.scratch = append(x.scratch, c)
	}
	return x.scratch[begin:len(x.scratch):len(x.scratch)], nil
}

// reference appends the character for the reference at i to scratch, and returns the length
// of the reference.
func (x *Reader) reference(i, to int) (n int, err error) {
	ref := x.Data[i:to]
	if x.scratch, n = appendReference(x.scratch, ref); n > 0 {
		return n, nil
	}
	end := endOfReference(ref)
	if end < 0 {
		return 0, x.Errorf(i, "& begins a reference, which has no end: want &amp; for the character")
	}
	return 0, x.Errorf(i, "the reference %s stands for no character", ref[:end+1])
}

// endOfReference returns where the semicolon of a reference at the start of a text is, or -1.
func endOfReference(text []byte) int {
	const longest = 64 // leading zeros are allowed; nobody writes many
	return bytes.IndexByte(text[:min(len(text), longest)], ';')
}

// appendReference appends the character for the reference at the start of a text, and returns the length
// of the reference, or 0 if there is none.
func appendReference(dst, text []byte) (_ []byte, length int) {
	end := endOfReference(text)
	if end < 0 {
		return dst, 0
	}
	switch name := text[1:end]; string(name) {
	case "lt":
		dst = append(dst, '<')
	case "gt":
		dst = append(dst, '>')
	case "amp":
		dst = append(dst, '&')
	case "quot":
		dst = append(dst, '"')
	case "apos":
		dst = append(dst, '\'')
	default:
		r, ok := numbered(string(name))
		if !ok {
			return dst, 0
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst, end + 1
}

// numbered returns the character of a numeric reference.
func numbered(name string) (rune, bool) {
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	r := rune(n)
	switch {
	case err != nil || n > utf8.MaxRune || !utf8.ValidRune(r),
		r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0xfffe, r == 0xffff:
		return 0, false
	}
	return r, true
}
