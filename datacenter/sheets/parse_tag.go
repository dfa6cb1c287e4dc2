package sheets

import (
	"bytes"
	"slices"

	"lorefs/datacenter"
	"lorefs/internal/shown"
)

// startTag reads a start tag, and takes in the namespaces that it declares.
func (x *xmlReader) startTag() error {
	if x.ended {
		return x.errorf(x.pos, "an element behind the document's")
	}
	if len(x.open) == x.maxDepth {
		return x.tooLarge(x.pos, "elements nest deeper than %d", x.maxDepth)
	}
	x.pos++
	var err error
	if x.name, err = x.readName("an element"); err != nil {
		return err
	}
	x.attrs = x.attrs[:0]
	if err := x.attributes(); err != nil {
		return err
	}
	e := openElement{name: x.name.full, at: x.at, bindings: len(x.spaces)}
	e.preserve = len(x.open) > 0 && x.open[len(x.open)-1].preserve
	x.open = append(x.open, e)
	if err := x.checkTwice(); err != nil {
		return err
	}
	if err := x.declareSpaces(); err != nil {
		return err
	}
	if x.name.prefix > 0 {
		_, err = x.resolve(x.name, x.at+1)
	}
	return err
}

// attributes reads what is in a start tag behind the name, and its end.
func (x *xmlReader) attributes() error {
	for {
		start := x.pos
		x.skipSpace()
		if x.pos == len(x.data) {
			return x.errorf(x.pos, "the file ends in the start tag of %s", shown.Quote(x.name.full))
		}
		switch x.data[x.pos] {
		case '>':
			x.pos++
			return nil
		case '/':
			if x.pos+1 == len(x.data) || x.data[x.pos+1] != '>' {
				return x.errorf(x.pos, "/ in a start tag: want /> at its end")
			}
			x.pos += len("/>")
			x.closing = true
			return nil
		}
		if x.pos == start {
			return x.errorf(x.pos, "want white space, > or /> in the start tag of %s", shown.Quote(x.name.full))
		}
		a := xmlAttr{at: x.pos}
		var err error
		if a.name, err = x.readName("an attribute"); err != nil {
			return err
		}
		if err := x.equals(); err != nil {
			return err
		}
		a.from = x.pos + 1
		if a.value, _, err = x.value(); err != nil {
			return err
		}
		a.hash = hashName(a.name.full)
		x.attrs = append(x.attrs, a)
	}
}

// hashName tells most names in a tag apart. It is no more than that.
func hashName(name []byte) uint32 {
	last := len(name) - 1
	return uint32(len(name))<<24 | uint32(name[0])<<16 | uint32(name[last/2])<<8 | uint32(name[last])
}

// checkTwice refuses an attribute that comes twice.
func (x *xmlReader) checkTwice() error {
	const few = 32 // more are sorted, or a large tag would take long
	if len(x.attrs) > few {
		return x.checkSorted()
	}
	for i := range x.attrs {
		a := &x.attrs[i]
		for k := range x.attrs[:i] {
			if x.attrs[k].hash == a.hash && bytes.Equal(x.attrs[k].name.full, a.name.full) {
				return x.errorf(a.at, "the attribute %s comes twice", shown.Quote(a.name.full))
			}
		}
	}
	return nil
}

func (x *xmlReader) checkSorted() error {
	x.sortNames = x.sortNames[:0]
	for i := range x.attrs {
		x.sortNames = append(x.sortNames, int32(i))
	}
	slices.SortStableFunc(x.sortNames, func(i, k int32) int {
		return bytes.Compare(x.attrs[i].name.full, x.attrs[k].name.full)
	})
	for i, n := range x.sortNames[1:] {
		a, before := &x.attrs[n], &x.attrs[x.sortNames[i]]
		if bytes.Equal(a.name.full, before.name.full) {
			return x.errorf(a.at, "the attribute %s comes twice", shown.Quote(a.name.full))
		}
	}
	return nil
}

// readName reads a name, with or without a prefix.
func (x *xmlReader) readName(of string) (xmlName, error) {
	start := x.pos
	if start == len(x.data) || class[x.data[start]]&isNameStart == 0 {
		return xmlName{}, x.errorf(start, "want the name of %s", of)
	}
	n := xmlName{}
	beyond := byte(0)
	i := start
	for ; i < len(x.data) && class[x.data[i]]&isNameChar != 0; i++ {
		c := x.data[i]
		beyond |= c
		if c != ':' {
			continue
		}
		next := i + 1
		if n.prefix > 0 || i == start || next == len(x.data) || class[x.data[next]]&isNameStart == 0 {
			return xmlName{}, x.errorf(i, "a colon in a name: want one between a prefix and a name")
		}
		n.prefix = next - start
	}
	if i-start > maxSpelledName {
		return xmlName{}, x.tooLarge(start, "a name of %d bytes", i-start)
	}
	x.pos = i
	n.full = x.data[start:i]
	if beyond >= 0x80 {
		if bad := badInName(n.full); bad >= 0 {
			return xmlName{}, x.errorf(start+bad, "a character that may not be in a name, or not there")
		}
	}
	return n, nil
}

// equals reads the sign between an attribute's name and value, and what may be
// around it.
func (x *xmlReader) equals() error {
	x.skipSpace()
	if x.pos == len(x.data) || x.data[x.pos] != '=' {
		return x.errorf(x.pos, "want = behind the name of an attribute")
	}
	x.pos++
	x.skipSpace()
	if x.pos == len(x.data) || x.data[x.pos] != '"' && x.data[x.pos] != '\'' {
		return x.errorf(x.pos, "want the value of an attribute, in quotes")
	}
	return nil
}

// value reads a value with its quotes. raw tells that it is a part of the file;
// else it was decoded.
func (x *xmlReader) value() (value []byte, raw bool, err error) {
	quote := x.data[x.pos]
	start := x.pos + 1
	raw = true
	for i := start; ; i++ {
		for i < len(x.data) && class[x.data[i]]&isValueChar != 0 {
			i++
		}
		if i-start > maxSpelled {
			return nil, false, x.wrap(start, "", errTooLong)
		}
		if i == len(x.data) {
			return nil, false, x.errorf(x.pos, "the value has no end")
		}
		switch c := x.data[i]; {
		case c == quote:
			x.pos = i + 1
			if raw {
				return x.data[start:i], true, nil
			}
			value, err = x.unfold(start, i, true)
			return value, false, err
		case c == '&' || class[c]&isSpace != 0:
			raw = false
		case c == '<':
			return nil, false, x.errorf(i, "< in a value: want &lt;")
		case c < ' ':
			return nil, false, x.badControl(i)
		}
	}
}

// tooLarge is an error for what a data center could not hold.
func (x *xmlReader) tooLarge(at int, format string, args ...any) error {
	return x.wrap(at, "", wrapf(datacenter.ErrTooLarge, format, args...))
}

// wrap makes an error of a value one with a place.
func (x *xmlReader) wrap(at int, where string, err error) error {
	line, column := place(x.data, at)
	return &ValueError{File: x.file, Line: line, Column: column, Where: where, Err: err}
}
