package dctree

import (
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/nodes/overlay"
)

// textName is the attribute that has a node's text, a string.
const textName = "__value__"

// maxContent is the size of the largest file that can be a value: each character of the longest
// value has three bytes, and a newline follows.
const maxContent = 3<<20 + 1

// trimNewline removes the newline behind a value.
func trimNewline(text string) string { return strings.TrimSuffix(text, "\n") }

// valueOf reads a value from the content of a file. Type 0 means that the type is unknown.
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

// typeInExtra returns the type that goes with a file, or 0. It was set by setfattr(1) before the file
// had a value, or is that of an attribute that became scratch.
func typeInExtra(extra any) datacenter.Type {
	t, _ := extra.(datacenter.Type)
	return t
}

// typeAt returns the type that a value has to have at a place; 0 is any. It is the type of the
// attribute, else its type before it was removed, else the type that it has elsewhere on the
// path.
func (e *edits) typeAt(dir edit.Number, name string) (datacenter.Type, error) {
	if name == textName {
		return datacenter.String, nil
	}
	if d, ok := e.draft.Attribute(dir, name); ok {
		return e.storedType(&d)
	}
	return e.typeOfNew(dir, name)
}

// typeFor is typeAt for a text that is put. An attribute that is new, and only has an empty
// string because a shell closes what it then writes, doesn't have to be a string.
func (e *edits) typeFor(k attributeKey, undecided bool) (datacenter.Type, error) {
	if undecided && k.name != textName {
		return e.typeOfNew(k.node, k.name)
	}
	return e.typeAt(k.node, k.name)
}

// typeOfNew is typeAt for a place that has no attribute.
func (e *edits) typeOfNew(dir edit.Number, name string) (datacenter.Type, error) {
	if t := e.typeBefore(attributeKey{dir, name}); t != 0 {
		return t, nil
	}
	if d, ok := e.draft.RemovedAttribute(dir, name); ok {
		return e.storedType(&d)
	}
	t, _, err := e.draft.TypeOnPath(dir, name)
	return t, refusal(err)
}

// storedType returns the type of an attribute of the draft.
func (e *edits) storedType(d *edit.Entry) (datacenter.Type, error) {
	if t := d.Value.Type(); t != 0 {
		return t, nil
	}
	a, err := e.file.Attribute(d.Addr)
	return a.Type(), wrap(err)
}

// typeBefore returns the type of a removed attribute, 0 if none was removed.
func (e *edits) typeBefore(k attributeKey) datacenter.Type {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.types[k]
}

// Refuse implements [overlay.Valued].
func (e *edits) Refuse(to overlay.Place, begin []byte, from overlay.From) error {
	t := typeInExtra(from.Extra)
	if t == 0 {
		k, _, err := e.keyAt(to)
		if err == nil {
			t, err = e.typeFor(k, from.Undecided)
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

// hopeless returns an error if no value of the type begins with this text. An empty line counts
// as a missing value, because shells write one for a variable that is not set, and check the
// error of this write only.
func hopeless(t datacenter.Type, begin string) error {
	const spaces = " \t\n\v\f\r" // space around a number is ignored
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

// mayGrow reports whether a text that is not a value of the type may become one by more text.
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
