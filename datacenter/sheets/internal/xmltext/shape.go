package xmltext

import "bytes"

// Shape is a start tag without the values of its attributes. Most start tags have the shape of another,
// and it takes much less time to find their values than to read them.
type Shape struct {
	// text has the parts around the values, one behind the other, with the quotes. ends are their ends.
	text []byte
	ends []int
}

// Values are the values in a start tag that has a [Shape], until they are used for another. The zero value is
// ready to be used.
type Values struct {
	List [][]byte
	// decoded are those with references.
	decoded []byte
}

// NewShape returns the shape of the last start tag, which [Reader.Plain] must have returned.
func (x *Reader) NewShape() (s Shape) {
	from := x.At
	for i := range x.Attrs {
		s.part(x.Data[from:x.Attrs[i].From])
		from = x.closingQuote(x.Attrs[i].From)
	}
	s.part(x.Data[from:x.pos])
	return s
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

// Match returns the length of the start tag at the start of data, and sets its values, if it has the shape
// and all in its values is a reference or stands for itself. Such a tag means what a tag that was read and has
// the same shape means, but for the values. None of the values is as long as a text that a data center
// can't hold. If the tag has another shape, the length is 0.
func (s *Shape) Match(data []byte, values *Values) (length int) {
	values.List, values.decoded = values.List[:0], values.decoded[:0]
	at, from := 0, 0
	for i, end := range s.ends {
		part := s.text[from:end]
		if len(data)-at < len(part) || string(data[at:at+len(part)]) != string(part) {
			return 0
		}
		at += len(part)
		from = end
		if i == len(s.ends)-1 {
			break
		}
		n := values.add(data[at:])
		if n >= LongText {
			return 0
		}
		at += n
	}
	return at
}

// add adds the value at the start of data, and returns the length of its spelling. A long one is cut off.
func (v *Values) add(data []byte) (length int) {
	data = data[:min(len(data), LongText)]
	n := standing(data)
	if n == len(data) || data[n] != '&' {
		v.List = append(v.List, data[:n])
		return n
	}
	begin, from := len(v.decoded), 0
	for n < len(data) && data[n] == '&' {
		decoded, size := appendReference(append(v.decoded, data[from:n]...), data[n:])
		if size == 0 {
			break // no quote follows, so that the tag does not match
		}
		v.decoded, from = decoded, n+size
		n = from + standing(data[from:])
	}
	v.decoded = append(v.decoded, data[from:n]...)
	v.List = append(v.List, v.decoded[begin:len(v.decoded):len(v.decoded)])
	return n
}

// standing returns how many bytes at the start of a value stand for themselves.
func standing(data []byte) (n int) {
	for _, c := range data {
		if class[c]&isShapeChar == 0 {
			break
		}
		n++
	}
	return n
}
