package sheets_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets"
)

func openDoc(t testing.TB, root *dctest.Node) *datacenter.File {
	t.Helper()
	return dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{}))
}

// texts returns all sheets and schemas by the names of their files.
func texts(t testing.TB, s *sheets.Source) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range s.Families() {
		for sheet := range f.Sheets(0) {
			all[f.File+"/"+f.SheetFile(sheet.Ordinal)] = textOf(t, s, sheet)
		}
		schema, err := f.Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Count() > 0 {
			all[f.File+"/"+f.SchemaFile()] = string(schema.AppendXSD(nil))
		}
	}
	return all
}

func textOf(t testing.TB, s *sheets.Source, sheet sheets.Sheet) string {
	t.Helper()
	var text bytes.Buffer
	n, err := s.WriteSheet(t.Context(), &text, sheet)
	if err != nil {
		t.Fatalf("%s %d: %v", sheet.Name, sheet.Ordinal, err)
	}
	size, err := s.Size(t.Context(), sheet)
	if err != nil || size != n || n != int64(text.Len()) {
		t.Errorf("%s %d: %d bytes were written, %d counted, the size is %d, %v", sheet.Name, sheet.Ordinal, text.Len(), n, size, err)
	}
	return text.String()
}

const head = ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="https://vezel.dev/novadrop/dc/S S.xsd"`

const tail = ` xmlns="https://vezel.dev/novadrop/dc/S"`

const extra = ` xmlns:dc="urn:lorefs:dc"`

type attr = dctest.Attr

// TestSheetText checks sheets against texts that follow from the package's documentation,
// not from its output.
func TestSheetText(t *testing.T) {
	for _, c := range []struct {
		name string
		s    *dctest.Node
		want string
	}{
		{"empty", &dctest.Node{}, "<S" + head + tail + " />\n"},
		{"values", &dctest.Node{Attrs: []attr{
			{Name: "i", Value: -7},
			{Name: "f", Value: float32(0.5)},
			{Name: "g", Value: float32(1e9)},
			{Name: "h", Value: float32(1e-5)},
			{Name: "inf", Value: float32(math.Inf(1))},
			{Name: "b", Value: true},
			{Name: "s", Value: "x"},
		}}, "<S" + head + ` b="true" f="0.5" g="1E+09" h="1E-05" i="-7" inf="Infinity" s="x"` + tail + " />\n"},
		{"markup", &dctest.Node{
			Attrs: []attr{{Name: "a", Value: "<&>\"'\n\t\r\u00e9\ud55c"}},
			Children: []*dctest.Node{
				{Name: "T", Attrs: []attr{dctest.Text("<&>\"'\n\t\r ]]>\ud55c")}},
			},
		}, "<S" + head + " a=\"&lt;&amp;&gt;&quot;'&#xA;&#x9;&#xD;\u00e9\ud55c\"" + tail + ">\n    <T>&lt;&amp;&gt;\"'\n\t&#xD; ]]&gt;\ud55c</T>\n</S>\n"},
		{"order of children", &dctest.Node{Children: []*dctest.Node{
			{Name: "b", Attrs: []attr{{Name: "n", Value: 1}}},
			{Name: "\uff21"},
			{Name: "\U00010400"},
			{Name: "B", Children: []*dctest.Node{{Name: "c"}}},
			{Name: "b", Attrs: []attr{{Name: "n", Value: 2}}},
			{Name: "a"},
		}}, "<S" + head + tail + ">\n    <B>\n        <c />\n    </B>\n    <a />\n    <b n=\"1\" />\n    <b n=\"2\" />\n    <\U00010400 />\n    <\uff21 />\n</S>\n"},
		{"text beside children", &dctest.Node{
			Attrs: []attr{{Name: "a", Value: 1}, dctest.Text("<x>\n")}, Children: []*dctest.Node{{Name: "c"}},
		}, "<S" + head + ` a="1" dc:value="&lt;x&gt;&#xA;"` + extra + tail + ">\n    <c />\n</S>\n"},
		{"blank text", &dctest.Node{Children: []*dctest.Node{
			{Name: "a", Attrs: []attr{dctest.Text("")}}, {Name: "a", Attrs: []attr{dctest.Text(" \n")}}, {Name: "a", Attrs: []attr{dctest.Text("\u00a0")}},
		}}, "<S" + head + extra + tail + ">\n    <a dc:value=\"\" />\n    <a dc:value=\" &#xA;\" />\n    <a>\u00a0</a>\n</S>\n"},
		{"flags and keys", &dctest.Node{Flags: 1, Keys: []string{"id"}, Children: []*dctest.Node{
			{Name: "a"}, {Name: "a", Keys: []string{"id", "k"}}, {Name: "a", Keys: []string{"k"}, Flags: 15},
		}}, "<S" + head + ` dc:flags="1"` + extra + tail + ">\n    <a dc:keys=\"\" />\n    <a />\n    <a dc:flags=\"15\" dc:keys=\"k\" />\n</S>\n"},
		{"types", &dctest.Node{Children: []*dctest.Node{
			{Name: "a", Attrs: []attr{{Name: "x", Value: 1}, {Name: "y", Value: "1"}}},
			{Name: "a", Attrs: []attr{{Name: "x", Value: "1"}, {Name: "y", Value: float32(1)}}},
			{Name: "b", Attrs: []attr{{Name: "x", Value: true}}},
		}}, "<S" + head + extra + tail + ">\n    <a x=\"1\" y=\"1\" />\n    <a x=\"1\" y=\"1\" dc:types=\"x:string y:float\" />\n    <b x=\"true\" />\n</S>\n"},
		{"control characters", &dctest.Node{
			Attrs: []attr{{Name: "a", Value: "\x01\\<"}, {Name: "b", Value: "\\"}, {Name: "c", Value: "\xed\xa0\x80\uffff\ud7ff"}},
			Children: []*dctest.Node{
				{Name: "t", Attrs: []attr{dctest.Text("\x1f\\&\"")}},
			},
		}, "<S" + head + ` a="\u0001\\&lt;" b="\" c="\uD800\uFFFF` + "\ud7ff" + `" dc:escaped="a c"` + extra + tail +
			">\n    <t dc:escaped=\"__value__\">\\u001F\\\\&amp;\"</t>\n</S>\n"},
		{"names", &dctest.Node{
			Attrs: []attr{{Name: "a b", Value: 1}, {Name: "xmlns", Value: 2}, {Name: "p:q", Value: 3}},
			Keys:  []string{"a b"},
			Children: []*dctest.Node{
				{Name: "1", Attrs: []attr{{Name: "_x0041_", Value: "\x02"}}}, {Name: "xmlns"}, {Name: "_x_"}, {Name: ""}, {Name: "_x41_"}, {Name: "\xed\xa0\x80"}, {Name: "\U0001f600\u00b7"},
			},
		}, "<S" + head + ` a_x0020_b="1" p_x003A_q="3" _x0078_mlns="2" dc:names="escaped"` + extra + tail + `>
    <_x_ />
    <_x0031_ _x005F_x0041_="\u0002" dc:escaped="_x005F_x0041_" />
    <_x41_ />
    <_x005F_x_ />
    <xmlns />
    <_xD800_ />
    <` + "\U0001f600\u00b7" + ` />
</S>
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.Name = "S"
			s := newSource(t, openDoc(t, dctest.Root(c.s)), nil, sheets.Options{})
			got := texts(t, s)["S/S-00000.xml"]
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			wellFormed(t, got)
		})
	}
}

// wellFormed checks a text by encoding/xml, which follows the fourth edition of XML 1.0 and
// knows names up to U+FFFF only.
func wellFormed(t testing.TB, text string) {
	t.Helper()
	if strings.ContainsFunc(text, func(r rune) bool { return r > 0xffff }) {
		return
	}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%v in\n%.2000s", err, text)
			return
		}
	}
}

// TestPlainSheetsBesideOthers checks that sheets stay plain if only other sheets of their
// name need the namespace.
func TestPlainSheetsBesideOthers(t *testing.T) {
	s := newSource(t, openDoc(t, dctest.Root(
		&dctest.Node{Name: "S", Attrs: []attr{{Name: "a", Value: 1}}},
		&dctest.Node{Name: "S", Attrs: []attr{{Name: "a", Value: "1"}}},
		&dctest.Node{Name: "S", Attrs: []attr{{Name: "a b", Value: 1}}},
	)), nil, sheets.Options{})
	got := texts(t, s)
	for file, want := range map[string]string{
		"S/S-00000.xml": "<S" + head + ` a="1"` + tail + " />\n",
		"S/S-00001.xml": "<S" + head + ` a="1" dc:types="a:string"` + extra + tail + " />\n",
		"S/S-00002.xml": "<S" + head + ` a_x0020_b="1" dc:names="escaped"` + extra + tail + " />\n",
	} {
		if got[file] != want {
			t.Errorf("%s is\n%s\nwant\n%s", file, got[file], want)
		}
	}
}

// TestNamesThatComeTwice checks that a file with two names of one text is refused, since
// nobody could read its sheets.
func TestNamesThatComeTwice(t *testing.T) {
	for i, data := range sources() {
		f := dctest.Open(t, data)
		seen := map[string]bool{}
		twice := false
		for _, name := range f.Names() {
			twice = twice || seen[name]
			seen[name] = true
		}
		if _, err := sheets.New(f, nil, sheets.Options{}); (err != nil) != twice {
			t.Errorf("source %d: New: %v, but a name comes twice: %v", i, err, twice)
		}
	}
}
