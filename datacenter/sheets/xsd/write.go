package xsd

import (
	_ "embed"
	"fmt"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
)

// Common is DataCenter.xsd, to which all schemas refer for dc:keys, an attribute of
// novadrop's. The text of the file is our own.
//
//go:embed DataCenter.xsd
var Common string

// CommonFile is the name of the file that all schemas refer to.
const CommonFile = "DataCenter.xsd"

var xsdTypes = map[datacenter.Type]string{
	datacenter.Int: "xsd:int", datacenter.Float: "xsd:float", datacenter.String: "xsd:string", datacenter.Bool: "xsd:boolean",
}

// AppendXSD appends the schema as an XML schema, as novadrop-dc's schema command writes it,
// except that attributes of the extra namespace may be anywhere.
func (s *Schema) AppendXSD(dst []byte) []byte {
	w := xsdWriter{dst: dst, written: map[*ElementType]bool{}}
	sheet := spell.Name(s.Sheet)
	w.names(s.Root)
	clear(w.written)
	extra := ""
	if w.escaped || sheet.Escaped {
		extra = ` xmlns:lorefs="` + spell.SpaceLore + `" lorefs:names="escaped"`
	}
	uri := spell.SpaceNovadrop + "/" + sheet.Element
	w.line(0, `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="%s" xmlns:dc="%s"%s xmlns="%s" targetNamespace="%s" `+
		`xsi:schemaLocation="%s ../%s" elementFormDefault="qualified">`, spell.SpaceInstance, spell.SpaceNovadrop, extra, uri, uri, spell.SpaceNovadrop, CommonFile)
	w.element(s.Root)
	w.line(1, `<xsd:element name="%s" type="%s" />`, sheet.Element, s.Root.Name)
	w.line(0, "</xsd:schema>")
	return w.dst
}

// xsdWriter appends lines.
type xsdWriter struct {
	dst     []byte
	written map[*ElementType]bool
	// escaped is set if XML does not allow some name.
	escaped bool
}

func (w *xsdWriter) line(depth int, format string, args ...any) {
	for range depth {
		w.dst = append(w.dst, "    "...)
	}
	w.dst = fmt.Appendf(w.dst, format, args...)
	w.dst = append(w.dst, '\n')
}

// names looks for names that must be escaped.
func (w *xsdWriter) names(e *ElementType) {
	if w.written[e] || w.escaped {
		return
	}
	w.written[e] = true
	for _, a := range e.Attributes {
		w.attributeName(a.Name)
	}
	for _, key := range e.Keys {
		w.attributeName(key)
	}
	for _, c := range e.Children {
		s := spell.Name(c.Name)
		w.escaped = w.escaped || s.Escaped
		w.names(c.Type)
	}
}

func (w *xsdWriter) attributeName(name string) string {
	s := spell.Name(name)
	spelled, escaped := s.Attribute()
	w.escaped = w.escaped || escaped
	return spelled
}

// element writes a type, then those of its children that are not written yet.
func (w *xsdWriter) element(e *ElementType) {
	w.written[e] = true
	head := fmt.Sprintf(`<xsd:complexType name="%s"`, e.Name)
	if len(e.Keys) > 0 {
		head += fmt.Sprintf(` dc:keys="%s"`, w.keys(e.Keys))
	}
	if e.Text && len(e.Children) > 0 {
		head += ` mixed="true"`
	}
	w.line(1, "%s>", head)
	if len(e.Children) > 0 {
		w.sequence(e)
	}
	if e.Text && len(e.Children) == 0 {
		w.line(2, "<xsd:simpleContent>")
		w.line(3, `<xsd:extension base="xsd:string">`)
		w.attributes(e, 4)
		w.line(3, "</xsd:extension>")
		w.line(2, "</xsd:simpleContent>")
	} else {
		w.attributes(e, 2)
	}
	w.line(1, "</xsd:complexType>")
	for _, c := range e.Children {
		if !w.written[c.Type] {
			w.element(c.Type)
		}
	}
}

func (w *xsdWriter) keys(def datacenter.KeyDefinition) string {
	keys := make([]string, len(def))
	for i, key := range def {
		keys[i] = w.attributeName(key)
	}
	return strings.Join(keys, " ")
}

func (w *xsdWriter) sequence(e *ElementType) {
	w.line(2, "<xsd:sequence>")
	for _, c := range e.Children {
		s := spell.Name(c.Name)
		occurs := ""
		if c.Min == 0 {
			occurs = ` minOccurs="0"`
		}
		if c.Max == Unbounded {
			occurs += ` maxOccurs="unbounded"`
		}
		w.line(3, `<xsd:element name="%s" type="%s"%s />`, s.Element, c.Type.Name, occurs)
	}
	w.line(2, "</xsd:sequence>")
}

func (w *xsdWriter) attributes(e *ElementType, depth int) {
	for _, a := range e.Attributes {
		use := ""
		if a.Required {
			use = ` use="required"`
		}
		w.line(depth, `<xsd:attribute name="%s" type="%s"%s />`, w.attributeName(a.Name), xsdTypes[a.Type], use)
	}
	w.line(depth, `<xsd:anyAttribute namespace="%s" processContents="lax" />`, spell.SpaceLore)
}
