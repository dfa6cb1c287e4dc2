package pack

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lorefs/datacenter/internal/spell"
)

// nameOrder returns the order of names in novadrop's writer, which is also that of
// attributes and of children: a walk over all kinds, at each its own name, the names of its
// keys, those of its other attributes, and then its children; each group ignores case, and
// is in the order of first sight where that makes no difference. It restores the order of
// official files for all but a few of their attributes.
func nameOrder(sheets []*kind) []string {
	o := nameList{seen: map[string]bool{}}
	o.children(sheets)
	return o.names
}

type nameList struct {
	names []string
	seen  map[string]bool
}

func (o *nameList) add(name string) {
	if !o.seen[name] {
		o.seen[name] = true
		o.names = append(o.names, name)
	}
}

func (o *nameList) kind(p *kind) {
	o.add(p.name)
	for _, key := range slices.SortedFunc(maps.Keys(p.keyNames), func(a, b string) int {
		return cmp.Or(compareFold(a, b), spell.Compare(a, b))
	}) {
		o.add(key)
	}
	attrs := slices.Clone(p.attrs)
	slices.SortFunc(attrs, func(a, b kindAttr) int {
		return cmp.Or(compareFold(a.name, b.name), cmp.Compare(a.order, b.order))
	})
	for _, a := range attrs {
		o.add(a.name)
	}
	o.children(p.children)
}

func (o *nameList) children(kinds []*kind) {
	kinds = slices.Clone(kinds)
	slices.SortFunc(kinds, func(a, b *kind) int {
		return cmp.Or(compareFold(a.name, b.name), cmp.Compare(a.order, b.order))
	})
	for _, p := range kinds {
		o.kind(p)
	}
}

// compareFold compares names as .NET's OrdinalIgnoreCase does: by UTF-16 units, each
// converted to upper case.
func compareFold(a, b string) int {
	return spell.Compare(strings.Map(upper, a), strings.Map(upper, b))
}

// upper returns the upper case of a character. Like .NET it maps no character beyond ASCII
// to an ASCII letter.
func upper(r rune) rune {
	if u := unicode.ToUpper(r); r < utf8.RuneSelf || u >= utf8.RuneSelf {
		return u
	}
	return r
}
