package xmltext

import (
	"bytes"
	"slices"

	"lorefs/internal/shown"
)

// The namespaces of undeclared prefixes.
const (
	spaceXML   = "http://www.w3.org/XML/1998/namespace"
	spaceXMLNS = "http://www.w3.org/2000/xmlns/"
)

// fewSpaces is how many bindings are faster to search in a list than in a map.
const fewSpaces = 6

// declareSpaces handles the namespaces that a start tag declares, and xml:space.
func (x *Reader) declareSpaces() error {
	for i := range x.Attrs {
		a := &x.Attrs[i]
		if a.Name.Prefix == 0 && string(a.Name.Full) == "xmlns" {
			x.bind(nil, string(a.Value))
			continue
		}
		switch string(a.Name.space()) {
		case "xmlns":
			prefix := a.Name.Local()
			if len(a.Value) == 0 || string(prefix) == "xml" || string(prefix) == "xmlns" {
				return x.Errorf(a.At, "%s declares nothing", shown.Quote(a.Name.Full))
			}
			x.bind(prefix, string(a.Value))
		case "xml":
			if string(a.Name.Local()) == "space" {
				x.open[len(x.open)-1].preserve = string(a.Value) == "preserve"
			}
		}
	}
	return nil
}

// bind binds a prefix to a namespace in the innermost element.
func (x *Reader) bind(prefix []byte, uri string) {
	before := x.bound(prefix)
	x.spaces = append(x.spaces, binding{prefix, uri, before})
	switch i := len(x.spaces) - 1; {
	case i == fewSpaces:
		x.spaceAt = make(map[string]int, 2*fewSpaces)
		for i, b := range x.spaces {
			x.spaceAt[string(b.prefix)] = i
		}
	case i > fewSpaces:
		x.spaceAt[string(prefix)] = i
	}
}

// unbind removes all bindings but the first n.
func (x *Reader) unbind(n int) {
	for len(x.spaces) > n {
		last := x.spaces[len(x.spaces)-1]
		x.spaces = x.spaces[:len(x.spaces)-1]
		switch {
		case len(x.spaces) < fewSpaces: // there is no map
		case last.before >= 0:
			x.spaceAt[string(last.prefix)] = last.before
		default:
			delete(x.spaceAt, string(last.prefix))
		}
	}
}

// bound finds the binding of a prefix, or returns -1.
func (x *Reader) bound(prefix []byte) int {
	if len(x.spaces) > fewSpaces {
		if i, ok := x.spaceAt[string(prefix)]; ok {
			return i
		}
		return -1
	}
	for i, b := range slices.Backward(x.spaces) {
		if bytes.Equal(b.prefix, prefix) {
			return i
		}
	}
	return -1
}

// Declares reports whether an attribute declares a namespace.
func (a *Attr) Declares() bool {
	return string(a.Name.Full) == "xmlns" || string(a.Name.space()) == "xmlns"
}

// Resolve returns the namespace of a name with a prefix, or of an element without. at is
// its offset.
func (x *Reader) Resolve(n Name, at int) (string, error) {
	prefix := n.space()
	if i := x.bound(prefix); i >= 0 {
		return x.spaces[i].uri, nil
	}
	switch string(prefix) {
	case "":
		return "", nil
	case "xml":
		return spaceXML, nil
	case "xmlns":
		return spaceXMLNS, nil
	}
	return "", x.Errorf(at, "the prefix %s is not declared", shown.Quote(prefix))
}
