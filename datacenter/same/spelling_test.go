package same_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets"
)

// spelled returns a data center with values that look like parts of XML, and its sheets with their schemas. Sheet S is
// small, and sheet L is larger than the parts in which it is compared. Sheet E needs the extra namespace.
func spelled(t *testing.T) (*datacenter.File, *sheets.Source, fstest.MapFS) {
	t.Helper()
	item := func(i int, values ...string) *dctest.Node {
		n := &dctest.Node{Name: "Item", Attrs: []dctest.Attr{{Name: "id", Value: i}}}
		for i, v := range values {
			n.Attrs = append(n.Attrs, dctest.Attr{Name: fmt.Sprint("v", i), Value: v})
		}
		return n
	}
	text := func(v string) *dctest.Node {
		return &dctest.Node{Name: "Text", Attrs: []dctest.Attr{{Name: "__value__", Value: v}}}
	}
	small := &dctest.Node{Name: "S", Children: []*dctest.Node{
		item(1, "x", "", " ", "="), item(2, "x b=", "= y", " / ", "a\nb"), item(3, `"`, "'", ">", "/>"), item(4, "=", "=", "", " ="),
		text("one"), text("two\n  lines "), text("\n a"), text("a > b"), text("="),
	}}
	small.Children[0].Children = []*dctest.Node{item(5, "y"), {Name: "Item", Children: []*dctest.Node{{Name: "Item"}}}}
	large := &dctest.Node{Name: "L"}
	for i := range 5000 {
		large.Children = append(large.Children, item(i, strings.Repeat("some words ", i%20), "x="), text(fmt.Sprint(" text ", i)))
	}
	extra := &dctest.Node{Name: "E", Attrs: []dctest.Attr{{Name: "__value__", Value: " a b"}}, Children: []*dctest.Node{text("one")}}
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(small, large, extra)}, dctest.Options{}))
	src, err := sheets.New(f, nil, sheets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f, src, sheetsOf(t, src)
}

// spelling says how to write the white space of a sheet otherwise.
type spelling struct {
	// between returns what is between two tags, between attributes, and around equals signs, for what was there.
	between, attributes, equals func(space string) string
}

// of returns a sheet in a spelling.
func (s spelling) of(sheet string) string {
	var out strings.Builder
	keep := func(space string) string { return space }
	between, attributes, equals := s.between, s.attributes, s.equals
	for _, f := range []*func(string) string{&between, &attributes} {
		if *f == nil {
			*f = keep
		}
	}
	if equals == nil {
		equals = func(string) string { return "" }
	}
	inTag, inValue := false, false
	for len(sheet) > 0 {
		c := sheet[0]
		space := sheet[:len(sheet)-len(strings.TrimLeft(sheet, " \n"))]
		rest := sheet[len(space):]
		last := out.String()[max(out.Len()-1, 0):]
		switch {
		case inTag && inValue:
			inValue = c != '"'
		case inTag && c == '=':
			out.WriteString(equals("") + "=" + equals(""))
			sheet = sheet[1:]
			continue
		case inTag && len(space) > 0:
			out.WriteString(attributes(space))
			sheet = rest
			continue
		case inTag:
			inValue, inTag = c == '"', c != '>'
		case c == '<':
			inTag = true
		case len(space) > 0 && last == ">" && (rest == "" || rest[0] == '<'):
			out.WriteString(between(space))
			sheet = rest
			continue
		}
		out.WriteByte(c)
		sheet = sheet[1:]
	}
	return out.String()
}

func always(space string) func(string) string { return func(string) string { return space } }

func TestSpellings(t *testing.T) {
	_, src, fsys := spelled(t)
	for name, spell := range map[string]func(sheet string) string{
		"no space at the end of tags":   func(s string) string { return strings.ReplaceAll(s, " />", "/>") },
		"lines that end with CRLF":      func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"tabs":                          spelling{between: func(s string) string { return strings.ReplaceAll(s, "    ", "\t") }}.of,
		"one line":                      spelling{between: always("")}.of,
		"empty lines":                   spelling{between: func(s string) string { return s + s }}.of,
		"a line for each attribute":     spelling{attributes: always("\n        ")}.of,
		"spaces around equals signs":    spelling{equals: always(" ")}.of,
		"a declaration":                 func(s string) string { return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n" + s },
		"a byte order mark":             func(s string) string { return "\ufeff" + s },
		"no line end at the end":        strings.TrimSpace,
		"white space around the sheet":  func(s string) string { return "\n" + s + "\n\n" },
		"all of it":                     spelling{always("\r\n\t"), always("\t\t"), always("\n")}.of,
		"as much white space as may be": spelling{between: always(strings.Repeat(" ", 4095))}.of,
	} {
		for _, sheet := range []string{"S", "L", "E"} {
			if !isSame(t, src, fsys, sheet, spell) {
				t.Errorf("%s: sheet %s differs", name, sheet)
			}
		}
	}
}

func TestOtherSpellings(t *testing.T) {
	_, src, fsys := spelled(t)
	for _, tt := range [][2]string{
		{`v0="x"`, `v0=" x"`},
		{`v0="x"`, `v0="x "`},
		{`v0="x b="`, `v0="x  b="`},
		{`v0="x b="`, "v0=\"x\nb=\""},
		{`v0="x b="`, `v0="x b ="`},
		{`v1="= y"`, `v1="=  y"`},
		{`v1="= y"`, `v1="=y"`},
		{`v2=" "`, `v2=""`},
		{`v2=" / "`, `v2=" /"`},
		{`v2="" v3=" ="`, `v2=""v3=" ="`},
		{`v3=" ="`, `v3="  ="`},
		{`v3=" ="`, `v3=" = "`},
		{"<Text>one", "<Text> one"},
		{"one</Text>", "one </Text>"},
		{"lines </Text>", "lines</Text>"},
		{"two\n  lines", "two\n lines"},
		{"<Text>\n a", "<Text>\n  a"},
		{"<Text>\n a", "<Text>a"},
		{"a &gt; b", "a  &gt; b"},
		{"<Text>=", "<Text> ="},
		{"<Text>=", "<Text>= "},
		{"<Item", "< Item"},
		{"</Text", "< /Text"},
		{"</Text", "</ Text"},
		{"Item id", "Itemid"},
		{" />", " / >"},
		{"<S ", "<S  \x00"},
		{"</S>", "<!-- --></S>"},
		{"</S>\n", "</S>\n<!-- -->"},
		{"</S>\n", "</S>\n" + strings.Repeat(" ", 1<<17)},
		{"</S>", strings.Repeat(" ", 4096) + "</S>"},
		{"</S>", ""},
		{"<S ", `<?xml version="1.0"?><?xml version="1.0" encoding="utf-8"?><S `},
		{"<S ", `<?xml version="1.0" encoding="utf-16"?><S `},
		{"<S ", ` <?xml version="1.0"?><S `},
	} {
		found := isSame(t, src, fsys, "S", func(s string) string {
			if !strings.Contains(s, tt[0]) {
				t.Fatalf("the sheet has no %s:\n%s", tt[0], s)
			}
			return strings.Replace(s, tt[0], tt[1], 1)
		})
		if found {
			t.Errorf("%q is taken for %q", tt[1], tt[0])
		}
	}
}

// isSame spells a sheet otherwise, and reports whether it is the same still.
func isSame(t *testing.T, src *sheets.Source, fsys fstest.MapFS, name string, spell func(string) string) bool {
	t.Helper()
	file := name + "/" + name + "-00000.xml"
	now := maps.Clone(fsys)
	now[file] = &fstest.MapFile{Data: []byte(spell(string(fsys[file].Data)))}
	found, _, err := find(t, src, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, ok := found[file]
	return ok
}

// TestSpellingsPacked changes white space anywhere, and checks that a sheet that is the same still becomes the
// same when it is packed.
func TestSpellingsPacked(t *testing.T) {
	f, src, fsys := spelled(t)
	for _, name := range slices.Collect(maps.Keys(fsys)) {
		if !strings.HasPrefix(name, "S/") { // which would take longer to pack
			delete(fsys, name)
		}
	}
	const file = "S/S-00000.xml"
	equal, other := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		sheet := slices.Clone(fsys[file].Data)
		for range rapid.IntRange(1, 3).Draw(r, "edits") {
			at := rapid.IntRange(0, len(sheet)-1).Draw(r, "at")
			if near := bytes.IndexAny(sheet[at:], " \n=\"/>"); near >= 0 {
				at += near
			}
			n := 0
			if rapid.Bool().Draw(r, "instead") && strings.ContainsRune(" \n", rune(sheet[at])) {
				n = 1
			}
			sheet = slices.Replace(sheet, at, at+n, []byte(rapid.SampledFrom([]string{"", " ", "\n", "\t", "\r", "\r\n"}).Draw(r, "space"))...)
		}
		now := maps.Clone(fsys)
		now[file] = &fstest.MapFile{Data: sheet}
		found, _, err := find(t, src, now, nil)
		if err != nil {
			r.Fatal(err)
		}
		if len(found) == 0 {
			other++
			return
		}
		equal++
		if text, err := differences(t, f, src, now, nil); err != nil || strings.Contains(text, "S/") {
			r.Fatalf("%s%v", text, err)
		}
	})
	if equal < other/10 || other < equal/10 {
		t.Errorf("%d sheets are the same, %d are not", equal, other)
	}
}
