package sheets

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/internal/xmltext"
)

// Element is a node with all below it, apart from any file: a piece of a sheet that says
// its types and keys itself, since no schema is beside it.
type Element struct {
	Name string
	// Attributes are those of the node, __value__ among them.
	Attributes []ElementAttribute
	Keys       datacenter.KeyDefinition
	Flags      datacenter.KeyFlags
	Children   []*Element
}

// ElementAttribute is an attribute of an [Element].
type ElementAttribute struct {
	Name  string
	Value datacenter.Value
}

// Value gives the attribute called name; it has no type if there is none.
func (e *Element) Value(name string) datacenter.Value {
	for i := range e.Attributes {
		if e.Attributes[i].Name == name {
			return e.Attributes[i].Value
		}
	}
	return datacenter.Value{}
}

// Entries is how many nodes and attributes there are in it.
func (e *Element) Entries() int64 {
	n := 1 + int64(len(e.Attributes))
	for _, c := range e.Children {
		n += c.Entries()
	}
	return n
}

// AppendElement appends an element as XML: a sheet's, but that the prefix dc is not
// declared, that dc:keys is there for all keys, dc:types for each type but the one that
// [datacenter.InferValue] finds, and that each element begins a line and has no other.
func AppendElement(dst []byte, e *Element) []byte {
	return e.append(dst, 0, e.needsEscapes())
}

// needsEscapes tells whether a name in e is none that XML allows.
func (e *Element) needsEscapes() bool {
	bad := func(name string) bool {
		s := spell.Name(name)
		_, escaped := s.Attribute()
		return escaped
	}
	return bad(e.Name) || slices.ContainsFunc(e.Keys, bad) ||
		slices.ContainsFunc(e.Attributes, func(a ElementAttribute) bool { return bad(a.Name) }) ||
		slices.ContainsFunc(e.Children, (*Element).needsEscapes)
}

// attributeName spells the name of an attribute.
func attributeName(name string) string {
	if name == spell.ValueName {
		return name
	}
	s := spell.Name(name)
	spelled, _ := s.Attribute()
	return spelled
}

// append appends the element at a depth; escaped tells that its names are.
func (e *Element) append(dst []byte, depth int, escapedNames bool) []byte {
	for range depth {
		dst = append(dst, indentation...)
	}
	dst = append(dst, '<')
	dst = append(dst, spell.EscapeName(e.Name)...)
	var types, escaped, value []byte
	hasValue := false
	for i := range e.Attributes {
		a := &e.Attributes[i]
		text := a.Value.Text()
		if a.Name != spell.ValueName {
			dst = append(append(append(dst, ' '), attributeName(a.Name)...), `="`...)
			if inferred, err := datacenter.InferValue(text); err != nil || inferred != a.Value {
				types = append(append(append(appendItem(types), attributeName(a.Name)...), ':'), a.Value.Type().String()...)
			}
		}
		spelled, holds := escapeText([]byte(text), attributeText)
		if !holds {
			escaped = append(appendItem(escaped), attributeName(a.Name)...)
		}
		if a.Name == spell.ValueName {
			value, hasValue = spelled, true
			continue
		}
		dst = append(append(dst, spelled...), '"')
	}
	if depth == 0 && escapedNames {
		dst = append(dst, ` dc:names="escaped"`...)
	}
	inTag := hasValue && (len(e.Children) > 0 || blank([]byte(e.Value(spell.ValueName).Text())))
	dst = e.appendExtras(dst, value, inTag, types, escaped)
	switch {
	case len(e.Children) > 0:
		dst = append(dst, ">\n"...)
		for _, c := range e.Children {
			dst = c.append(dst, depth+1, escapedNames)
		}
		for range depth {
			dst = append(dst, indentation...)
		}
	case !hasValue || inTag:
		return append(dst, " />\n"...)
	default:
		dst = append(append(dst, '>'), value...)
	}
	dst = append(append(dst, "</"...), spell.EscapeName(e.Name)...)
	return append(dst, ">\n"...)
}

// appendExtras appends what the attributes of the data don't say.
func (e *Element) appendExtras(dst, value []byte, inTag bool, types, escaped []byte) []byte {
	add := func(name string, text []byte) {
		dst = append(append(append(append(append(dst, " dc:"...), name...), `="`...), text...), '"')
	}
	if inTag {
		add("value", value)
	}
	if e.Flags != 0 {
		add("flags", strconv.AppendUint(nil, uint64(e.Flags), 10))
	}
	if len(e.Keys) > 0 {
		var keys []byte
		for _, k := range e.Keys {
			keys = append(appendItem(keys), spell.EscapeName(k)...)
		}
		add("keys", keys)
	}
	if len(types) > 0 {
		add("types", types)
	}
	if len(escaped) > 0 {
		add("escaped", escaped)
	}
	return dst
}

// escapeText spells a text as [encoder.escapeTail] does.
func escapeText(text []byte, classes *byteClasses) (spelled []byte, holds bool) {
	e := encoder{}
	return e.escapeTail(text, 0, classes)
}

// ElementTypes says what the text of an element may leave out. A path has the names from that of the element
// down to a node. No type and no keys are returned for what is not known.
type ElementTypes interface {
	Type(path []string, attribute string) (datacenter.Type, error)
	Keys(path []string) (datacenter.KeyDefinition, error)
}

// untyped knows nothing.
type untyped struct{}

func (untyped) Type([]string, string) (datacenter.Type, error)  { return 0, nil }
func (untyped) Keys([]string) (datacenter.KeyDefinition, error) { return nil, nil }

// ParseElement reads what [AppendElement] writes. Without dc:keys and dc:types, keys and types are those that
// are known, and types that are not known are inferred. The name of the file is for errors, which
// are a [SyntaxError] or a [ValueError] and have lines of data. known may be nil.
func ParseElement(file string, data []byte, known ElementTypes) (*Element, error) {
	if known == nil {
		known = untyped{}
	}
	end := 1 // of the first name
	for end < len(data) && bytes.IndexByte([]byte(" \t\r\n/>"), data[end]) < 0 {
		end++
	}
	if len(data) == 0 || data[0] != '<' || end == len(data) {
		return nil, &xmltext.SyntaxError{File: file, Line: 1, Column: 1, What: "want an element"}
	}
	declared := slices.Concat(data[:end], []byte(` xmlns:dc="`+spell.SpaceLore+`"`), data[end:])
	p, err := xmlsheet.New(file, declared)
	if err != nil {
		return nil, err
	}
	var open []*Element
	var path []string
	var root *Element
	for {
		event, err := p.Next()
		if errors.Is(err, io.EOF) {
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		if event == xmlsheet.Begin {
			path = append(path, string(p.Node().Name))
			e, err := beginElement(p, path, known)
			if err != nil {
				return nil, err
			}
			if len(open) > 0 {
				parent := open[len(open)-1]
				parent.Children = append(parent.Children, e)
			} else {
				root = e
			}
			open = append(open, e)
			continue
		}
		e := open[len(open)-1]
		open = open[:len(open)-1]
		if text, ok := p.Text(); ok {
			v, err := textValue(string(text), path, known)
			if err != nil {
				return nil, p.Wrong(p.TextOffset(), "", err)
			}
			e.Attributes = append(e.Attributes, ElementAttribute{spell.ValueName, v})
		}
		path = path[:len(path)-1]
	}
}

// textValue returns the value of an element's text, which is a string unless something else is known.
func textValue(text string, path []string, known ElementTypes) (datacenter.Value, error) {
	t, err := known.Type(path, spell.ValueName)
	if err != nil {
		return datacenter.Value{}, err
	}
	return datacenter.ParseValue(cmp.Or(t, datacenter.String), text)
}

// beginElement makes an element of the node that began, which is the last of path.
func beginElement(p *xmlsheet.Parser, path []string, known ElementTypes) (_ *Element, err error) {
	n := p.Node()
	e := &Element{Name: string(n.Name), Flags: n.Flags, Keys: n.Keys}
	if !n.HasKeys {
		if e.Keys, err = known.Keys(path); err != nil {
			return nil, err
		}
	}
	if len(e.Keys) == 0 {
		e.Keys = nil
	}
	for i := range n.Attributes {
		a := &n.Attributes[i]
		t := a.Type
		if t == 0 {
			if t, err = known.Type(path, string(a.Name)); err != nil {
				return nil, err
			}
		}
		var v datacenter.Value
		if t == 0 {
			v, err = datacenter.InferValue(string(a.Value))
		} else {
			v, err = datacenter.ParseValue(t, string(a.Value))
		}
		if err != nil {
			return nil, p.Wrong(a.Offset, fmt.Sprintf("%s %s", n.Name, a.Name), err)
		}
		e.Attributes = append(e.Attributes, ElementAttribute{string(a.Name), v})
	}
	return e, nil
}
