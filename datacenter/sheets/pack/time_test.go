package pack_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/testneeds"
)

// TestLargeTagsAreRead reads sheets with many of something, in time that grows with their
// size: each took minutes when names were searched one by one.
func TestLargeTagsAreRead(t *testing.T) {
	testneeds.Slow(t, "reads tags of 60,000 attributes")
	const many = 60_000
	each := func(format string) string {
		var s strings.Builder
		for i := range many {
			fmt.Fprintf(&s, format, i)
		}
		return s.String()
	}
	optional := each(`<xsd:element name="e%d" type="L" minOccurs="0"/>`)
	attrs := each(`<xsd:attribute name="a%d" type="xsd:int"/>`)
	schema := `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"><xsd:element name="S" type="S"/>` +
		`<xsd:complexType name="S"><xsd:sequence><xsd:element name="N" type="N" maxOccurs="unbounded"/></xsd:sequence></xsd:complexType>` +
		`<xsd:complexType name="N"><xsd:sequence>` + optional + `</xsd:sequence>` + attrs + `</xsd:complexType>` +
		`<xsd:complexType name="L"/></xsd:schema>`
	for what, sheet := range map[string]string{
		"prefixes": "<S" + each(` xmlns:p%d="u"`) + ">" + each("<p%d:A/>") + "</S>",
		"types":    "<S " + dc + each(` a%d="1"`) + ` dc:types="` + each("a%d:int ") + `"/>`,
		"schema":   "<S>" + strings.Repeat("<N/>", many) + "</S>",
		"children": "<S><N>" + each("<e%d/>") + "</N></S>",
	} {
		t.Run(what, func(t *testing.T) {
			start := time.Now()
			files := map[string]string{"S-0.xml": sheet}
			if what == "schema" || what == "children" {
				files["S.xsd"] = schema
			}
			if _, err := pack.Pack(t.Context(), folder(files), io.Discard, pack.Options{}); err != nil {
				t.Error(err)
			}
			err := pack.Validate(t.Context(), folder(files), func(p pack.Problem) error {
				if p.Refused {
					return errors.New(p.String())
				}
				return nil
			})
			if took := time.Since(start); err != nil || took > time.Minute {
				t.Errorf("%v after %v", err, took)
			}
		})
	}
}

// TestManyPrefixes checks that prefixes mean what the innermost element says, however many
// there are.
func TestManyPrefixes(t *testing.T) {
	var outer, inner strings.Builder
	for i := range 20 {
		fmt.Fprintf(&outer, ` xmlns:p%d="urn:none"`, i)
		fmt.Fprintf(&inner, ` xmlns:p%d="urn:lorefs:dc"`, i)
	}
	text := "<S" + outer.String() + ` p3:flags="x"><A` + inner.String() + ` p3:flags="1"><B p4:flags="1"/></A><C p4:flags="x"/></S>`
	f, _ := mustPack(t, folder(map[string]string{"S-0.xml": text}), pack.Options{})
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := byName(root)
	if err != nil {
		t.Fatal(err)
	}
	below, err := byName(nodes["S"][0])
	if err != nil {
		t.Fatal(err)
	}
	if a, c := below["A"][0].Flags(), below["C"][0].Flags(); a != 1 || c != 0 {
		t.Errorf("flags %d and %d: want 1 and 0", a, c)
	}
}
