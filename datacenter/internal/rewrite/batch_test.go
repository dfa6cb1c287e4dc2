package rewrite_test

import (
	"strconv"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/internal/rewrite"
)

// askedFor returns for how many strings a Rewriter asks before it moves the attributes of a sheet's children.
func askedFor(t *testing.T, sheet *dctest.Node) int {
	t.Helper()
	doc := dctest.Doc{Root: dctest.Root(sheet)}
	f := dctest.Open(t, dctest.Build(doc, dctest.Options{}))
	r, err := rewrite.NewRewriter(t.Context(), f, nil, datacenter.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	first, err := root.ChildAt(0)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := first.AppendChildren(nil, 0, len(sheet.Children))
	if err != nil {
		t.Fatal(err)
	}
	return r.AskedFor(nodes)
}

// TestMoveSameLongString checks that one long string is not read for each of many siblings that have it
// before any of them is moved: a small file can have millions of such attributes.
func TestMoveSameLongString(t *testing.T) {
	const siblings = 30
	sheet := &dctest.Node{Name: "Sheet"}
	for i := range siblings {
		sheet.Children = append(sheet.Children, &dctest.Node{Name: "One", Attrs: []dctest.Attr{
			{Name: "id", Value: i}, {Name: "text", Value: strings.Repeat("long", 10_000)},
		}})
	}
	if n := askedFor(t, sheet); n == 0 || n > 2 {
		t.Errorf("a long string is read %d times, want once or twice", n)
	}
}

// TestMoveEmptyStrings checks that the number of strings that are remembered is bounded, also if
// they are empty: a small file can have millions of attributes with one.
func TestMoveEmptyStrings(t *testing.T) {
	const siblings, attributes, most = 30, 1500, 32 << 10
	sheet := &dctest.Node{Name: "Sheet"}
	for i := range siblings {
		one := &dctest.Node{Name: "One", Attrs: []dctest.Attr{{Name: "id", Value: i}}}
		for k := range attributes {
			one.Attrs = append(one.Attrs, dctest.Attr{Name: "text" + strconv.Itoa(k), Value: ""})
		}
		sheet.Children = append(sheet.Children, one)
	}
	if n := askedFor(t, sheet); n == 0 || n > most {
		t.Errorf("%d strings are remembered, want at most %d", n, most)
	}
}
