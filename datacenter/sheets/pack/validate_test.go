package pack_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/testneeds"
)

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

// problems returns Validate's report on a folder, one a line.
func problems(t *testing.T, files map[string]string) []string {
	t.Helper()
	var all []string
	err := pack.Validate(t.Context(), folder(files), func(p pack.Problem) error {
		s := p.String()
		if p.Refused {
			s += " (refused)"
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name, sheet string
		want        []string
	}{
		{"valid", `<S id="1" rank="0.5"><Node>x</Node><Text on="true">y</Text><Text on="false"/></S>`, nil},
		{"what is to be said of a node", `<S ` + dc + ` id="x" dc:types="id:string" dc:flags="1"><Node dc:value=" "><Node/></Node></S>`, nil},
		{"an unknown element", "<S id='1'><Node/>\n<Other><Any a='1'/></Other></S>", []string{`S-0.xml:2:2: the element "Other" is not in the schema`}},
		{"an unknown attribute", "<S id='1'\n  x='1'><Node/></S>", []string{`S-0.xml:2:3: the attribute "x" is not in the schema`}},
		{"a missing attribute", "<S>\n<Node/><Text/></S>", []string{`S-0.xml:1:2: the element "S" lacks the attribute "id"`, `S-0.xml:2:9: the element "Text" lacks the attribute "on"`}},
		{"a wrong type", "<S id='1.5'><Node/></S>", []string{`S-0.xml:1:4: the attribute "id": not a value that a data center can hold: "1.5" is not an int: a whole number from -2147483648 to 2147483647 (refused)`}},
		{"another order", "<S id='1'><Text on='1'/>\n<Node/></S>", []string{`S-0.xml:2:2: the element "Node" has to be before "Text"`}},
		{"too many", "<S id='1'><Node/><Node/>\n<Node/><Node/></S>", []string{`S-0.xml:2:2: element number 3 of the name "Node": the schema has 2 at most`}},
		{"too few", "<S id='1'>\n</S>", []string{`S-0.xml:2:1: 0 elements of the name "Node": the schema has 1 at least`}},
		{"text", "<S id='1'><Node/>\nx</S>", []string{`S-0.xml:2:1: text in an element that has none in the schema`}},
		{"not well-formed", "<S id='1'><Node/>\n<", []string{`S-0.xml:2:2: the file ends in a tag (refused)`}},
		{"a wrong escape", "<S " + dc + ` id="1" dc:flags="x"/>`, []string{`S-0.xml:1:36: dc:flags: not a value that a data center can hold: "x" is not a number from 0 to 15 (refused)`}},
		{"several", "<S id='a' x='1'><Node/>\n\n<O/><Text/><O/></S>", []string{
			`S-0.xml:1:4: the attribute "id": not a value that a data center can hold: "a" is not an int: a whole number from -2147483648 to 2147483647 (refused)`,
			`S-0.xml:1:11: the attribute "x" is not in the schema`, `S-0.xml:3:2: the element "O" is not in the schema`,
			`S-0.xml:3:6: the element "Text" lacks the attribute "on"`, `S-0.xml:3:13: the element "O" is not in the schema`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := problems(t, map[string]string{"S-0.xml": tt.sheet, "S.xsd": novadropSchema})
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestValidateWithoutSchema checks that a missing schema is reported for each sheet, a
// broken one once.
func TestValidateWithoutSchema(t *testing.T) {
	got := problems(t, map[string]string{
		"a/S-0.xml": "<S/>", "a/S-1.xml": "\n<S/>", "a/T.xsd": novadropSchema,
		"b/S-2.xml": "<S/>", "b/S-3.xml": "<S", "b/S.xsd": "<a/>", "b/S-4.xml": "<S/>",
	})
	want := []string{
		`a/S-0.xml:1:2: the schema S.xsd is not beside the sheet`, `a/S-1.xml:2:2: the schema S.xsd is not beside the sheet`,
		`b/S.xsd:1:2: the element "a": want xsd:schema (refused)`, `b/S-3.xml:1:3: the file ends in the start tag of "S" (refused)`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestValidateWhatIsUnpacked checks that unpacked sheets are valid. An infinity is invalid
// for some validators, but not here.
func TestValidateWhatIsUnpacked(t *testing.T) {
	testneeds.Seconds(t)
	docs := map[string]dctest.Doc{"generated": dctest.Generate(dctest.GenOptions{Seed: 4, Sheets: 30, Nodes: 2000})}
	for _, ex := range dctest.Legal() {
		docs[ex.Name] = ex.Doc
	}
	delete(docs, "65,535 children") // takes long, and shows nothing more
	delete(docs, "strange names")   // some may be impossible for files
	for name, doc := range docs {
		if len(doc.Root.Children) == 0 {
			continue
		}
		f := dctest.Open(t, dctest.Build(doc, dctest.Options{}))
		err := pack.Validate(t.Context(), exported(t, f), func(p pack.Problem) error { return errors.New(p.String()) })
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidateStops(t *testing.T) {
	enough := errors.New("enough")
	calls := 0
	err := pack.Validate(t.Context(), folder(small()), func(pack.Problem) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%v after %d problems: want %v after 1", err, calls, enough)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	none := func(p pack.Problem) error { return fmt.Errorf("%v", p) }
	if err := pack.Validate(ctx, folder(small()), none); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: want %v", err, context.Canceled)
	}
	if err := pack.Validate(t.Context(), folder(nil), none); !errors.Is(err, pack.ErrNoSheets) {
		t.Errorf("%v: want %v", err, pack.ErrNoSheets)
	}
}

// cancelling cancels when a number of files have been opened.
type cancelling struct {
	fstest.MapFS
	left   *atomic.Int64
	cancel context.CancelFunc
}

func (c cancelling) Open(name string) (iofs.File, error) {
	if strings.HasSuffix(name, ".xml") && c.left.Add(-1) == 0 {
		c.cancel()
	}
	return c.MapFS.Open(name)
}

// TestValidateInterrupted ends the context in the middle: what was not checked must not pass for
// valid.
func TestValidateInterrupted(t *testing.T) {
	sheets := map[string]string{"S/S.xsd": novadropSchema}
	for i := range 60 {
		sheets[fmt.Sprintf("S/S-%05d.xml", i)] = `<S id="1"><Node/></S>`
	}
	for opened := range int64(30) {
		ctx, cancel := context.WithCancel(t.Context())
		left := &atomic.Int64{}
		left.Store(opened + 1)
		err := pack.Validate(ctx, cancelling{folder(sheets), left, cancel}, func(pack.Problem) error { return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d files: %v, want %v", opened+1, err, context.Canceled)
		}
		cancel()
	}
}

// TestValidatePlaces checks that lines are counted on from the last problem.
func TestValidatePlaces(t *testing.T) {
	sheet, want := "<S id='1'><Node/>", []string(nil)
	for i := range 50 {
		sheet += "\r\n\n\r<!--한--><O/><O/>"
		want = append(want, fmt.Sprintf("S-0.xml:%d:10", 4+3*i), fmt.Sprintf("S-0.xml:%d:14", 4+3*i))
	}
	var got []string
	for _, p := range problems(t, map[string]string{"S-0.xml": sheet + "</S>", "S.xsd": novadropSchema}) {
		place, _, _ := strings.Cut(p, ": ")
		got = append(got, place)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestValidateLimits checks that limits of a data center that pack enforces are reported,
// once.
func TestValidateLimits(t *testing.T) {
	testneeds.Slow(t, "has sheets of all that a data center can hold")
	definitions := "<S " + dc + ">"
	for i := range 1<<12 + 1 {
		definitions += fmt.Sprintf(`<A dc:keys="k%d k%d"/>`, i/64, 64+i%64)
	}
	names := func(from, to int) string {
		var s strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&s, "<n%x/>", i)
		}
		return "<S>" + s.String() + "</S>"
	}
	for _, tt := range []struct {
		what  string
		files map[string]string
		want  string // empty if nothing is refused
	}{
		{"65,535 children", map[string]string{"S-0.xml": "<S>" + strings.Repeat("<A/>", 1<<16-1) + "</S>"}, ""},
		{"65,536 children", map[string]string{"S-0.xml": "<S>" + strings.Repeat("<A/>", 1<<16) + "</S>"}, "S-0.xml:1:262145: S: more than 65535 children: "},
		{"65,532 attributes and a text", map[string]string{"S-0.xml": "<S" + manyAttributes(1<<16-4) + ">x</S>"}, ""},
		{"65,535 attributes", map[string]string{"S-0.xml": "<S" + manyAttributes(1<<16-1) + "/>"}, ": more than 65535 names: "},
		{"65,536 attributes", map[string]string{"S-0.xml": "<S" + manyAttributes(1<<16) + "/>"}, "S-0.xml:1:2: S: more than 65535 attributes: "},
		{"4,096 key definitions", map[string]string{"S-0.xml": definitions + "</S>"}, ": more than 4095 key definitions: "},
		{"65,535 names", map[string]string{"S-0.xml": names(0, 30_000), "S-1.xml": names(30_000, 1<<16-4)}, ""},
		{"65,536 names", map[string]string{"S-0.xml": names(0, 30_000), "S-1.xml": names(30_000, 1<<16-2)}, ": more than 65535 names: "},
	} {
		t.Run(tt.what, func(t *testing.T) {
			refused := slices.DeleteFunc(problems(t, tt.files), func(p string) bool { return !strings.HasSuffix(p, " (refused)") })
			if tt.want == "" && len(refused) > 0 || tt.want != "" && (len(refused) != 1 || !strings.Contains(refused[0], tt.want)) {
				t.Errorf("%.200q; want %q", refused, tt.want)
			}
			_, err := pack.Pack(t.Context(), folder(tt.files), io.Discard, pack.Options{})
			if errors.Is(err, datacenter.ErrTooLarge) != (tt.want != "") {
				t.Errorf("pack: %v", err)
			}
		})
	}
}
