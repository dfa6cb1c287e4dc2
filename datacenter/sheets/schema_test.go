package sheets_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/testneeds"
)

// described returns a sheet with everything that a schema can express.
func described() *dctest.Node {
	item := func(id int, more ...attr) *dctest.Node {
		return &dctest.Node{Name: "Item", Keys: []string{"id"}, Attrs: append([]attr{{Name: "id", Value: id}}, more...)}
	}
	return dctest.Root(
		&dctest.Node{Name: "S", Attrs: []attr{{Name: "v", Value: float32(1)}}, Children: []*dctest.Node{
			item(1, attr{Name: "b", Value: true}),
			item(2),
			{Name: "Once", Children: []*dctest.Node{{Name: "Once", Children: []*dctest.Node{{Name: "Leaf"}}}, {Name: "Text", Attrs: []attr{{Name: "a", Value: ""}, dctest.Text("x")}}}},
			{Name: "Mixed", Attrs: []attr{dctest.Text("x")}},
			{Name: "Mixed", Children: []*dctest.Node{{Name: "Leaf"}}},
		}},
		&dctest.Node{Name: "S", Attrs: []attr{{Name: "v", Value: float32(1)}}, Children: []*dctest.Node{item(3)}},
	)
}

func schemaOf(t *testing.T, root *dctest.Node, strategy sheets.Strategy) (*xsd.Schema, string) {
	t.Helper()
	s := newSource(t, openDoc(t, root), nil, sheets.Options{Strategy: strategy})
	schema, err := s.Families()[0].Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return schema, string(schema.AppendXSD(nil))
}

const anyExtra = `<xsd:anyAttribute namespace="urn:lorefs:dc" processContents="lax" />`

// TestSchemaText checks the text of a schema, which is that of novadrop's SchemaCommand.
func TestSchemaText(t *testing.T) {
	_, got := schemaOf(t, described(), sheets.Conservative)
	want := `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:dc="https://vezel.dev/novadrop/dc" ` +
		`xmlns="https://vezel.dev/novadrop/dc/S" targetNamespace="https://vezel.dev/novadrop/dc/S" ` +
		`xsi:schemaLocation="https://vezel.dev/novadrop/dc ../DataCenter.xsd" elementFormDefault="qualified">
    <xsd:complexType name="S">
        <xsd:sequence>
            <xsd:element name="Item" type="S_Item" maxOccurs="unbounded" />
            <xsd:element name="Mixed" type="S_Mixed" minOccurs="0" maxOccurs="unbounded" />
            <xsd:element name="Once" type="S_Once" minOccurs="0" />
        </xsd:sequence>
        <xsd:attribute name="v" type="xsd:float" use="required" />
        ` + anyExtra + `
    </xsd:complexType>
    <xsd:complexType name="S_Item" dc:keys="id">
        <xsd:attribute name="b" type="xsd:boolean" />
        <xsd:attribute name="id" type="xsd:int" use="required" />
        ` + anyExtra + `
    </xsd:complexType>
    <xsd:complexType name="S_Mixed" mixed="true">
        <xsd:sequence>
            <xsd:element name="Leaf" type="S_Mixed_Leaf" minOccurs="0" />
        </xsd:sequence>
        ` + anyExtra + `
    </xsd:complexType>
    <xsd:complexType name="S_Mixed_Leaf">
        ` + anyExtra + `
    </xsd:complexType>
    <xsd:complexType name="S_Once">
        <xsd:sequence>
            <xsd:element name="Once" type="S_Once_Once" />
            <xsd:element name="Text" type="S_Once_Text" />
        </xsd:sequence>
        ` + anyExtra + `
    </xsd:complexType>
    <xsd:complexType name="S_Once_Once">
        <xsd:sequence>
            <xsd:element name="Leaf" type="S_Once_Once_Leaf" />
        </xsd:sequence>
        ` + anyExtra + `
    </xsd:complexType>
    <xsd:complexType name="S_Once_Once_Leaf">
        ` + anyExtra + `
    </xsd:complexType>
    <xsd:complexType name="S_Once_Text">
        <xsd:simpleContent>
            <xsd:extension base="xsd:string">
                <xsd:attribute name="a" type="xsd:string" use="required" />
                ` + anyExtra + `
            </xsd:extension>
        </xsd:simpleContent>
    </xsd:complexType>
    <xsd:element name="S" type="S" />
</xsd:schema>
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAggressiveSchemaIsRecursive checks that an aggressive schema gives a child with the
// name of its parent the parent's type.
func TestAggressiveSchemaIsRecursive(t *testing.T) {
	schema, text := schemaOf(t, described(), sheets.Aggressive)
	once, _ := schema.Root.Child("Once")
	again, ok := once.Type.Child("Once")
	if !ok || again.Type != once.Type || strings.Contains(text, "S_Once_Once") {
		t.Errorf("Once has the child %+v, in\n%s", again, text)
	}
	if leaf, ok := once.Type.Child("Leaf"); !ok || leaf.Min != 0 {
		t.Errorf("Once has the child %+v", leaf)
	}
}

// TestTypesOfOneName checks that paths whose types would have the same name get different
// names.
func TestTypesOfOneName(t *testing.T) {
	_, text := schemaOf(t, dctest.Root(&dctest.Node{Name: "S", Children: []*dctest.Node{
		{Name: "A", Children: []*dctest.Node{{Name: "B_C"}}}, {Name: "A_B", Children: []*dctest.Node{{Name: "C"}}},
	}}), sheets.Conservative)
	for _, name := range []string{"S_A_B_C", "S_A_B_C_2"} {
		if strings.Count(text, `complexType name="`+name+`"`) != 1 {
			t.Errorf("the type %s is not there once in\n%s", name, text)
		}
	}
}

// TestLongTypeNames checks that names of types do not grow with each level. Otherwise a
// chain of long names would make a schema of gigabytes.
func TestLongTypeNames(t *testing.T) {
	name := strings.Repeat("n", 2000)
	chain := &dctest.Node{Name: "Leaf"}
	for range 500 {
		chain = &dctest.Node{Name: name, Children: []*dctest.Node{chain}}
	}
	schema, text := schemaOf(t, dctest.Root(&dctest.Node{Name: "S", Children: []*dctest.Node{chain}}), sheets.Conservative)
	if most := 500 * (len(name) + 2*512 + 500); len(text) > most {
		t.Errorf("the schema has %d bytes: want %d at most", len(text), most)
	}
	seen := map[string]bool{}
	at := schema.Root
	for ; len(at.Children) > 0; at = at.Children[0].Type {
		if seen[at.Name] {
			t.Fatalf("two types are called %q", at.Name)
		}
		seen[at.Name] = true
	}
	if _, err := xsd.Read("S.xsd", []byte(text)); err != nil || len(seen) != 501 {
		t.Errorf("%d types; %v", len(seen), err)
	}
}

// TestSchemaTooLarge checks that a schema which is too large is an error.
func TestSchemaTooLarge(t *testing.T) {
	testneeds.Slow(t, "makes a schema of 256 MiB")
	a, b := strings.Repeat("a", 60_000), strings.Repeat("b", 60_000)
	var below []*dctest.Node
	for range 12 {
		below = []*dctest.Node{{Name: a, Children: below}, {Name: b, Children: below}}
	}
	s := newSource(t, openDoc(t, dctest.Root(&dctest.Node{Name: "S", Children: below})), nil, sheets.Options{})
	if _, err := s.Families()[0].Schema(t.Context()); !errors.Is(err, datacenter.ErrTooLarge) {
		t.Errorf("%v: want %v", err, datacenter.ErrTooLarge)
	}
}

// TestTooManyPaths checks a small file with more paths than fit into memory: those beyond
// the limit share types, and the sheets are correct.
func TestTooManyPaths(t *testing.T) {
	testneeds.Seconds(t)
	below := []*dctest.Node{{Name: "L", Attrs: []attr{{Name: "a", Value: 1}}}}
	for range 17 {
		below = []*dctest.Node{{Name: "A", Children: below}, {Name: "B", Children: below}}
	}
	s := newSource(t, openDoc(t, dctest.Root(&dctest.Node{Name: "S", Children: below})), nil, sheets.Options{})
	sheet, ok := s.Families()[0].Named("S-00000.xml")
	if !ok {
		t.Fatal("the sheet is not there")
	}
	size, err := s.Size(t.Context(), sheet)
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.WriteSheet(t.Context(), &counting{}, sheet)
	if err != nil || n != size {
		t.Errorf("%d bytes were written, %v; the size is %d", n, err, size)
	}
	schema, err := s.Families()[0].Schema(t.Context())
	if err != nil || len(schema.AppendXSD(nil)) == 0 {
		t.Error(err)
	}
}

// counting counts bytes and discards them.
type counting struct{ n int64 }

func (c *counting) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// TestSheetsAreValid checks by xmllint that sheets are valid by their schemas, except for
// values that no schema can describe.
func TestSheetsAreValid(t *testing.T) {
	testneeds.Program(t, "xmllint")
	for _, c := range []struct {
		name string
		src  *sheets.Source
	}{
		{"described", newSource(t, openDoc(t, described()), nil, sheets.Options{})},
		{"aggressive", newSource(t, openDoc(t, described()), nil, sheets.Options{Strategy: sheets.Aggressive})},
		{"extras", newSource(t, openDoc(t, dctest.Root(&dctest.Node{
			Name: "S", Flags: 1, Keys: []string{"a b"}, Attrs: []attr{{Name: "a b", Value: "\x01"}, dctest.Text("x")},
			Children: []*dctest.Node{{Name: "1", Attrs: []attr{{Name: "t", Value: 1}, dctest.Text(" ")}}, {Name: "1", Keys: []string{"t"}, Attrs: []attr{{Name: "t", Value: 2}}}},
		})), nil, sheets.Options{})},
		{"generated", newSource(t, dctest.Open(t, dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 5, Sheets: 30, Nodes: 9000}), dctest.Options{})), nil, sheets.Options{})},
	} {
		t.Run(c.name, func(t *testing.T) { validate(t, c.src, 1) })
	}
}

// TestRealSheetsAreValid checks the same for all real sheets, and for some sheets of each
// name with aggressive schemas.
func TestRealSheetsAreValid(t *testing.T) {
	testneeds.Program(t, "xmllint")
	testneeds.Slow(t, "it takes some seconds")
	f := openFixture(t, "p115_small_x64.dat", datacenter.Options{})
	validate(t, newSource(t, f, nil, sheets.Options{Strategy: sheets.Conservative}), math.MaxUint32)
	validate(t, newSource(t, f, nil, sheets.Options{Strategy: sheets.Aggressive}), 60)
}

// validate runs xmllint on the first sheets of each family.
func validate(t *testing.T, s *sheets.Source, most uint32) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, xsd.CommonFile), []byte(xsd.Common))
	for _, f := range s.Families() {
		schema, err := f.Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		xsd := filepath.Join(dir, f.Name+".xsd")
		write(t, xsd, schema.AppendXSD(nil))
		args := []string{"--noout", "--schema", xsd}
		for sheet := range f.Sheets(0) {
			file := filepath.Join(dir, f.SheetFile(sheet.Ordinal))
			write(t, file, []byte(textOf(t, s, sheet)))
			if sheet.Ordinal < most {
				args = append(args, file)
			}
		}
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "xmllint", args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%.2000s", f.Name, err, out)
		}
	}
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCompareNames checks that names are ordered by UTF-16 units, not by bytes.
func TestCompareNames(t *testing.T) {
	want := []string{"", "A", "B", "a", "aa", "b", "\u00e9", "한", "힣", "\U00010000", "\U0010ffff", "\ue000", "\uff21", "\uffff"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, spell.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}
