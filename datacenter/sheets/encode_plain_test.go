package sheets_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/xsd"
)

// TestWritePlain checks that a sheet which is written with its family's own schema, by another
// Source, is the usual text, unless that needs the extra namespace.
func TestWritePlain(t *testing.T) {
	plain, others := 0, 0
	for seed := range uint64(12) {
		f := dctest.Open(t, dctest.Build(dctest.Generate(dctest.GenOptions{Seed: seed, Sheets: 12, Nodes: 1500}), dctest.Options{}))
		s, other := newSource(t, f, nil, sheets.Options{}), newSource(t, f, nil, sheets.Options{})
		for _, family := range s.Families() {
			schema, err := family.Schema(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			same, _ := other.Family(family.File)
			outline := same.Outline(schema)
			for sheet := range family.Sheets(0) {
				var want, got bytes.Buffer
				if _, err := s.WriteSheet(t.Context(), &want, sheet); err != nil {
					t.Fatal(err)
				}
				extras := bytes.Contains(want.Bytes(), []byte(` xmlns:dc="`))
				err := other.WritePlain(t.Context(), &got, sheet, outline)
				switch {
				case errors.Is(err, sheets.ErrNotPlain) && extras:
					others++
				case err != nil:
					t.Fatalf("%s %d: %v", sheet.Name, sheet.Ordinal, err)
				case extras, !bytes.Equal(got.Bytes(), want.Bytes()):
					t.Fatalf("%s %d, with extras: %v\n%s, want\n%s", sheet.Name, sheet.Ordinal, extras, &got, &want)
				default:
					plain++
				}
			}
		}
	}
	if plain == 0 || others == 0 {
		t.Errorf("%d plain sheets, %d others: want some of both", plain, others)
	}
}

// TestWritePlainWithOthers checks that a sheet is plain only with a schema that knows all of it,
// whatever was written before.
func TestWritePlainWithOthers(t *testing.T) {
	item := func(attrs ...dctest.Attr) *dctest.Node {
		return &dctest.Node{Name: "Item", Keys: []string{"id"}, Attrs: append([]dctest.Attr{{Name: "id", Value: 1}}, attrs...)}
	}
	own := &xsd.ElementType{Name: "own", Keys: datacenter.KeyDefinition{"id"}, Attributes: []xsd.AttributeType{{Name: "id", Type: datacenter.Int}, {Name: "name", Type: datacenter.String}}}
	with := func(change func(item *xsd.ElementType)) *xsd.Schema {
		changed := *own
		changed.Attributes = slices.Clone(own.Attributes)
		change(&changed)
		return &xsd.Schema{Sheet: "S", Root: &xsd.ElementType{Name: "S", Children: []xsd.ChildType{{Name: "Item", Type: &changed, Max: xsd.Unbounded}}}}
	}
	name := dctest.Attr{Name: "name", Value: "x"}
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(
		&dctest.Node{Name: "S", Children: []*dctest.Node{item(name)}},
		&dctest.Node{Name: "S", Children: []*dctest.Node{item()}},
		&dctest.Node{Name: "S", Children: []*dctest.Node{item(name, dctest.Text("text"))}},
		&dctest.Node{Name: "S", Children: []*dctest.Node{item(dctest.Attr{Name: "name", Value: "\x01"})}},
	)}, dctest.Options{}))
	s := newSource(t, f, nil, sheets.Options{})
	family, _ := s.Family("S")
	for _, tt := range []struct {
		name   string
		change func(item *xsd.ElementType)
		plain  []bool
	}{
		{"all", func(*xsd.ElementType) {}, []bool{true, true, false, false}},
		{"a text", func(e *xsd.ElementType) { e.Text = true }, []bool{true, true, true, false}},
		{"more", func(e *xsd.ElementType) {
			e.Attributes = append(e.Attributes, xsd.AttributeType{Name: "other", Type: datacenter.Int})
		}, []bool{true, true, false, false}},
		{"another type", func(e *xsd.ElementType) { e.Attributes[1].Type = datacenter.Int }, []bool{false, true, false, false}},
		{"an attribute less", func(e *xsd.ElementType) { e.Attributes = e.Attributes[:1] }, []bool{false, true, false, false}},
		{"no keys", func(e *xsd.ElementType) { e.Keys = nil }, []bool{false, false, false, false}},
		{"other keys", func(e *xsd.ElementType) { e.Keys = datacenter.KeyDefinition{"name"} }, []bool{false, false, false, false}},
	} {
		outline := family.Outline(with(tt.change))
		for sheet := range family.Sheets(0) {
			for range 2 { // the second time from what is kept of the first
				err := s.WritePlain(t.Context(), io.Discard, sheet, outline)
				if plain := tt.plain[sheet.Ordinal]; plain != (err == nil) || !plain && !errors.Is(err, sheets.ErrNotPlain) {
					t.Errorf("with %s: sheet %d: %v", tt.name, sheet.Ordinal, err)
				}
			}
		}
	}
	none := family.Outline(&xsd.Schema{Sheet: "S", Root: &xsd.ElementType{Name: "S"}})
	for sheet := range family.Sheets(0) {
		if err := s.WritePlain(t.Context(), io.Discard, sheet, none); !errors.Is(err, sheets.ErrNotPlain) {
			t.Errorf("with no children: sheet %d: %v", sheet.Ordinal, err)
		}
	}
}
