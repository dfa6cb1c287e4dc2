package sheets

import "lorefs/datacenter"

// tagKinds are an element and the names and types of the attributes of a tag, as they are stored.
type tagKinds struct {
	el    *element
	kinds []uint32
}

func (t *tagKinds) set(el *element, words []datacenter.AttributeWord) {
	t.el, t.kinds = el, t.kinds[:0]
	for _, w := range words {
		t.kinds = append(t.kinds, w.Kind())
	}
}

// matches reports whether a tag of an element has attributes of these kinds.
func (t *tagKinds) matches(el *element, words []datacenter.AttributeWord) bool {
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
