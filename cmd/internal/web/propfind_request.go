package web

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	davSpace = "DAV:"
	// maxPropfind is the longest body of a PROPFIND, and maxProps how many properties it may name.
	maxPropfind = 64 << 10
	maxProps    = 256
)

// propfind says which properties a client wants.
type propfind struct {
	// names says that it wants only the names of those that there are. Without names and props it
	// wants all.
	names bool
	props []xml.Name
}

var errPropfind = errors.New("the body is no PROPFIND request")

// parsePropfind parses the body of a request; an empty one wants all properties.
func parsePropfind(body io.Reader) (p propfind, err error) {
	d := xml.NewDecoder(body)
	var path []xml.Name
	for {
		t, err := d.Token()
		switch {
		case err == io.EOF && path == nil: //nolint:errorlint // Token returns io.EOF itself
			return p, nil
		case err != nil:
			return p, fmt.Errorf("%w: %w", errPropfind, err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			path = append(path, t.Name)
			if err := p.element(path); err != nil {
				return p, err
			}
		case xml.EndElement:
			if path = path[:len(path)-1]; len(path) == 0 {
				return p, nil
			}
		case xml.CharData:
			if path == nil && len(bytes.TrimSpace(t)) > 0 {
				return p, fmt.Errorf("%w: it begins with text", errPropfind)
			}
		case xml.Directive:
			return p, fmt.Errorf("%w: it has a document type", errPropfind)
		}
	}
}

// element takes an element of the body, whose names lead to it.
func (p *propfind) element(path []xml.Name) error {
	name := path[len(path)-1]
	switch len(path) {
	case 1:
		if name != (xml.Name{Space: davSpace, Local: "propfind"}) {
			return fmt.Errorf("%w: it begins with %q", errPropfind, name.Local)
		}
	case 2:
		p.names = p.names || name.Space == davSpace && name.Local == "propname"
	case 3:
		if path[1] != (xml.Name{Space: davSpace, Local: "prop"}) {
			return nil
		}
		if !isPropName(name.Local) {
			return fmt.Errorf("%w: %q is no name of a property", errPropfind, name.Local)
		}
		if p.props = append(p.props, name); len(p.props) > maxProps {
			return fmt.Errorf("%w: it names more than %d properties", errPropfind, maxProps)
		}
	}
	return nil
}

// isPropName reports whether a name can be written into an answer as it is. Those of all clients can.
func isPropName(name string) bool {
	for i, c := range name {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789-.", c)) {
			return false
		}
	}
	return name != ""
}
