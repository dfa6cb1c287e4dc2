package sheets

import (
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/vocab"
)

// tagWriter is the state for one start tag, besides its text.
type tagWriter struct {
	// root is true for the tag of the sheet itself.
	root bool
	// extras says that the tag may need attributes of the extra namespace.
	extras bool
	// plain says that a tag which would need them is an error. base then tells the elements of
	// this sheet from those of others, in the caches of texts.
	plain bool
	base  int
	// learner learns the schema from the tags; it may be nil.
	learner *learner
	// found collects what tags need of their sheet, since it was last set to 0.
	found findings
	// types and escaped are the values of dc:types and dc:escaped.
	types, escaped []byte
	// value is the __value__, escaped for its place.
	value    []byte
	hasValue bool
	// hint is the likely place of the next attribute in the element.
	hint int
}

// findings say what tags need of their sheet: a namespace, or escaped names.
type findings uint8

const (
	// foundExtras means that the sheet needs the extra namespace.
	foundExtras findings = 1 << iota
	// foundNames means that its names must be escaped.
	foundNames
)

// startTag appends the start tag of a node, or the whole element if it has no children.
func (e *encoder) startTag(dst []byte, n *item, el *element, parent bool) ([]byte, error) {
	t := &e.tag
	t.types, t.escaped, t.value, t.hasValue, t.hint = t.types[:0], t.escaped[:0], t.value[:0], false, 0
	name := e.voc.Spelling(n.name)
	if t.extras && name.Escaped {
		t.found |= foundNames
	}
	if t.plain && (name.Escaped || n.node.Flags() != 0 || e.voc.StoredKeys(n.node) != el.keys) {
		return dst, ErrNotPlain
	}
	dst = append(dst, '<')
	dst = append(dst, name.Element...)
	if t.root {
		dst = appendRootStart(dst, name)
	}
	dst, err := e.attributes(dst, n, el)
	if err != nil {
		return dst, err
	}
	inTag := false // whether the value is in the tag
	if t.hasValue {
		if t.plain && (parent || blank(t.value) || !el.text) {
			return dst, ErrNotPlain
		}
		inTag = t.extras && (parent || blank(t.value))
		t.valueText(e, inTag)
	}
	if t.plain && len(t.escaped) > 0 {
		return dst, ErrNotPlain
	}
	if t.root && t.found&foundNames != 0 {
		dst = t.append(dst, "names", []byte("escaped"))
	}
	if t.extras {
		dst = e.appendExtras(dst, n, el, inTag)
	}
	if t.root {
		dst = appendRootEnd(dst, name, t.found)
	}
	if t.learner != nil {
		t.learner.node(el, t.hasValue && !parent)
	}
	switch {
	case parent:
		return append(dst, '>'), nil
	case !t.hasValue || inTag:
		return append(dst, " />"...), nil
	}
	dst = append(dst, '>')
	dst = append(dst, t.value...)
	dst = append(dst, "</"...)
	dst = append(dst, name.Element...)
	return append(dst, '>'), nil
}

// attributes appends the attributes, and sets value.
func (e *encoder) attributes(dst []byte, n *item, el *element) ([]byte, error) {
	if n.draft != nil {
		return e.draftTag(dst, n.draft, el)
	}
	switch {
	case e.tag.extras:
		return e.storedTag(dst, n, el)
	case n.node.SharesAttributes():
		return e.sharedTag(dst, n, el)
	}
	return e.formedTag(dst, n, el)
}

// sharedTag appends the attributes of a node of the file that shares them with others: mostly, they were
// written before. A value and escaped names are no part of the text, so runs with them are not kept.
func (e *encoder) sharedTag(dst []byte, n *item, el *element) ([]byte, error) {
	if e.tags.slots == nil {
		e.tags = newTextCache(tagTextBits, tagTexts)
	}
	key := e.textKey(n.node.AttributeRun(), 0, el)
	if text := e.tags.get(key); text != nil {
		return append(dst, text...), nil
	}
	from := len(dst)
	dst, err := e.formedTag(dst, n, el)
	if t := &e.tag; err == nil && !t.hasValue && len(t.escaped) == 0 {
		e.tags.keep(key, dst[from:])
	}
	return dst, err
}

// storedTag appends the attributes of a node of the file.
func (e *encoder) storedTag(dst []byte, n *item, el *element) ([]byte, error) {
	value := e.voc.Value
	var err error
	if e.attrs, err = n.node.AppendAttributes(e.attrs[:0], nil); err != nil {
		return dst, err
	}
	for i := range e.attrs {
		a := &e.attrs[i]
		name := vocab.NameID(a.NameIndex())
		if name == value {
			e.tag.hasValue = true
			if e.tag.value, err = a.AppendText(e.tag.value[:0]); err != nil {
				return dst, err
			}
			continue
		}
		if e.tag.plain && el.odd && !e.knows(el, name, a.Type()) {
			return dst, ErrNotPlain
		}
		if dst, err = e.storedAttribute(dst, a, el); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// storedAttribute appends an attribute of the file.
func (e *encoder) storedAttribute(dst []byte, a *datacenter.Attribute, el *element) ([]byte, error) {
	return e.storedText(e.attributeStart(dst, vocab.NameID(a.NameIndex()), a.Type(), el), a)
}

// storedText appends the value of an attribute of the file, with the quote behind it.
func (e *encoder) storedText(dst []byte, a *datacenter.Attribute) ([]byte, error) {
	from := len(dst)
	dst, err := a.AppendText(dst)
	if err != nil {
		return dst, err
	}
	if a.Type() == datacenter.String {
		dst = e.attributeText(dst, from, vocab.NameID(a.NameIndex()))
	}
	return append(dst, '"'), nil
}

// knows reports whether an attribute is in its element with a type, and its name is not escaped.
func (e *encoder) knows(el *element, name vocab.NameID, typ datacenter.Type) bool {
	i, ok := el.attribute(name, e.tag.hint)
	e.tag.hint = i + 1
	_, escaped := e.voc.Spelling(name).Attribute()
	return ok && el.attrs[i].typ == typ && !escaped
}

// draftTag appends the attributes of a node of a draft.
func (e *encoder) draftTag(dst []byte, d *draftItem, el *element) ([]byte, error) {
	var err error
	if d.value != nil {
		e.tag.hasValue = true
		if e.tag.value, err = d.value.AppendText(e.tag.value[:0]); err != nil {
			return dst, err
		}
	}
	for i := range d.attrs {
		a := &d.attrs[i]
		dst = e.attributeStart(dst, a.Name, a.Type(), el)
		from := len(dst)
		if dst, err = a.AppendText(dst); err != nil {
			return dst, err
		}
		if a.Type() == datacenter.String {
			dst = e.attributeText(dst, from, a.Name)
		}
		dst = append(dst, '"')
	}
	return dst, nil
}

// attributeStart appends an attribute up to its value.
func (e *encoder) attributeStart(dst []byte, name vocab.NameID, typ datacenter.Type, el *element) []byte {
	t := &e.tag
	spelled, escaped := e.voc.Spelling(name).Attribute()
	if t.extras {
		if escaped {
			t.found |= foundNames
		}
		if t.learner != nil {
			t.learner.attribute(el, name, typ, t.hint)
		}
		i, ok := el.attribute(name, t.hint)
		t.hint = i + 1
		if !ok || el.attrs[i].typ != typ {
			t.types = append(append(append(appendItem(t.types), spelled...), ':'), typ.String()...)
		}
	}
	dst = append(dst, ' ')
	dst = append(dst, spelled...)
	return append(dst, `="`...)
}

// appendItem begins another item of a list.
func appendItem(list []byte) []byte {
	if len(list) > 0 {
		list = append(list, ' ')
	}
	return list
}

// attributeText escapes the value of an attribute, which is dst from from on.
func (e *encoder) attributeText(dst []byte, from int, name vocab.NameID) []byte {
	dst, holds := e.escapeTail(dst, from, attributeText)
	if !holds {
		spelled, _ := e.voc.Spelling(name).Attribute()
		e.tag.escaped = append(appendItem(e.tag.escaped), spelled...)
	}
	return dst
}

// valueText escapes the __value__ for its place.
func (t *tagWriter) valueText(e *encoder, inTag bool) {
	classes := elementText
	if inTag {
		classes = attributeText
	}
	var holds bool
	if t.value, holds = e.escapeTail(t.value, 0, classes); !holds {
		t.escaped = append(appendItem(t.escaped), spell.ValueName...)
	}
}

// appendExtras appends the attributes of the extra namespace, with dc:value if the value is
// in the tag.
func (e *encoder) appendExtras(dst []byte, n *item, el *element, valueInTag bool) []byte {
	t, flags, keys := &e.tag, datacenter.KeyFlags(0), vocab.KeyID(0)
	if n.draft != nil {
		flags, keys = n.draft.flags, n.draft.keys
	} else {
		flags, keys = n.node.Flags(), e.voc.StoredKeys(n.node)
	}
	if t.learner != nil {
		t.learner.keys(el, keys)
	}
	if valueInTag {
		dst = t.append(dst, "value", t.value)
	}
	if flags != 0 {
		dst = t.append(dst, "flags", strconv.AppendUint(nil, uint64(flags), 10))
	}
	if keys != el.keys {
		k := e.voc.KeySpelling(keys)
		if k.Escaped {
			t.found |= foundNames
		}
		dst = t.append(dst, "keys", []byte(k.Text))
	}
	if len(t.types) > 0 {
		dst = t.append(dst, "types", t.types)
	}
	if len(t.escaped) > 0 {
		dst = t.append(dst, "escaped", t.escaped)
	}
	return dst
}

// append appends an attribute of the extra namespace.
func (t *tagWriter) append(dst []byte, name string, value []byte) []byte {
	t.found |= foundExtras
	dst = append(dst, " dc:"...)
	dst = append(dst, name...)
	dst = append(dst, `="`...)
	dst = append(dst, value...)
	return append(dst, '"')
}

func appendRootStart(dst []byte, name *spell.Spelling) []byte {
	dst = append(dst, ` xmlns:xsi="`+spell.SpaceInstance+`" xsi:schemaLocation="`+spell.SpaceNovadrop+"/"...)
	dst = append(dst, name.Element...)
	dst = append(dst, ' ')
	dst = append(dst, name.Element...)
	return append(dst, `.xsd"`...)
}

func appendRootEnd(dst []byte, name *spell.Spelling, found findings) []byte {
	if found != 0 {
		dst = append(dst, ` xmlns:dc="`+spell.SpaceLore+`"`...)
	}
	dst = append(dst, ` xmlns="`+spell.SpaceNovadrop+"/"...)
	dst = append(dst, name.Element...)
	return append(dst, '"')
}
