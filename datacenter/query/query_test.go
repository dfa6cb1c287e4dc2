package query_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/query"
)

type (
	node  = dctest.Node
	attrs = []dctest.Attr
)

func build(t testing.TB, o dctest.Options, sheets ...*node) *datacenter.File {
	t.Helper()
	return dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(sheets...)}, o))
}

func compile(t testing.TB, expr string) *query.Query {
	t.Helper()
	q, err := query.Compile(expr)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func matches(t testing.TB, f *datacenter.File, expr string) (all []query.Match) {
	t.Helper()
	for m, err := range compile(t, expr).Run(t.Context(), f) {
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		all = append(all, m)
	}
	return all
}

func paths(t testing.TB, f *datacenter.File, expr string) []string {
	t.Helper()
	all := []string{}
	for _, m := range matches(t, f, expr) {
		all = append(all, m.Path)
	}
	return all
}

// shop returns a small data center with a bit of everything that queries look at.
func shop(t testing.TB) *datacenter.File {
	t.Helper()
	item := func(id int, kids ...*node) *node {
		return &node{Name: "Item", Keys: []string{"id"}, Children: kids, Attrs: attrs{
			{Name: "id", Value: id},
			{Name: "rate", Value: float32(id) / 10},
			{Name: "name", Value: []string{"sword", "shield", "axe"}[id%3]},
			{Name: "sold", Value: id%2 == 0},
		}}
	}
	part := func(text string) *node { return &node{Name: "Part", Attrs: attrs{dctest.Text(text)}} }
	return build(
		t, dctest.Options{},
		&node{Name: "ItemData", Children: []*node{item(1, part("x"), part("12")), item(2), item(3, part("it's"))}},
		&node{Name: "ItemData", Children: []*node{item(4)}},
		&node{Name: "Odd", Attrs: attrs{{Name: "Item", Value: "a \"b\""}, {Name: "1 st}", Value: 7}}, Children: []*node{item(9), {Name: "true"}}},
	)
}

func TestMatches(t *testing.T) {
	f := shop(t)
	for expr, want := range map[string]string{
		"/ItemData":                        "ItemData ItemData.1",
		"/ItemData[2]/Item":                "ItemData.1/Item",
		"/ItemData/Item[@id=3]/@name":      "ItemData/Item.2/name",
		"/ItemData/Item[@id>=2]":           "ItemData/Item.1 ItemData/Item.2 ItemData.1/Item",
		"/ItemData/Item[2<@id]":            "ItemData/Item.2 ItemData.1/Item",
		"//Item[1]":                        "ItemData/Item ItemData.1/Item Odd/Item",
		"//Item[last()]":                   "ItemData/Item.2 ItemData.1/Item Odd/Item",
		"//Item[@sold=true][last()]":       "ItemData/Item.1 ItemData.1/Item",
		"/Odd | /ItemData":                 "ItemData ItemData.1 Odd",
		"//Item[position()<last()]":        "ItemData/Item ItemData/Item.1",
		"//Item[@sold=true]":               "ItemData/Item.1 ItemData.1/Item",
		"//Item[@sold=true()]":             "ItemData/Item.1 ItemData.1/Item",
		"//Item[@sold='false']/@id":        "ItemData/Item/id ItemData/Item.2/id Odd/Item/id",
		"//Item[@sold=1]":                  "ItemData/Item.1 ItemData.1/Item",
		"//Item[@rate=0.3]":                "ItemData/Item.2",
		"//Item[@rate<0.3]":                "ItemData/Item ItemData/Item.1",
		"//Item[@name='axe' or @id=4]":     "ItemData/Item.1 ItemData.1/Item",
		"//Item[contains(@name,'w')]":      "ItemData/Item.2 Odd/Item",
		"//Item[starts-with(@name,'sh')]":  "ItemData/Item ItemData.1/Item",
		"//Item[Part]":                     "ItemData/Item ItemData/Item.2",
		"//Item[Part/text()=12]/@id":       "ItemData/Item/id",
		"//Item[Part=12]/@id":              "ItemData/Item/id",
		"//Item[Part='it''s']/@id":         "ItemData/Item.2/id",
		`//Item[Part="it's"]/@id`:          "ItemData/Item.2/id",
		"//Item[not(Part)][2]":             "",
		"/ItemData/Item[not(Part)]":        "ItemData/Item.1 ItemData.1/Item",
		"//Part/text()":                    "ItemData/Item/Part/__value__ ItemData/Item/Part.1/__value__ ItemData/Item.2/Part/__value__",
		"/Odd/@Item":                       "Odd/@Item",
		"/Odd/@{1 st}}}":                   "Odd/1 st}",
		"/Odd[{true}]/{true}":              "Odd/true",
		"/Odd/@Item | //Part[2] | /Odd":    "ItemData/Item/Part.1 Odd Odd/@Item",
		"/Nothing//Item":                   "",
		"//Nothing":                        "",
		"/ItemData[Item[@id=4]]/Item/@id":  "ItemData.1/Item/id",
		"/*[@Item]//@id":                   "Odd/Item/id",
		" / ItemData [ 1 ] / Item [ 1 ] ":  "ItemData/Item",
		"/ItemData[Item[2] and Item[3]]":   "ItemData",
		"/ItemData/Item[@name!='axe']/@id": "ItemData/Item/id ItemData/Item.2/id ItemData.1/Item/id",
		"(/ItemData/Item)[4]":              "ItemData.1/Item",
		"(/ItemData/Item)[5]":              "",
		"(//Item[@id>1])[2]/Part/text()":   "ItemData/Item.2/Part/__value__",
		"(//Part)[2] | (/Odd)[1]//@id":     "ItemData/Item/Part.1 Odd/Item/id",
	} {
		if got := strings.Join(paths(t, f, expr), " "); got != want {
			t.Errorf("%s:\n%s, want\n%s", expr, got, want)
		}
	}
}

func TestMatchSaysWhatItIs(t *testing.T) {
	f := shop(t)
	m := matches(t, f, "/ItemData[2]/Item/@rate")[0]
	if m.Kind != query.Attribute || m.XPath() != "/ItemData[2]/Item[1]/@rate" || m.Node.Name() != "Item" ||
		m.Attribute.Float() != 0.4 || m.Kind.String() != "attribute" {
		t.Errorf("%+v", m)
	}
	if m = matches(t, f, "/Odd/{true}")[0]; m.Kind != query.Node || m.XPath() != "/Odd[1]/true[1]" || m.Kind.String() != "node" {
		t.Errorf("%+v", m)
	}
	if m = matches(t, f, "/Odd/@*")[1]; m.XPath() != "/Odd[1]/@{1 st}}}" && m.XPath() != "/Odd[1]/@Item" {
		t.Errorf("%+v", m)
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, tt := range []struct {
		expr   string
		column int
		what   string
	}{
		{"", 1, "begins with / or //"},
		{"Item", 1, "begins with / or //"},
		{"/", 2, "the end: want a name"},
		{"/A/..", 4, "downward only"},
		{"/A/.", 4, "downward only"},
		{"/A[.//B]", 4, "downward only"},
		{"/child::A", 7, "axes are not supported"},
		{"/A/node()", 4, "no function"},
		{"/A/@b/C", 6, "nothing is below an attribute"},
		{"/A/text()/C", 10, "nothing is below"},
		{"/A/@b[1]", 6, "predicate on an attribute"},
		{"(A)[1]", 2, "begins with / or //"},
		{"(/A/@b)[1]", 7, "among attributes"},
		{"((/A)[1]/B)[1]", 2, "parentheses in"},
		{"(/A)", 5, "want ["},
		{"(/A)[last()]", 6, "a place"},
		{"(/A)[0]", 6, "no position"},
		{"/A[", 4, "the end"},
		{"/A[]", 4, "want a name"},
		{"/A[1", 5, "the end: want ]"},
		{"/A[0]", 4, "no position"},
		{"/A[1.5]", 4, "no position"},
		{"/A[1 and @b]", 4, "position()=1"},
		{"/A[last() and @b]", 4, "position()=last()"},
		{"/A[(1)]", 5, "position()=1"},
		{"/A[position()]", 4, "compared"},
		{"/A['x']", 4, "value alone"},
		{"/A[true]", 4, "value alone"},
		{"/A[@a=@b]", 6, "want a path and a value"},
		{"/A[@a=b and @c]", 6, "if b is a text, write 'b'"},
		{"/A[@a = foo]", 7, "if foo is a text, write 'foo'"},
		{"/A[@a=1=2]", 8, "want ]"},
		{"/A[@a='x]", 7, "has no end"},
		{"/A[/B]", 4, "begins at the node"},
		{"/{A", 2, "has no end"},
		{"/1st", 2, "braces"},
		{"/A#", 3, "means nothing"},
		{"/몬스터/#", 6, "means nothing"},
		{"/A B", 4, "want /, [, | or the end"},
		{"/A[contains(@a,b)]", 16, "text in quotes"},
		{"/A[contains('a','b')]", 13, "want a name"},
		{"/A[@a+1=2]", 6, "means nothing"},
		{"/A[count(B)=2]", 4, "no function"},
		{"/A" + strings.Repeat("[B", 100), 68, "nested deeper"},
		{"/A[" + strings.Repeat("(", 100), 36, "nested deeper"},
		{strings.Repeat("/A", 65), 129, "more than 64 steps"},
		{strings.Repeat("/A|", 64) + "/A", 195, "more than 64 steps"},
		{"/A" + strings.Repeat("[1]", 17), 51, "more than 16 predicates"},
		{strings.Repeat(" ", 20000), 16385, "at most 16384"},
	} {
		_, err := query.Compile(tt.expr)
		e, ok := errors.AsType[*query.SyntaxError](err)
		if !ok {
			t.Errorf("%.50q: %v", tt.expr, err)
			continue
		}
		if e.Column != tt.column || !strings.Contains(e.What, tt.what) || e.Expr != tt.expr {
			t.Errorf("%.50q: column %d, %s: want %d, %s", tt.expr, e.Column, e.What, tt.column, tt.what)
		}
	}
}

// countingBlocks counts how often anything is read.
type countingBlocks struct {
	blocks map[uint64][]byte
	reads  int
}

func (c *countingBlocks) Block(ctx context.Context, n uint64, load func(context.Context, uint64) ([]byte, error)) (b []byte, err error) {
	c.reads++
	if b = c.blocks[n]; b == nil {
		b, err = load(ctx, n)
		c.blocks[n] = b
	}
	return b, err
}

// TestSharedRuns checks that a run that many nodes share is read once if it has no match,
// and that each match in another is found under every parent.
func TestSharedRuns(t *testing.T) {
	const levels = 14
	run := []*node{{Name: "X", Attrs: attrs{{Name: "id", Value: 1}}}, {Name: "Y"}}
	for range levels {
		run = []*node{{Name: "N", Children: run}, {Name: "M", Children: run}}
	}
	z := &node{Name: "Deep", Children: []*node{{Name: "Z", Attrs: attrs{{Name: "id", Value: 2}}}}}
	data := dctest.Build(dctest.Doc{Root: dctest.Root(&node{Name: "Deep", Children: run}, z)}, dctest.Options{})
	blocks := &countingBlocks{blocks: map[uint64][]byte{}}
	f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	blocks.reads = 0
	if got := paths(t, f, "//Z[@id=2] | //X[@id=3] | //Y/X"); !slices.Equal(got, []string{"Deep.1/Z"}) {
		t.Error(got)
	}
	if blocks.reads > 20*levels {
		t.Errorf("%d reads of a file of %d nodes", blocks.reads, f.Counts().StoredNodes)
	}
	const fixed = levels - 10
	if got := len(matches(t, f, "/Deep"+strings.Repeat("/N", fixed)+"//X[@id=1]")); got != 1<<10 {
		t.Errorf("%d matches, want 1024", got)
	}
}

// TestRunsThatLookAlike checks that a memo of a run for some steps is not used for others,
// nor for a longer run that begins at the same place.
func TestRunsThatLookAlike(t *testing.T) {
	run := []*node{{Name: "X"}, {Name: "Y"}}
	img := dctest.NewImage(dctest.Doc{Root: dctest.Root(
		&node{Name: "A", Children: run}, &node{Name: "B", Children: run}, &node{Name: "Z"},
	)}, dctest.Options{})
	f := dctest.Open(t, img.Seal(dctest.SealOptions{}))
	if got := paths(t, f, "/B//X | //Z"); !slices.Equal(got, []string{"B/X", "Z"}) {
		t.Error(got)
	}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	a, ok, err := root.ChildNamed(uint16(slices.Index(f.Names(), "A")+1), 0)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	segment := img.Nodes.Segments[a.Address().Segment]
	img.Data[segment.Elements+int64(a.Address().Element)*img.Nodes.Size+dctest.NodeChildCount] = 1
	f = dctest.Open(t, img.Seal(dctest.SealOptions{}))
	if got := paths(t, f, "//Y"); !slices.Equal(got, []string{"B/Y"}) {
		t.Error(got)
	}
}

func TestRunEnds(t *testing.T) {
	f := shop(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range compile(t, "//Item").Run(ctx, f) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	count := 0
	for _, err := range compile(t, "//Item").Run(t.Context(), f) {
		if err != nil {
			t.Error(err)
		}
		if count++; count == 2 {
			break
		}
	}
	if count != 2 {
		t.Error(count)
	}
}

func TestDeepestFile(t *testing.T) {
	n := &node{Name: "End"}
	for range datacenter.MaxDepth - 1 {
		n = &node{Name: "A", Children: []*node{n}}
	}
	f := build(t, dctest.Options{}, n)
	if got := paths(t, f, "/A/A//A[A//End][1]//End"); len(got) != 1 {
		t.Errorf("%d", len(got))
	}
}

func drawDoc(t *rapid.T) (dctest.Doc, dctest.Options) {
	values := rapid.SampledFrom([]any{0, 1, 2, -1, float32(0.1), float32(2.5), true, false, "", "1", "abc", "x'y", "true"})
	var draw func(depth int) *node
	var pool []*node
	draw = func(depth int) *node {
		if len(pool) > 0 && rapid.IntRange(0, 3).Draw(t, "shared") == 0 {
			return rapid.SampledFrom(pool).Draw(t, "node")
		}
		n := &node{Name: rapid.SampledFrom(modelNames[:4]).Draw(t, "name")}
		for _, name := range []string{"a", "B", "id"} {
			if rapid.Bool().Draw(t, name) {
				n.Attrs = append(n.Attrs, dctest.Attr{Name: name, Value: values.Draw(t, "value")})
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "text") == 0 {
			n.Attrs = append(n.Attrs, dctest.Text(rapid.SampledFrom([]string{"1", "abc", "2.5"}).Draw(t, "value")))
		}
		if depth < 4 {
			for range rapid.IntRange(0, 4).Draw(t, "children") {
				n.Children = append(n.Children, draw(depth+1))
			}
		}
		if depth > 1 {
			pool = append(pool, n)
		}
		return n
	}
	root := dctest.Root()
	for range rapid.IntRange(1, 4).Draw(t, "sheets") {
		root.Children = append(root.Children, draw(1))
	}
	o := dctest.Options{Placeholders: rapid.IntRange(0, 2).Draw(t, "placeholders"), Overlap: rapid.Bool().Draw(t, "overlap")}
	return dctest.Doc{Root: root, Layout: datacenter.Layout(rapid.IntRange(1, 3).Draw(t, "layout"))}, o
}

// TestNaive compares queries with the naive evaluator, for all forms of files, and finds
// each match alone by its XPath.
func TestNaive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		doc, o := drawDoc(rt)
		f := dctest.Open(t, dctest.Build(doc, o))
		root := modelOf(t, f)
		for range 5 {
			p := drawPath(rt, 0, false)
			if rapid.IntRange(0, 3).Draw(rt, "parentheses") == 0 {
				p = drawNth(rt)
			}
			expr, want := p.text, p.find([]*modelNode{root})
			if rapid.IntRange(0, 3).Draw(rt, "union") == 0 {
				other := drawPath(rt, 0, false)
				more := other.find([]*modelNode{root})
				expr += "|" + other.text
				want.nodes, want.attrs = append(want.nodes, more.nodes...), append(want.attrs, more.attrs...)
			}
			all := matches(t, f, expr)
			got := []string{}
			for _, m := range all {
				got = append(got, m.Path)
			}
			if !slices.Equal(got, want.paths()) {
				rt.Fatalf("%s:\n%q, want\n%q", expr, got, want.paths())
			}
			for _, m := range all[:min(len(all), 3)] {
				if alone := paths(t, f, m.XPath()); !slices.Equal(alone, []string{m.Path}) {
					rt.Fatalf("%s: %q, want %s alone", m.XPath(), alone, m.Path)
				}
			}
		}
	})
}
