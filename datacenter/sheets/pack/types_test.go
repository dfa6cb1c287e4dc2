package pack_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/pack"
	"lorefs/datacenter/sheets/xsd"
)

// small returns a folder of sheets with everything that decides on types and keys.
func small() map[string]string {
	return map[string]string{
		"S/S-00000.xml": `<S id="7"><A i="1" f="1" b="true" s="x" n="007"/><A i="-2" f="0.5" b="false" s="" n="8"/></S>`,
		"S/S-00001.xml": `<S id="8"><A f="1E-05"/><B i="x"/></S>`,
	}
}

// types returns the types of all attributes of the nodes of a name, as text.
func types(t *testing.T, f *datacenter.File, name string) string {
	t.Helper()
	var all []string
	var walk func(n datacenter.Node)
	walk = func(n datacenter.Node) {
		start := len(all)
		for a, err := range n.Attributes() {
			if err != nil {
				t.Fatal(err)
			}
			if n.Name() == name {
				text, err := a.AppendText(nil)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, fmt.Sprintf("%s:%v=%s", a.Name(), a.Type(), text))
			}
		}
		slices.Sort(all[start:])
		if n.Name() == name && len(n.Keys()) > 0 {
			all = append(all, fmt.Sprintf("keys=%v", n.Keys()))
		}
		for c, err := range n.Children() {
			if err != nil {
				t.Fatal(err)
			}
			walk(c)
		}
	}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	walk(root)
	return strings.Join(all, " ")
}

func TestPackInfersTypes(t *testing.T) {
	f, report := mustPack(t, folder(small()), pack.Options{})
	want := "b:bool=true f:float=1 i:int=1 n:string=007 s:string=x " +
		"b:bool=false f:float=0.5 i:int=-2 n:string=8 s:string= f:float=1E-05"
	if got := types(t, f, "A"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := types(t, f, "B"); got != "i:string=x" {
		t.Errorf("another path: %s", got)
	}
	if !slices.Equal(report.Inferred, []string{"S"}) {
		t.Errorf("inferred %v", report.Inferred)
	}
	h := f.Header()
	if h.Timestamp != -1 || h.Revision != 387463 {
		t.Errorf("header %+v: want novadrop's", h)
	}
}

// TestPackInfersFromAllValues checks that types suit all values.
func TestPackInfersFromAllValues(t *testing.T) {
	for _, tt := range []struct {
		values []string
		want   datacenter.Type
	}{
		{[]string{"0", "-1", "2147483647", "-2147483648"}, datacenter.Int},
		{[]string{"0", "2147483648"}, datacenter.String},
		{[]string{"0", "-0"}, datacenter.Float},
		{[]string{"1", "01"}, datacenter.String},
		{[]string{"1", "+1"}, datacenter.String},
		{[]string{"1", " 1"}, datacenter.String},
		{[]string{"1", ""}, datacenter.String},
		{[]string{"16777217", "0.5"}, datacenter.String}, // no float is 16777217
		{[]string{"16777216", "0.5"}, datacenter.Float},
		{[]string{"0.5", "256.000000"}, datacenter.String},
		{[]string{"NaN", "Infinity", "-Infinity", "1E+09"}, datacenter.Float},
		{[]string{"INF"}, datacenter.String},
		{[]string{"true", "false"}, datacenter.Bool},
		{[]string{"true", "1"}, datacenter.String},
		{[]string{"True"}, datacenter.String},
	} {
		files := map[string]string{}
		for i, v := range tt.values {
			files[fmt.Sprintf("S-%d.xml", i)] = `<S a="` + v + `"/>`
		}
		f, _ := mustPack(t, folder(files), pack.Options{})
		var want []string
		for _, v := range tt.values {
			if value, err := datacenter.ParseValue(tt.want, v); err == nil {
				v = value.Text()
			}
			want = append(want, fmt.Sprintf("a:%v=%s", tt.want, v))
		}
		if got := types(t, f, "S"); got != strings.Join(want, " ") {
			t.Errorf("%v: %s, want %s", tt.values, got, want)
		}
	}
}

const smallSchema = `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:dc="https://vezel.dev/novadrop/dc">
<xsd:element name="S" type="S"/>
<xsd:complexType name="S"><xsd:sequence><xsd:element name="A" type="S_A"/></xsd:sequence><xsd:attribute name="id" type="xsd:int"/></xsd:complexType>
<xsd:complexType name="S_A" dc:keys="i"><xsd:attribute name="i" type="xsd:float"/><xsd:attribute name="f" type="xsd:float"/></xsd:complexType>
</xsd:schema>`

// TestPackTakesTypesInOrder checks that the element precedes the schema, that the template,
// and that the values.
func TestPackTakesTypesInOrder(t *testing.T) {
	files := small()
	files["S/S.xsd"] = smallSchema
	files["S/S-00001.xml"] = `<S xmlns:dc="urn:lorefs:dc" id="256"><A i="1" n="1" dc:types="i:string n:string" dc:keys="n"/><A f="256.000000" dc:flags="1"/><A f=" INF "/></S>`
	template, err := xsd.Read("template", []byte(strings.NewReplacer(`"i" type="xsd:float"`, `"b" type="xsd:string"`,
		`"f" type="xsd:float"`, `"f" type="xsd:string"`, `dc:keys="i"`, `dc:keys="f"`).Replace(smallSchema)))
	if err != nil {
		t.Fatal(err)
	}
	asked := "" // once, though two goroutines need it
	f, report := mustPack(t, folder(files), pack.Options{Template: func(sheet string) (*xsd.Schema, error) {
		asked += sheet
		return template, nil
	}})
	// Siblings are sorted by their keys, and those without i come first.
	want := "b:string=false f:float=0.5 i:float=-2 n:string=8 s:string= keys=i " +
		"b:string=true f:float=1 i:float=1 n:string=007 s:string=x keys=i " +
		"f:float=256 keys=i f:float=Infinity keys=i i:string=1 n:string=1 keys=n"
	if got := types(t, f, "A"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if asked != "S" || len(report.Inferred) > 0 {
		t.Errorf("template asked for %q, inferred %v", asked, report.Inferred)
	}
}

// TestPackAsksTemplateLate checks that a template is asked only for what the schemas lack, and then
// knows the types and keys of it.
func TestPackAsksTemplateLate(t *testing.T) {
	template, err := xsd.Read("template", []byte(strings.NewReplacer(
		`"i" type="xsd:float"`, `"y" type="xsd:string"`, `name="A"`, `name="C"`, `dc:keys="i"`, `dc:keys="y"`,
	).Replace(smallSchema)))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for _, tt := range []struct{ sheet, node, types string }{
		{`<S><A i="1" f="2"/></S>`, "A", "f:float=2 i:float=1 keys=i"},
		{`<S><A i="1" f="2"/><C y="1" f="2"/></S>`, "C", "f:float=2 y:string=1 keys=y"},
	} {
		asked := 0
		opts := pack.Options{Template: func(string) (*xsd.Schema, error) { asked++; return template, nil }}
		files := folder(map[string]string{"S/S.xsd": smallSchema, "S/S-0.xml": tt.sheet, "S/S-1.xml": tt.sheet})
		f, _ := mustPack(t, files, opts)
		if got := types(t, f, tt.node); got != tt.types+" "+tt.types {
			t.Errorf("%s: %s, want twice %s", tt.sheet, got, tt.types)
		}
		needed := tt.node == "C"
		if asked > 0 != needed {
			t.Errorf("%s: asked %d times", tt.sheet, asked)
		}
		opts.Template = func(string) (*xsd.Schema, error) { return nil, broken }
		if _, err := pack.Pack(t.Context(), files, io.Discard, opts); errors.Is(err, broken) != needed {
			t.Errorf("%s: with a template that fails: %v", tt.sheet, err)
		}
	}
}

// TestPackSchemasOfFolders checks that sheets of one name in two folders may have a schema
// in one of them.
func TestPackSchemasOfFolders(t *testing.T) {
	f, report := mustPack(t, folder(map[string]string{
		"1/S-0.xml": `<S><A i="1" f="2" x="3"/></S>`, "1/S.xsd": smallSchema,
		"2/S-0.xml":    `<S><A i="1" f="x" x="4.5"/></S>`,
		"2/other.xml":  "not a sheet by its name",
		"2/.S-0.xml":   "an editor's",
		".git/S-0.xml": "not to be seen",
		"README":       "",
	}), pack.Options{})
	want := "f:float=2 i:float=1 x:float=3 keys=i f:string=x i:int=1 x:float=4.5"
	if got := types(t, f, "A"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !slices.Equal(report.Inferred, []string{"S"}) || !slices.Equal(report.Ignored, []string{".git", "2/.S-0.xml", "2/other.xml", "README"}) {
		t.Errorf("%+v", report)
	}
}
