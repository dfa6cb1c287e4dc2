package xmltext

import "bytes"

// Shape is a start tag without the values of its attributes. Most start tags have the shape of another,
// and it takes much less time to find their values than to read them.
type Shape struct {
	// text has the parts around the values, one behind the other, with the quotes. ends are their ends.
	text []byte
	ends []int
}

// NewShape returns the shape of the last start tag, which [Reader.Plain] must have returned. If a value in
// it has references, ok is false: in files of programs that write them, hardly any tag would match.
func (x *Reader) NewShape() (s Shape, ok bool) {
	if len(x.scratch) > 0 {
		return s, false
	}
	from := x.At
	for i := range x.Attrs {
		s.part(x.Data[from:x.Attrs[i].From])
		from = x.closingQuote(x.Attrs[i].From)
	}
	s.part(x.Data[from:x.pos])
	return s, true
}

func (s *Shape) part(text []byte) {
	s.text = append(s.text, text...)
	s.ends = append(s.ends, len(s.text))
}

// closingQuote returns where the quote behind a value is.
func (x *Reader) closingQuote(from int) int {
	return from + bytes.IndexByte(x.Data[from:], x.Data[from-1])
}

// Equal reports whether two shapes are the same.
func (s *Shape) Equal(t *Shape) bool {
	return bytes.Equal(s.text, t.text) && len(s.ends) == len(t.ends)
}

// Match returns the length of the start tag at the start of data, and appends its values to some, if it has
// the shape and all of its values stand for themselves. Such a tag means what a tag that was read and has
// the same shape means, but for the values. None of the values is as long as a text that a data center
// can't hold.
func (s *Shape) Match(data []byte, values [][]byte) (_ [][]byte, length int, ok bool) {
	at, from := 0, 0
	for i, end := range s.ends {
		part := s.text[from:end]
		if len(data)-at < len(part) || string(data[at:at+len(part)]) != string(part) {
			return values, 0, false
		}
		at += len(part)
		from = end
		if i == len(s.ends)-1 {
			break
		}
		n := 0
		for _, c := range data[at:] {
			if class[c]&isShapeChar == 0 {
				break
			}
			n++
		}
		if n >= LongText {
			return values, 0, false
		}
		values = append(values, data[at:at+n])
		at += n
	}
	return values, at, true
}
