package xsd_test

import (
	"errors"
	"testing"

	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/datacenter/sheets/xsd"
)

func isParseError(err error) bool {
	if e, ok := errors.AsType[*xmltext.SyntaxError](err); ok {
		return e.Line > 0 && e.Column > 0
	}
	e, ok := errors.AsType[*xmltext.ValueError](err)
	return ok && e.Line > 0 && e.Column > 0
}

// smallSchema has the types in a list.
const smallSchema = `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:dc="https://vezel.dev/novadrop/dc">
<xsd:element name="S" type="S"/>
<xsd:complexType name="S"><xsd:sequence><xsd:element name="A" type="S_A"/></xsd:sequence><xsd:attribute name="id" type="xsd:int"/></xsd:complexType>
<xsd:complexType name="S_A" dc:keys="i"><xsd:attribute name="i" type="xsd:float"/><xsd:attribute name="f" type="xsd:float"/></xsd:complexType>
</xsd:schema>`

// FuzzXSD reads anything as a schema: it must fail with a place, or return a schema that
// packs nothing wrongly for lack of a type.
func FuzzXSD(f *testing.F) {
	f.Add([]byte(novadropSchema))
	f.Add([]byte(smallSchema))
	f.Add([]byte(xsdOf(`<xsd:element name="S"><xsd:complexType><xsd:anyAttribute/></xsd:complexType></xsd:element>`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := xsd.Read("S.xsd", data)
		if err != nil {
			if !isParseError(err) {
				t.Fatalf("%v: want an error with a place", err)
			}
			return
		}
		seen := map[*xsd.ElementType]bool{}
		var check func(e *xsd.ElementType)
		check = func(e *xsd.ElementType) {
			if seen[e] {
				return
			}
			seen[e] = true
			for _, a := range e.Attributes {
				if got, ok := e.Attribute(a.Name); !ok || got != a || a.Type == 0 {
					t.Fatalf("attribute %+v, found %+v", a, got)
				}
			}
			for _, c := range e.Children {
				if got, ok := e.Child(c.Name); !ok || got != c || c.Type == nil {
					t.Fatalf("child %+v, found %+v", c, got)
				}
				check(c.Type)
			}
		}
		check(s.Root)
	})
}
