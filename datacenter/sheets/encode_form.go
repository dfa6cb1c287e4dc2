package sheets

import (
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/sheets/internal/vocab"
)

// tagForms remembers the forms of start tags. Most tags of an element have one of few forms: then only
// their values have to be read.
type tagForms []tagForm

// tagForm holds the parts that tags have in common whose attributes have the same names and types, and which
// attributes these are. It has no parts if a tag of the form has to be written another way.
type tagForm struct {
	tagKinds
	parts []formPart
}

// formPart is the text before a value, and the type of the value.
type formPart struct {
	text [maxFormText]byte
	size uint8
	typ  datacenter.Type
}

// formString is the text of a String as it was written last, with the quote behind it, unless its size is 0.
// The same short strings stand in many attributes.
type formString struct {
	bits uint32
	size uint8
	text [maxString]byte
}

const (
	formBits = 12
	// An encoder remembers 1<<stringBits strings of at most maxString bytes. With the rest of a formString,
	// that is a line of the processor's cache for each.
	stringBits, maxString = 13, 59
	// maxFormed is the largest number of attributes of a form: a file can have forms of any size.
	maxFormed = 64
	// maxFormText is the longest text before a value in a form.
	maxFormText = 46
	// partRoom is enough for the text before a value, a number, and the quote behind it.
	partRoom = maxFormText + 34
)

// slot returns the place for the form of a tag with some attributes.
func (f tagForms) slot(el *element, words []form.AttributeWord) *tagForm {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio
	h := uint32(el.id)*31 + uint32(len(words))
	for _, w := range words {
		h += w.Kind()
	}
	return &f[h*spread>>(32-formBits)]
}

// formedTag appends the attributes of a node of the file.
func (e *encoder) formedTag(dst []byte, n *item, el *element) (_ []byte, err error) {
	switch count := n.node.AttributeCount(); {
	case count == 0:
		return dst, nil
	case count > maxFormed:
		return e.storedTag(dst, n, el)
	}
	if e.words, err = n.node.AppendAttributeWords(e.words[:0]); err != nil {
		return dst, err
	}
	f := e.forms.slot(el, e.words)
	if !f.matches(el, e.words) {
		if err := e.form(f, n, el); err != nil {
			return dst, err
		}
	}
	if f.parts == nil {
		return e.storedTag(dst, n, el)
	}
	for i := range f.parts {
		p := &f.parts[i]
		if dst = p.append(dst); p.typ != datacenter.String {
			dst = append(datacenter.AppendNumber(dst, p.typ, e.words[i].Bits()), '"')
			continue
		}
		from := len(dst)
		if text, ok := e.formText(dst, e.words[i]); ok {
			dst = text
			continue
		}
		a, err := n.node.AttributeAt(i)
		if err != nil {
			return dst, err
		}
		if dst, err = e.storedText(dst[:from], &a); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// append appends the text before a value, with room for a number and the quote behind it.
func (p *formPart) append(dst []byte) []byte {
	n := len(dst)
	if cap(dst)-n < partRoom {
		dst = slices.Grow(dst, partRoom)
	}
	// To copy a fixed size is faster. What is too much is overwritten later.
	*(*[maxFormText]byte)(dst[n : n+maxFormText]) = p.text
	return dst[:n+int(p.size)]
}

// formText appends a String that [appendUnits] can append, with the quote behind it.
func (e *encoder) formText(dst []byte, w form.AttributeWord) (out []byte, ok bool) {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio
	s, n := &e.strings[w.Bits()*spread>>(32-stringBits)], len(dst)
	if s.bits == w.Bits() && s.size > 0 {
		if cap(dst)-n < maxString {
			dst = slices.Grow(dst, maxString)
		}
		*(*[maxString]byte)(dst[n : n+maxString]) = s.text
		return dst[:n+int(s.size)], true
	}
	if dst, ok = appendUnits(dst, e.file.Form().UnitsFrom(w)); !ok {
		return dst, false
	}
	dst = append(dst, '"')
	if size := len(dst) - n; size <= maxString {
		s.bits, s.size = w.Bits(), uint8(size)
		copy(s.text[:], dst[n:])
	}
	return dst, true
}

// form checks the attributes of a node, and makes their form.
func (e *encoder) form(f *tagForm, n *item, el *element) (err error) {
	if e.attrs, err = n.node.AppendAttributes(e.attrs[:0], nil); err != nil {
		return err
	}
	f.set(el, e.words)
	f.parts = f.parts[:0]
	for i := range e.attrs {
		a := &e.attrs[i]
		name := vocab.NameID(a.NameIndex())
		e.scratch = e.attributeStart(e.scratch[:0], name, a.Type(), el)
		if name == e.voc.Value || len(e.scratch) > maxFormText || e.tag.plain && el.odd && !e.knows(el, name, a.Type()) {
			f.parts = nil
			break
		}
		p := formPart{size: uint8(len(e.scratch)), typ: a.Type()}
		copy(p.text[:], e.scratch)
		f.parts = append(f.parts, p)
	}
	return nil
}
