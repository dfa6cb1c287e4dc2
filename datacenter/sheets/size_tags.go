package sheets

import (
	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
)

// tagSizes caches the sizes of start tags. Many nodes of one path share their attributes,
// and so their tag, and the schema learns nothing from the second one. Tags with a text are
// not cached, since its place depends on more.
type tagSizes []tagSlot

// tagKey is everything that a tag of a node of the file depends on.
type tagKey struct {
	run    datacenter.Run
	elem   int32
	keys   uint16
	flags  datacenter.KeyFlags
	parent bool
	used   bool
}

type tagSlot struct {
	key   tagKey
	found findings
	size  int32
}

const (
	tagBits  = 15
	tagSlots = 1 << tagBits
)

// measures prepares an encoder for measuring sheets of a family.
func (e *encoder) measures() {
	e.tag.extras = true
	if e.tagSizes == nil {
		e.tagSizes = make(tagSizes, tagSlots)
	}
	clear(e.tagSizes) // these may be of another family
}

// slot returns the slot for the size of a tag, and the tag's key.
func (s tagSizes) slot(n datacenter.Node, el *element, parent bool) (*tagSlot, tagKey) {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio
	key := tagKey{
		run: n.AttributeRun(), elem: int32(el.id), keys: n.KeyIndex(), flags: n.Flags(), parent: parent, used: true,
	}
	h := (key.run.First*31 + uint32(key.elem)) * spread
	return &s[h>>(32-tagBits)], key
}

// tagKinds are an element and the names and types of the attributes of a tag, as they are stored.
type tagKinds struct {
	el    *element
	kinds []uint32
}

func (t *tagKinds) set(el *element, words []form.AttributeWord) {
	t.el, t.kinds = el, t.kinds[:0]
	for _, w := range words {
		t.kinds = append(t.kinds, w.Kind())
	}
}

// matches reports whether a tag of an element has attributes of these kinds.
func (t *tagKinds) matches(el *element, words []form.AttributeWord) bool {
	if t.el != el || len(t.kinds) != len(words) {
		return false
	}
	for i, w := range words {
		if t.kinds[i] != w.Kind() {
			return false
		}
	}
	return true
}
