package xmltext

import (
	"bytes"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/internal/shown"
)

// startTag reads a start tag, and handles the namespaces that it declares. It passes over an element
// that is known.
func (x *Reader) startTag() (Token, error) {
	if x.ended {
		return 0, x.Errorf(x.pos, "an element behind the document's")
	}
	if len(x.open) == x.MaxDepth {
		return 0, x.TooLarge(x.pos, "elements nest deeper than %d", x.MaxDepth)
	}
	x.Attrs = x.Attrs[:0]
	x.Recalled = false
	if x.Recall != nil {
		switch length, whole := x.Recall(x.pos); {
		case whole:
			x.pos += length
			return WholeElement, nil
		case length > 0:
			x.recalled(length)
			return StartTag, nil
		}
	}
	return StartTag, x.newTag()
}

// newTag reads a start tag that is not known.
func (x *Reader) newTag() (err error) {
	x.pos++
	if x.Name, err = x.readName("an element"); err != nil {
		return err
	}
	if err := x.attributes(); err != nil {
		return err
	}
	x.push()
	if err := x.checkTwice(); err != nil {
		return err
	}
	if err := x.declareSpaces(); err != nil {
		return err
	}
	if x.Name.Prefix > 0 {
		_, err = x.Resolve(x.Name, x.NameAt())
	}
	return err
}

// push opens the element of a start tag.
func (x *Reader) push() {
	e := openElement{name: x.Name.Full, at: x.At, bindings: len(x.spaces)}
	e.preserve = len(x.open) > 0 && x.open[len(x.open)-1].preserve
	x.open = append(x.open, e)
}

// recalled passes over a start tag that is known.
func (x *Reader) recalled(length int) {
	tag := x.Data[x.pos : x.pos+length]
	name := len("<")
	for class[tag[name]]&isNameChar != 0 {
		name++
	}
	x.Name = Name{Full: tag[len("<"):name]}
	x.pos += length
	x.closing = tag[length-len("/>")] == '/'
	x.Recalled = true
	x.push()
}

// Plain returns the last start tag if it means the same wherever it stands: it has no
// prefixes and declares no namespace. Its only > is its end. Otherwise it returns nil.
func (x *Reader) Plain() []byte {
	tag := x.Data[x.At:x.pos]
	if x.Name.Prefix > 0 || bytes.IndexByte(tag, '>') < len(tag)-1 {
		return nil
	}
	for i := range x.Attrs {
		if a := &x.Attrs[i]; a.Name.Prefix > 0 || a.Declares() {
			return nil
		}
	}
	return tag
}

// attributes reads the rest of a start tag behind the name.
func (x *Reader) attributes() error {
	for {
		start := x.pos
		x.skipSpace()
		if x.pos == len(x.Data) {
			return x.Errorf(x.pos, "the file ends in the start tag of %s", shown.Quote(x.Name.Full))
		}
		switch x.Data[x.pos] {
		case '>':
			x.pos++
			return nil
		case '/':
			if x.pos+1 == len(x.Data) || x.Data[x.pos+1] != '>' {
				return x.Errorf(x.pos, "/ in a start tag: want /> at its end")
			}
			x.pos += len("/>")
			x.closing = true
			return nil
		}
		if x.pos == start {
			return x.Errorf(x.pos, "want white space, > or /> in the start tag of %s", shown.Quote(x.Name.Full))
		}
		a := Attr{At: x.pos}
		var err error
		if a.Name, err = x.readName("an attribute"); err != nil {
			return err
		}
		if err := x.equals(); err != nil {
			return err
		}
		a.From = x.pos + 1
		if a.Value, _, err = x.value(); err != nil {
			return err
		}
		a.hash = hashName(a.Name.Full)
		x.Attrs = append(x.Attrs, a)
	}
}

// hashName is a fast hash that differs for most names in a tag.
func hashName(name []byte) uint32 {
	last := len(name) - 1
	return uint32(len(name))<<24 | uint32(name[0])<<16 | uint32(name[last/2])<<8 | uint32(name[last])
}

// checkTwice refuses an attribute that comes twice.
func (x *Reader) checkTwice() error {
	const few = 32 // more are sorted, or a large tag would take long
	if len(x.Attrs) > few {
		return x.checkSorted()
	}
	for i := range x.Attrs {
		a := &x.Attrs[i]
		for k := range x.Attrs[:i] {
			if x.Attrs[k].hash == a.hash && bytes.Equal(x.Attrs[k].Name.Full, a.Name.Full) {
				return x.Errorf(a.At, "the attribute %s comes twice", shown.Quote(a.Name.Full))
			}
		}
	}
	return nil
}

func (x *Reader) checkSorted() error {
	x.sortNames = x.sortNames[:0]
	for i := range x.Attrs {
		x.sortNames = append(x.sortNames, int32(i))
	}
	slices.SortStableFunc(x.sortNames, func(i, k int32) int {
		return bytes.Compare(x.Attrs[i].Name.Full, x.Attrs[k].Name.Full)
	})
	for i, n := range x.sortNames[1:] {
		a, before := &x.Attrs[n], &x.Attrs[x.sortNames[i]]
		if bytes.Equal(a.Name.Full, before.Name.Full) {
			return x.Errorf(a.At, "the attribute %s comes twice", shown.Quote(a.Name.Full))
		}
	}
	return nil
}

// readName reads a name, with or without a prefix.
func (x *Reader) readName(of string) (Name, error) {
	start := x.pos
	if start == len(x.Data) || class[x.Data[start]]&isNameStart == 0 {
		return Name{}, x.Errorf(start, "want the name of %s", of)
	}
	n := Name{}
	beyond := byte(0)
	i := start
	for ; i < len(x.Data) && class[x.Data[i]]&isNameChar != 0; i++ {
		c := x.Data[i]
		beyond |= c
		if c != ':' {
			continue
		}
		next := i + 1
		if n.Prefix > 0 || i == start || next == len(x.Data) || class[x.Data[next]]&isNameStart == 0 {
			return Name{}, x.Errorf(i, "a colon in a name: want one between a prefix and a name")
		}
		n.Prefix = next - start
	}
	if i-start > maxSpelledName {
		return Name{}, x.TooLarge(start, "a name of %d bytes", i-start)
	}
	x.pos = i
	n.Full = x.Data[start:i]
	if beyond >= 0x80 {
		if bad := badInName(n.Full); bad >= 0 {
			return Name{}, x.Errorf(start+bad, "a character that may not be in a name, or not there")
		}
	}
	return n, nil
}

// equals reads the equals sign between an attribute's name and value, and white space
// around it.
func (x *Reader) equals() error {
	x.skipSpace()
	if x.pos == len(x.Data) || x.Data[x.pos] != '=' {
		return x.Errorf(x.pos, "want = behind the name of an attribute")
	}
	x.pos++
	x.skipSpace()
	if x.pos == len(x.Data) || x.Data[x.pos] != '"' && x.Data[x.pos] != '\'' {
		return x.Errorf(x.pos, "want the value of an attribute, in quotes")
	}
	return nil
}

// value reads a value with its quotes. raw is set if it is a slice of the file; else it was
// decoded.
func (x *Reader) value() (value []byte, raw bool, err error) {
	quote := x.Data[x.pos]
	start := x.pos + 1
	raw = true
	for i := start; ; i++ {
		for i < len(x.Data) && class[x.Data[i]]&isValueChar != 0 {
			i++
		}
		if i-start > MaxSpelled {
			return nil, false, x.Wrap(start, "", ErrTooLong)
		}
		if i == len(x.Data) {
			return nil, false, x.Errorf(x.pos, "the value has no end")
		}
		switch c := x.Data[i]; {
		case c == quote:
			x.pos = i + 1
			if raw {
				return x.Data[start:i], true, nil
			}
			value, err = x.unfold(start, i, true)
			return value, false, err
		case c == '&' || class[c]&isSpace != 0:
			raw = false
		case c == '<':
			return nil, false, x.Errorf(i, "< in a value: want &lt;")
		case c < ' ':
			return nil, false, x.badControl(i)
		}
	}
}

// TooLarge returns an error for what a data center could not hold.
func (x *Reader) TooLarge(at int, format string, args ...any) error {
	return x.Wrap(at, "", fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), datacenter.ErrTooLarge))
}

// Wrap adds the place to the error of a value.
func (x *Reader) Wrap(at int, where string, err error) error {
	line, column := Place(x.Data, at)
	return &ValueError{File: x.file, Line: line, Column: column, Where: where, Err: err}
}
