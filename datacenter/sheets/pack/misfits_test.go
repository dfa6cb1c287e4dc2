package pack_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/pack"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/testneeds"
)

// misfitSchema demands two of B, allows one A and one C, and knows no text.
const misfitSchema = `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:dc="https://vezel.dev/novadrop/dc">
<xsd:element name="S" type="S"/>
<xsd:complexType name="S"><xsd:sequence>
<xsd:element name="A" type="S_A"/><xsd:element name="B" type="S_B" minOccurs="2" maxOccurs="3"/><xsd:element name="C" type="S_B" minOccurs="0"/>
</xsd:sequence><xsd:attribute name="s" type="xsd:string"/></xsd:complexType>
<xsd:complexType name="S_A" dc:keys="i"><xsd:attribute name="i" type="xsd:int" use="required"/><xsd:attribute name="s" type="xsd:string"/></xsd:complexType>
<xsd:complexType name="S_B"><xsd:attribute name="s" type="xsd:string"/></xsd:complexType>
</xsd:schema>`

// misfitsOf returns Pack's report on sheets with misfitSchema.
func misfitsOf(t *testing.T, opts pack.Options, texts ...string) []string {
	t.Helper()
	files := map[string]string{"S.xsd": misfitSchema}
	for i, text := range texts {
		files[fmt.Sprintf("S-%d.xml", i)] = text
	}
	_, report := mustPack(t, folder(files), opts)
	var got []string
	for _, m := range report.Misfits {
		got = append(got, m.String())
	}
	opts.Strict = true
	var out bytes.Buffer
	strict, err := pack.Pack(t.Context(), folder(files), &out, opts)
	if errors.Is(err, pack.ErrMisfits) != (len(got) > 0) || err == nil && len(got) > 0 || len(strict.Misfits) != len(got) {
		t.Errorf("Strict: %v, %d misfits: want an error for %d", err, len(strict.Misfits), len(got))
	}
	if err != nil && out.Len() > 0 {
		t.Errorf("Strict wrote %d bytes", out.Len())
	}
	return got
}

func TestPackMisfits(t *testing.T) {
	const fits = `<A i="1" s="7"/><B/><B/>`
	for _, tt := range []struct {
		name  string
		texts []string
		want  []string
	}{
		{"none", []string{`<S s="7">` + fits + `</S>`, `<S><A i="-1"/><B s="1"/><B/><B/><C/></S>`}, nil},
		{
			"values that the schema does not know",
			[]string{`<S>` + fits + `<C x="1" y="a"/></S>`, `<S y="1">` + fits + `<C x="0.5"/></S>`},
			[]string{
				`"S": 2 values of "C" "x": not in the schema, taken for the type float`,
				`"S": 1 value of "C" "y": not in the schema, taken for the type string`,
				`"S": 1 value of "S" "y": not in the schema, taken for the type int`,
			},
		},
		{
			"elements that it does not know",
			[]string{`<S>` + fits + `<D x="1"><E y="2"/></D></S>`, `<S>` + fits + `<D x="1" z="2"/></S>`},
			[]string{
				`"S": 2 elements "D" with 3 values: not in the schema, taken for the types that suit`,
				`"S": 1 element "E" with 1 value: not in the schema, taken for the types that suit`,
			},
		},
		{
			"too many, so that its strings are in doubt",
			[]string{`<S><A i="1" s="7"/><A i="2" s="8"/><A i="3"/><B s="x"/><B s="9"/></S>`, `<S>` + fits + `</S>`},
			[]string{
				`"S": 3 values of "A" "s": strings in the schema, though each is like a value of type int`,
				`"S": more elements "A" than the schema allows, 1 time`,
			},
		},
		{
			"too few",
			[]string{`<S><B/><B/></S>`, `<S><A i="1"/><B/></S>`, `<S><A s="x" i="2"/></S>`},
			[]string{
				`"S": fewer elements "B" than the schema demands, 2 times`,
				`"S": fewer elements "A" than the schema demands, 1 time`,
			},
		},
		{"an attribute is missing", []string{`<S><A s="x"/><B/><B/></S>`}, []string{`"S": 1 element "A" without "i", which the schema demands`}},
		{"a text", []string{`<S><A i="1"/><B>text</B><B/></S>`}, []string{`"S": 1 text of "B", which has none in the schema`}},
		{
			"the same texts again and again",
			[]string{`<S><A i="1"/><B>text</B><B>text</B><B>x</B></S>`, `<S><A i="1"/><B>text</B><B>x</B></S>`},
			[]string{`"S": 5 texts of "B", which has none in the schema`},
		},
		{
			"what the sheet says itself",
			[]string{
				`<S xmlns:dc="urn:lorefs:dc"><A i="1" x="1" dc:types="x:int"/><B dc:value="text"/><B/></S>`,
			},
			nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := misfitsOf(t, pack.Options{}, tt.texts...); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// likeSchema has another type and other keys for A, and an element that misfitSchema lacks.
func likeSchema(t *testing.T) *xsd.Schema {
	t.Helper()
	like, err := xsd.Read("like", []byte(strings.NewReplacer(`dc:keys="i"`, `dc:keys="s"`, `"s" type="xsd:string"/></xsd:complexType>
<xsd:complexType name="S_B"`, `"s" type="xsd:float"/></xsd:complexType>
<xsd:complexType name="S_B"`, `name="C"`, `name="D"`).Replace(misfitSchema)))
	if err != nil {
		t.Fatal(err)
	}
	return like
}

// TestPackLike checks that a data center's knowledge precedes the schema, which is not
// compared with it.
func TestPackLike(t *testing.T) {
	like := likeSchema(t)
	opts := pack.Options{Like: func(string) (*xsd.Schema, error) { return like, nil }}
	files := map[string]string{"S.xsd": misfitSchema, "S-0.xml": `<S><A i="1" s="7"/><A i="2" s="3"/><D s="1"/><C s="2"/></S>`}
	f, report := mustPack(t, folder(files), opts)
	if got, want := types(t, f, "A"), "i:int=2 s:float=3 keys=s i:int=1 s:float=7 keys=s"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := types(t, f, "C") + " " + types(t, f, "D"); got != "s:string=2 s:string=1" {
		t.Errorf("got %s", got)
	}
	if len(report.Misfits)+len(report.Inferred) > 0 {
		t.Errorf("%+v", report)
	}
	if got := misfitsOf(t, opts, `<S><D z="1"/></S>`, `<S><C x="1"/></S>`); !slices.Equal(got, []string{
		`"S": 1 value of "C" "x": not in the schema, taken for the type int`,
		`"S": 1 value of "D" "z": not in the schema, taken for the type int`,
	}) {
		t.Errorf("what neither knows: %q", got)
	}
	fails := errors.New("it is damaged")
	opts.Like = func(string) (*xsd.Schema, error) { return nil, fails }
	if _, err := pack.Pack(t.Context(), folder(files), &bytes.Buffer{}, opts); !errors.Is(err, fails) {
		t.Errorf("%v, want %v", err, fails)
	}
}

// TestPackStrictWithoutSchema checks that Strict refuses sheets without a schema, unless
// Like or Template knows them.
func TestPackStrictWithoutSchema(t *testing.T) {
	files := map[string]string{"S-0.xml": `<S><A i="1"/></S>`}
	opts := pack.Options{Strict: true}
	var out bytes.Buffer
	report, err := pack.Pack(t.Context(), folder(files), &out, opts)
	if !errors.Is(err, pack.ErrMisfits) || !slices.Equal(report.Inferred, []string{"S"}) || out.Len() > 0 {
		t.Errorf("%v, %+v, %d bytes", err, report, out.Len())
	}
	like := likeSchema(t)
	opts.Template = func(string) (*xsd.Schema, error) { return like, nil }
	if _, err := pack.Pack(t.Context(), folder(files), &out, opts); err != nil {
		t.Errorf("with a template: %v", err)
	}
}

// TestMisfitsOfFixture packs real sheets with schemas of another version. All values that
// get another type than they had are reported, and nothing that Validate does not find as
// well.
func TestMisfitsOfFixture(t *testing.T) {
	dir := testneeds.Fixture(t, "datacenter/skewed-schemas")
	_, report := mustPack(t, pack.Dir(dir), pack.Options{})
	got := map[pack.MisfitKind]int64{}
	guessed := int64(0)
	for _, m := range report.Misfits {
		got[m.What] += m.Count
		guessed += m.Values
	}
	want := map[string]pack.MisfitKind{
		"the attribute": pack.UnknownAttribute, "the element": pack.UnknownElement,
		"element number": pack.TooMany, "0 elements": pack.TooFew,
	}
	found := map[pack.MisfitKind]int64{pack.DoubtfulValues: 1100}
	err := pack.Validate(t.Context(), pack.Dir(dir), func(p pack.Problem) error {
		for prefix, what := range want {
			if strings.HasPrefix(p.What, prefix) {
				found[what]++
				return nil
			}
		}
		t.Errorf("%v", p)
		return nil
	})
	if err != nil || fmt.Sprint(got) != fmt.Sprint(found) || guessed != 16 {
		t.Errorf("%v, %d values of unknown elements: want %v and 16 (%v)", got, guessed, found, err)
	}
	if m := report.Misfits[0]; m.What != pack.DoubtfulValues || m.Attribute != "requiredMoney" || m.Type != datacenter.Int {
		t.Errorf("the first is %v", m)
	}
}
