package plan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/internal/plan"
	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/testneeds/property"
)

// planned is a draft whose sheets are edited as texts.
type planned struct {
	testing.TB
	draft *edit.Draft
	src   *sheets.Source
}

func planOf(t testing.TB, data []byte) *planned {
	t.Helper()
	f := dctest.Open(t, data)
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := sheets.New(f, d, sheets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &planned{t, d, src}
}

// sheet returns a sheet by its folder and ordinal.
func (p *planned) sheet(folder string, ordinal uint32) sheets.Sheet {
	p.Helper()
	f, ok := p.src.Family(folder)
	if !ok {
		p.Fatalf("%s is not there", folder)
	}
	s, ok := f.Named(f.SheetFile(ordinal))
	if !ok {
		p.Fatalf("%s %d is not there", folder, ordinal)
	}
	return s
}

func (p *planned) text(s sheets.Sheet) string {
	p.Helper()
	var b bytes.Buffer
	if _, err := p.src.WriteSheet(context.Background(), &b, s); err != nil {
		p.Fatal(err)
	}
	return b.String()
}

// save makes a sheet equal to a text, and returns the edits.
func (p *planned) save(s sheets.Sheet, text string) []edit.Edit {
	p.Helper()
	plan, err := p.src.Plan(context.Background(), s, "x.xml", []byte(text), plan.Options{})
	if err == nil {
		err = p.draft.Apply(context.Background(), plan.Edits...)
	}
	if err != nil {
		p.Fatalf("%v\nof %s", err, text)
	}
	return plan.Edits
}

// ops returns the operations of edits.
func ops(edits []edit.Edit) string {
	names := map[edit.Op]string{
		edit.SetAttribute: "set", edit.RemoveAttribute: "unset", edit.AddNode: "add",
		edit.RemoveNode: "remove", edit.MoveNode: "move", edit.SetKeys: "keys", edit.SetFlags: "flags",
	}
	var list []string
	for _, e := range edits {
		list = append(list, strings.TrimSpace(names[e.Op]+" "+e.Name))
	}
	return strings.Join(list, ", ")
}

func leaf(name string, attrs ...dctest.Attr) *dctest.Node {
	return &dctest.Node{Name: name, Attrs: attrs}
}

// zoo returns a file with a sheet whose nodes match by keys, by an id, by content and by
// place.
func zoo() []byte {
	sheet := &dctest.Node{Name: "Zoo", Attrs: []dctest.Attr{{Name: "rate", Value: float32(256)}}}
	for i := range 6 {
		k := leaf("Keyed", dctest.Attr{Name: "key", Value: i * 2}, dctest.Attr{Name: "name", Value: fmt.Sprint("n", i)})
		k.Keys = []string{"key"}
		sheet.Children = append(sheet.Children, k)
	}
	for i := range 6 {
		sheet.Children = append(sheet.Children, leaf("Item", dctest.Attr{Name: "id", Value: 100 - i}, dctest.Attr{Name: "name", Value: "x"}))
	}
	for i := range 6 {
		row := leaf("Row")
		row.Children = append(row.Children, leaf("Cell", dctest.Attr{Name: "v", Value: i}), leaf("Cell", dctest.Attr{Name: "v", Value: 7}))
		sheet.Children = append(sheet.Children, row)
	}
	text := leaf("Text", dctest.Text("words & more"))
	sheet.Children = append(sheet.Children, text)
	other := &dctest.Node{Name: "Zoo", Attrs: []dctest.Attr{{Name: "rate", Value: float32(1)}}, Children: sheet.Children}
	root := dctest.Root()
	root.Children = []*dctest.Node{sheet, other}
	return dctest.Build(dctest.Doc{Root: root}, dctest.Options{})
}

// TestPlanIsSmall checks that an edit of a text makes as few edits as possible.
func TestPlanIsSmall(t *testing.T) {
	const keyed, item, row = `    <Keyed name="n2" key="4" />`, `    <Item id="98" name="x" />`, "    <Row>\n        <Cell v=\"2\" />\n        <Cell v=\"7\" />\n    </Row>"
	cases := []struct{ name, from, to, want string }{
		{"nothing", "", "", ""},
		{"a value", `name="n2"`, `name="other"`, "set name"},
		{"the spelling of a float", `rate="256"`, `rate="256.000000"`, ""},
		{"the order of attributes", `name="n2" key="4"`, `key="4" name="n2"`, ""},
		{"a comment", keyed, "<!-- new -->" + keyed, ""},
		{"layout", keyed, "\n\n" + strings.ReplaceAll(keyed, " ", "\n"), ""},
		{"an attribute less", `name="n2"`, "", "unset name"},
		{"an attribute more", `name="n2"`, `name="n2" more="5"`, "set more"},
		{"a node less", keyed, "", "remove"},
		{"a node twice", item, item + item, "add Item, set id, set name"},
		{"a keyed node more", keyed, `<Keyed key="5" name="new"/>` + keyed, "add Keyed, set key, set name"},
		{"a keyed node elsewhere", keyed + "\n    <Keyed name=\"n3\" key=\"6\" />", "    <Keyed name=\"n3\" key=\"6\" />\n" + keyed, ""},
		{"a key", `key="4"`, `key="5"`, "set key"},
		{"an id", `id="98"`, `id="1"`, "set id"},
		{"a node elsewhere", item + "\n    <Item id=\"97\" name=\"x\" />", "    <Item id=\"97\" name=\"x\" />\n" + item, "move Item"},
		{"a row more", row, "<Row><Cell v=\"70\"/></Row>" + row, "add Row, add Cell, set v"},
		{"a row less", row, "", "remove"},
		{"a row that moves", row + "\n" + strings.Replace(row, "2", "3", 1), strings.Replace(row, "2", "3", 1) + "\n" + row, "move Row"},
		{"a cell", `v="2"`, `v="22"`, "set v"},
		{"text", "words &amp; more", "other words", "set __value__"},
		{"no text", "<Text>words &amp; more</Text>", "<Text/>", "unset __value__"},
		{"keys", `<Keyed name="n2" key="4"`, `<Keyed xmlns:dc="urn:lorefs:dc" dc:keys="name" name="n2" key="4"`, "keys"},
		{"flags", `<Keyed name="n2" key="4"`, `<Keyed xmlns:dc="urn:lorefs:dc" dc:flags="1" name="n2" key="4"`, "flags"},
		{"a type", `<Keyed name="n2" key="4"`, `<Keyed xmlns:dc="urn:lorefs:dc" dc:types="key:string" name="n2" key="4"`, "set key"},
		{"a type that it has", `<Keyed name="n2" key="4"`, `<Keyed xmlns:dc="urn:lorefs:dc" dc:types="key:int" name="n2" key="4"`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := planOf(t, zoo())
			s := p.sheet("Zoo", 0)
			before, other := p.text(s), p.text(p.sheet("Zoo", 1))
			if !strings.Contains(before, c.from) {
				t.Fatalf("%s is not in\n%s", c.from, before)
			}
			text := strings.Replace(before, c.from, c.to, 1)
			if got := ops(p.save(s, text)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if got := ops(p.save(s, text)); got != "" {
				t.Errorf("again: %s", got)
			}
			if c.want == "" && p.text(s) != before {
				t.Errorf("it is now\n%s", p.text(s))
			}
			if got := p.text(p.sheet("Zoo", 1)); got != other {
				t.Errorf("the sheet that shares its nodes is now\n%s", got)
			}
		})
	}
}

// TestPlanBetween inserts nodes between others of their name again and again.
func TestPlanBetween(t *testing.T) {
	p := planOf(t, zoo())
	s := p.sheet("Zoo", 0)
	for i := range 80 {
		before := p.text(s)
		at := strings.Index(before, `    <Item id="98"`)
		text := before[:at] + fmt.Sprintf("    <Item id=\"%d\" name=\"new\" />\n", 1000+i) + before[at:]
		edits := p.save(s, text)
		if got := p.text(s); got != text {
			t.Fatalf("it is\n%s\nand not\n%s", got, text)
		}
		if i < 20 && len(edits) != 3 {
			t.Errorf("%s", ops(edits))
		}
	}
}

// TestPlanErrors checks that mistakes are reported with their place, and that there is no
// plan then.
func TestPlanErrors(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"not well-formed", "</Row>", "</Raw>", `x.xml:`},
		{"a wrong type", `key="4"`, `key="four"`, `x.xml:10:22: Keyed key: not a value that a data center can hold: "four" is not an int`},
		{"another sheet", "Zoo", "Cage", `x.xml:1:2: the element "Cage": want "Zoo"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planOf(t, zoo())
			s := p.sheet("Zoo", 0)
			before := p.text(s)
			text := strings.ReplaceAll(before, c.from, c.to)
			plan, err := p.src.Plan(t.Context(), s, "x.xml", []byte(text), plan.Options{})
			edits := plan.Edits
			if err == nil || edits != nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, %v; want %s", ops(edits), err, c.want)
			}
			_, syntax := errors.AsType[*xmltext.SyntaxError](err)
			_, value := errors.AsType[*xmltext.ValueError](err)
			if !syntax && !value {
				t.Errorf("the error is a %T", err)
			}
		})
	}
}

// TestPlanTellsWhatIsLost checks that a plan reports what is not stored, also if it has no
// edits.
func TestPlanTellsWhatIsLost(t *testing.T) {
	for _, c := range []struct {
		name, from, to      string
		comments, spellings bool
	}{
		{"nothing", `key="4"`, `key="40"`, false, false},
		{"comment", `<Keyed`, `<!-- k --><Keyed`, true, false},
		{"no comment", `name="n2"`, `name="&lt;!-- n2 --&gt;"`, false, false},
		{"same value", `rate="256"`, `rate="256.000000"`, false, true},
		{"other value", `rate="256"`, `rate="0.750"`, false, true},
		{"text", `name="n2"`, `name="2.0"`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planOf(t, zoo())
			s := p.sheet("Zoo", 0)
			text := strings.Replace(p.text(s), c.from, c.to, 1)
			if text == p.text(s) {
				t.Fatalf("no %s in %s", c.from, text)
			}
			plan, err := p.src.Plan(t.Context(), s, "x.xml", []byte(text), plan.Options{})
			if err != nil || plan.Comments != c.comments || plan.Spellings != c.spellings {
				t.Errorf("%+v, %v", plan, err)
			}
		})
	}
}

// TestPlanNewSheet checks that new sheets get types from the sheets of their name, from a
// schema, or from the text.
func TestPlanNewSheet(t *testing.T) {
	p := planOf(t, zoo())
	fresh, err := xsd.Read("Fresh.xsd", []byte(`<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns="https://vezel.dev/novadrop/dc/Fresh" xmlns:dc="https://vezel.dev/novadrop/dc" targetNamespace="https://vezel.dev/novadrop/dc/Fresh" elementFormDefault="qualified">
    <xsd:complexType name="Fresh"><xsd:attribute name="a" type="xsd:string" use="required" /></xsd:complexType>
    <xsd:element name="Fresh" type="Fresh" />
</xsd:schema>`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		xsd        *xsd.Schema
		want       string
	}{
		{"Zoo", `<Zoo rate="7"><Keyed key="1" name="5"/></Zoo>`, nil, "float rate, int key, string name"},
		{"Fresh", `<Fresh a="5"/>`, fresh, "string a"},
		{"Other", `<Other a="5" b="0.5"><N c="1"/><N c="0.5"/><N c="2"/></Other>`, nil, "int a, float b, float c, float c, float c"},
	} {
		plan, err := p.src.Plan(t.Context(), sheets.Sheet{Name: c.name, Ordinal: 9}, "x.xml", []byte(c.text), plan.Options{Schema: c.xsd})
		edits := plan.Edits
		if err == nil {
			err = p.draft.Apply(t.Context(), edits...)
		}
		if err != nil {
			t.Fatal(err)
		}
		var types []string
		for _, e := range edits {
			if e.Op == edit.SetAttribute {
				types = append(types, e.Value.Type().String()+" "+e.Name)
			}
		}
		if got := strings.Join(types, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		s := p.sheet(c.name, 9)
		if got := ops(p.save(s, c.text)); got != "" {
			t.Errorf("%s again: %s", c.name, got)
		}
	}
	keyed := p.sheet("Zoo", 9)
	kids, _, err := p.draft.OrderedChildren(keyed.Number)
	if err != nil || len(kids) != 1 {
		t.Fatal(kids, err)
	}
	if n, _ := p.draft.Node(kids[0].Number); !slices.Equal(n.Keys, []string{"key"}) {
		t.Errorf("the keys of a new node are %v", n.Keys)
	}
}

// typed draws attributes. Their names decide their types, and so do their texts.
var typed = map[string]func(*rapid.T) any{
	"id":   func(t *rapid.T) any { return rapid.Int32Range(0, 9).Draw(t, "id") },
	"name": func(t *rapid.T) any { return rapid.SampledFrom([]string{"", "a", "b", "x & y", "\n"}).Draw(t, "name") },
	"rate": func(t *rapid.T) any { return rapid.SampledFrom([]float32{0.5, 256.25, -2.5}).Draw(t, "rate") },
	"flag": func(t *rapid.T) any { return rapid.Bool().Draw(t, "flag") },
}

// drawTyped draws a node whose types and keys depend on names only.
func drawTyped(t *rapid.T, name string, depth int) *dctest.Node {
	n := &dctest.Node{Name: name}
	if name == "K" {
		n.Keys = []string{"id"}
	}
	for _, a := range []string{"id", "name", "rate", "flag"} {
		if rapid.Bool().Draw(t, "has") {
			n.Attrs = append(n.Attrs, dctest.Attr{Name: a, Value: typed[a](t)})
		}
	}
	if depth > 0 {
		for range rapid.IntRange(0, 5).Draw(t, "children") {
			n.Children = append(n.Children, drawTyped(t, rapid.SampledFrom([]string{"K", "L", "M"}).Draw(t, "child"), depth-1))
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "text") == 0 {
		n.Attrs = append(n.Attrs, dctest.Text(rapid.SampledFrom([]string{"", " ", "t", "two words"}).Draw(t, "text")))
	}
	return n
}

// change makes a few edits in a copy of a node.
func change(t *rapid.T, n *dctest.Node, depth int) *dctest.Node {
	c := *n
	c.Attrs, c.Children = slices.Clone(n.Attrs), nil
	for _, k := range n.Children {
		switch rapid.IntRange(0, 11).Draw(t, "what") {
		case 0:
			continue
		case 1:
			c.Children = append(c.Children, drawTyped(t, k.Name, depth-1), k)
		case 2:
			c.Children = append([]*dctest.Node{k}, c.Children...)
		case 3, 4, 5:
			c.Children = append(c.Children, change(t, k, depth-1))
		default:
			c.Children = append(c.Children, k)
		}
	}
	if i := rapid.IntRange(0, 5).Draw(t, "attribute"); i < len(c.Attrs) && typed[c.Attrs[i].Name] != nil {
		c.Attrs[i].Value = typed[c.Attrs[i].Name](t)
	}
	return &c
}

// TestPlanMakesWhatTheTextSays checks that any sheet becomes equal to the text of any other,
// also if that is written in another order, and that a second plan has no edits.
func TestPlanMakesWhatTheTextSays(t *testing.T) {
	build := func(n *dctest.Node) []byte {
		root := dctest.Root()
		// All names are known, in one order.
		names := &dctest.Node{Name: "Names", Keys: []string{"id"}}
		for _, a := range []string{"id", "name", "rate", "flag"} {
			names.Attrs = append(names.Attrs, dctest.Attr{Name: a, Value: 0})
		}
		names.Attrs = append(names.Attrs, dctest.Text("t"))
		names.Children = []*dctest.Node{leaf("K"), leaf("L"), leaf("M"), leaf("S")}
		root.Children = []*dctest.Node{names, n, {Name: "S", Children: n.Children}}
		return dctest.Build(dctest.Doc{Root: root}, dctest.Options{})
	}
	property.Check(t, func(rt *rapid.T) {
		old := drawTyped(rt, "S", 3)
		p := planOf(t, build(old))
		s := p.sheet("S", 0)
		other := p.text(p.sheet("S", 1))
		for range rapid.IntRange(1, 3).Draw(rt, "saves") {
			if rapid.IntRange(0, 4).Draw(rt, "all new") == 0 {
				old = drawTyped(rt, "S", 3)
			} else {
				old = change(rt, old, 3)
			}
			q := planOf(t, build(old))
			text := q.text(q.sheet("S", 0))
			p.save(s, text)
			if got := p.text(s); got != text {
				rt.Fatalf("it is\n%s\nand not\n%s", got, text)
			}
			if got := ops(p.save(s, text)); got != "" {
				rt.Fatalf("again: %s\nof %s", got, text)
			}
		}
		if got := p.text(p.sheet("S", 1)); got != other {
			rt.Fatalf("the other sheet is\n%s\nand was\n%s", got, other)
		}
	})
}
