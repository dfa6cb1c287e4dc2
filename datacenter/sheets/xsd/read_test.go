package xsd_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/datacenter/sheets/xsd"
)

// xsdOf wraps the inside of an xsd:schema.
func xsdOf(inside string) string {
	return `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:dc="https://vezel.dev/novadrop/dc"` +
		` xmlns:l="urn:lorefs:dc" xmlns="https://vezel.dev/novadrop/dc/S" targetNamespace="https://vezel.dev/novadrop/dc/S">` + "\n" + inside + "\n</xsd:schema>"
}

// novadropSchema has the form of novadrop-dc's schemas.
const novadropSchema = `<!-- SPDX-License-Identifier: 0BSD -->

<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"
            xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
            xmlns:dc="https://vezel.dev/novadrop/dc"
            xmlns="https://vezel.dev/novadrop/dc/S"
            targetNamespace="https://vezel.dev/novadrop/dc/S"
            xsi:schemaLocation="https://vezel.dev/novadrop/dc ../DataCenter.xsd"
            elementFormDefault="qualified">
    <xsd:complexType name="S"
                     dc:keys="id rank">
        <xsd:sequence>
            <xsd:element name="Text" type="S_Text" minOccurs="0" maxOccurs="unbounded" />
            <xsd:element name="Node" type="S_Node" maxOccurs="2" />
        </xsd:sequence>

        <xsd:attribute name="rank" type="xsd:float" />
        <xsd:attribute name="id" type="xsd:int" use="required" />
        <xsd:attribute name="이름" type="xsd:string" use="optional" />
    </xsd:complexType>

    <xsd:complexType name="S_Text">
        <xsd:simpleContent>
            <xsd:extension base="xsd:string">
                <xsd:attribute name="on" type="xsd:boolean" use="required" />
            </xsd:extension>
        </xsd:simpleContent>
    </xsd:complexType>

    <xsd:complexType name="S_Node" mixed="true">
        <xsd:sequence>
            <xsd:element name="Node" type="S_Node" minOccurs="0" />
        </xsd:sequence>
    </xsd:complexType>

    <xsd:element name="S" type="S" />
</xsd:schema>
`

func TestReadSchema(t *testing.T) {
	s, err := xsd.Read("S.xsd", []byte(novadropSchema))
	if err != nil {
		t.Fatal(err)
	}
	r := s.Root
	if s.Sheet != "S" || r.Name != "S" || !slices.Equal(r.Keys, datacenter.KeyDefinition{"id", "rank"}) || r.Text {
		t.Errorf("sheet %q, root %+v", s.Sheet, r)
	}
	want := []xsd.AttributeType{{"id", datacenter.Int, true}, {"rank", datacenter.Float, false}, {"이름", datacenter.String, false}}
	if !slices.Equal(r.Attributes, want) {
		t.Errorf("attributes %v, want %v", r.Attributes, want)
	}
	text, ok := r.Child("Text")
	if !ok || text.Min != 0 || text.Max != xsd.Unbounded || !text.Type.Text || len(text.Type.Children) > 0 {
		t.Errorf("Text %+v", text)
	}
	if on, ok := text.Type.Attribute("on"); !ok || on.Type != datacenter.Bool || !on.Required {
		t.Errorf("on %+v", on)
	}
	node, ok := r.Child("Node")
	if !ok || node.Min != 1 || node.Max != 2 || !node.Type.Text {
		t.Errorf("Node %+v", node)
	}
	if below, ok := node.Type.Child("Node"); !ok || below.Type != node.Type || below.Min != 0 || below.Max != 1 {
		t.Errorf("Node in Node %+v", below)
	}
	if len(r.Children) != 2 || r.Children[0].Name != "Node" {
		t.Errorf("children %+v: want them by name", r.Children)
	}
}

func TestReadSchemaForms(t *testing.T) {
	for _, tt := range []struct{ name, inside, want string }{
		{"types declared in elements", `<xsd:element name="S"><xsd:complexType><xsd:sequence><xsd:element name="A" type="xsd:string"/>` +
			`</xsd:sequence><xsd:attribute name="a" type="xsd:int"/></xsd:complexType></xsd:element>`, "S(a:int A(text))"},
		{"used before it is declared", `<xsd:element name="S" type="T"/><xsd:complexType name="T"/>`, "S()"},
		{"what says nothing here", `<xsd:import namespace="urn:x" schemaLocation="x.xsd"/><xsd:annotation><xsd:documentation>text <b xmlns="urn:b"/></xsd:documentation></xsd:annotation>` +
			`<xsd:element name="S" type="S"/><xsd:complexType name="S"><xsd:annotation/><xsd:anyAttribute processContents="lax"/></xsd:complexType>`, "S()"},
		{"keys", `<xsd:element name="S" type="S"/><xsd:complexType name="S" dc:keys=" a  b "/>`, "S(keys=a,b)"},
		{"names that look escaped", `<xsd:element name="_x0031_" type="S"/><xsd:complexType name="S"/>`, "_x0031_()"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := xsd.Read("S.xsd", []byte(xsdOf(tt.inside)))
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(s.Sheet, s.Root); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
	escaped := strings.Replace(xsdOf(`<xsd:element name="_x0031_" type="S"/><xsd:complexType name="S" dc:keys="a_x0020_b _x_">`+
		`<xsd:attribute name="a_x0020_b" type="xsd:int"/></xsd:complexType>`), "<xsd:schema", `<xsd:schema l:names="escaped"`, 1)
	s, err := xsd.Read("S.xsd", []byte(escaped))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := describe(s.Sheet, s.Root), "1(keys=a b, a b:int)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// describe returns a schema that is not recursive as text.
func describe(name string, e *xsd.ElementType) string {
	var parts []string
	if len(e.Keys) > 0 {
		parts = append(parts, "keys="+strings.Join(e.Keys, ","))
	}
	if e.Text {
		parts = append(parts, "text")
	}
	for _, a := range e.Attributes {
		parts = append(parts, fmt.Sprintf("%s:%v", a.Name, a.Type))
	}
	for _, c := range e.Children {
		parts = append(parts, describe(c.Name, c.Type))
	}
	return name + "(" + strings.Join(parts, " ") + ")"
}

func TestReadSchemaErrors(t *testing.T) {
	const good = `<xsd:element name="S" type="S"/>`
	for _, tt := range []struct{ name, inside, at, what string }{
		{"another type", good + "\n" + `<xsd:complexType name="S"><xsd:attribute name="a" type="xsd:long"/></xsd:complexType>`, "3:57", `"a" is of type "xsd:long"`},
		{"a type of another namespace", good + `<xsd:complexType name="S"><xsd:attribute name="a" type="int"/></xsd:complexType>`, "2:89", `want xsd:int`},
		{"no type", good + `<xsd:complexType name="S"><xsd:attribute name="a"/></xsd:complexType>`, "2:60", "has no type"},
		{"no name", good + `<xsd:complexType name="S"><xsd:attribute type="xsd:int"/></xsd:complexType>`, "2:60", "has no name"},
		{"no such name", good + `<xsd:complexType name="S"><xsd:attribute name="1" type="xsd:int"/></xsd:complexType>`, "2:80", "may not be in a name"},
		{"another use", good + `<xsd:complexType name="S"><xsd:attribute name="a" type="xsd:int" use="prohibited"/></xsd:complexType>`, "2:98", "want required or optional"},
		{"an attribute twice", good + `<xsd:complexType name="S"><xsd:attribute name="a" type="xsd:int"/><xsd:attribute name="a" type="xsd:int"/></xsd:complexType>`, "2:120", "twice"},
		{"a type twice", good + `<xsd:complexType name="S"/><xsd:complexType name="S"/>`, "2:83", "declared twice"},
		{"a type that is not there", good, "2:20", `"S" of the element "S" is not declared`},
		{"a child's type that is not there", good + `<xsd:complexType name="S"><xsd:sequence>` + "\n" + `<xsd:element name="A" type="S_A"/></xsd:sequence></xsd:complexType>`, "3:20", "not declared"},
		{"a child twice", good + `<xsd:complexType name="S"><xsd:sequence><xsd:element name="A" type="S"/>` + "\n" + `<xsd:element name="A" type="S"/></xsd:sequence></xsd:complexType>`, "3:20", "twice"},
		{"two sheets", good + `<xsd:element name="T" type="S"/>`, "2:34", "a second element"},
		{"no sheet", `<xsd:complexType name="S"/>`, "3:14", "no element"},
		{"a choice", good + `<xsd:complexType name="S"><xsd:choice/></xsd:complexType>`, "2:60", "not understood"},
		{"what is not of XML Schema", good + `<element/>`, "2:34", "not understood"},
		{"text", good + `x`, "2:33", "text"},
		{"text in a new line", good + "\n\t x", "3:3", "text"},
		{"occurrences", good + `<xsd:complexType name="S"><xsd:sequence><xsd:element name="A" type="S" maxOccurs="many"/></xsd:sequence></xsd:complexType>`, "2:104", "want a number"},
		{"occurrences of a sequence", good + `<xsd:complexType name="S"><xsd:sequence maxOccurs="2"/></xsd:complexType>`, "2:60", "not understood"},
		{"text that is a number", good + `<xsd:complexType name="S"><xsd:simpleContent><xsd:extension base="xsd:int"/></xsd:simpleContent></xsd:complexType>`, "2:93", "xsd:string"},
		{"five keys", good + `<xsd:complexType name="S" dc:keys="a b c d e"/>`, "2:68", "there can be 4"},
		{"depth", strings.Repeat("<xsd:annotation>", 200), "2:2033", "nest deeper"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := xsd.Read("S.xsd", []byte(xsdOf(tt.inside)))
			if err == nil {
				t.Fatal("no error")
			}
			if prefix := "sheets: S.xsd:" + tt.at + ": "; !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), tt.what) {
				t.Errorf("%v: want %s%s", err, prefix, tt.what)
			}
		})
	}
	_, err := xsd.Read("S.xsd", []byte("<schema/>"))
	if e, ok := errors.AsType[*xmltext.SyntaxError](err); !ok || !strings.Contains(e.What, "want xsd:schema") {
		t.Errorf("%v: want a SyntaxError", err)
	}
}
