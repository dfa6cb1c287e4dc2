package dctree

import (
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/nodes/overlay"
)

// textName is the attribute that holds a node's text, a string.
const textName = "__value__"

// maxContent is the largest content of a file: no value is longer, with each of
// its characters three bytes and a newline behind.
const maxContent = 3<<20 + 1

// trimNewline takes off what a file has behind its value.
func trimNewline(text string) string { return strings.TrimSuffix(text, "\n") }

// valueOf reads a value from the content of a file. Type 0 is not known.
func valueOf(t datacenter.Type, data string) (v datacenter.Value, err error) {
	text := trimNewline(data)
	if t == 0 {
		v, err = datacenter.InferValue(text)
	} else {
		v, err = datacenter.ParseValue(t, text)
	}
	if err != nil {
		return v, refusal(err)
	}
	return v, nil
}

// noteOf is the type that was noted of a file: what setfattr(1) said before there was a value,
// or what an attribute had before it was scratch; 0 is nothing.
func noteOf(note any) datacenter.Type {
	t, _ := note.(datacenter.Type)
	return t
}

// typeAt is the type that the value of a file has to have at a place; 0 is any: that of the
// attribute, else the one that it had before it was removed, else the one that
// it has elsewhere on the path.
func (e *edits) typeAt(dir edit.Number, name string) (datacenter.Type, error) {
	if name == textName {
		return datacenter.String, nil
	}
	if d, ok := e.draft.Attribute(dir, name); ok {
		return e.storedType(&d)
	}
	if t := e.typeBefore(attributeKey{dir, name}); t != 0 {
		return t, nil
	}
	t, _, err := e.draft.TypeOnPath(dir, name)
	return t, refusal(err)
}

// storedType is the type of an attribute of the draft.
func (e *edits) storedType(d *edit.Entry) (datacenter.Type, error) {
	if t := d.Value.Type(); t != 0 {
		return t, nil
	}
	a, err := e.file.Attribute(d.Addr)
	return a.Type(), wrap(err)
}

// typeBefore is the type of an attribute that was removed, 0 if none was.
func (e *edits) typeBefore(k attributeKey) datacenter.Type {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.types[k]
}

// Refuse implements [overlay.Valued].
func (e *edits) Refuse(to overlay.Place, begin []byte, from overlay.From) error {
	t := noteOf(from.Note)
	if t == 0 {
		k, _, err := e.keyAt(to)
		if err == nil {
			t, err = e.typeAt(k.node, k.name)
		}
		if err != nil {
			return err
		}
	}
	if t == 0 || t == datacenter.String {
		return nil
	}
	return hopeless(t, string(begin))
}

// hopeless is the error of a text that begins in a way in which no value of the
// type does. A line of nothing is taken for a value that is missing: shells write
// it for a variable that is not set, and look at no error but this.
func hopeless(t datacenter.Type, begin string) error {
	const spaces = " \t\n\v\f\r" // space around a number does not matter
	_, err := datacenter.ParseValue(t, begin)
	text := strings.TrimLeft(begin, spaces)
	if begin == "\n" && err != nil {
		return refusal(err)
	}
	if err == nil || text == "" || (!strings.ContainsRune(spaces, rune(text[len(text)-1])) && mayGrow(t, text)) {
		return nil
	}
	return refusal(err)
}

// mayGrow tells whether a text that is no value of the type may become one by what
// follows it.
func mayGrow(t datacenter.Type, text string) bool {
	switch t {
	case datacenter.Int:
		return text == "-" || text == "+"
	case datacenter.Bool:
		return strings.HasPrefix("true", text) || strings.HasPrefix("false", text)
	}
	other := func(r rune) bool { return !strings.ContainsRune("0123456789abcdefintxyABCDEFINTXY+-.()", r) }
	return !strings.ContainsFunc(text, other)
}
