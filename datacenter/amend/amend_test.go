package amend_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/amend"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/datacenter/query"
)

// source is a data center with two sheets of a name, twins, and an attribute of each type.
func source(t *testing.T) *datacenter.File {
	t.Helper()
	item := func(id, price int, attrs ...dctest.Attr) *dctest.Node {
		return &dctest.Node{Name: "Item", Attrs: append([]dctest.Attr{{Name: "id", Value: id}, {Name: "price", Value: price}}, attrs...)}
	}
	first := &dctest.Node{Name: "Sheet", Children: []*dctest.Node{
		item(1, 10, dctest.Attr{Name: "name", Value: "old sword"}), item(2, 15), item(2, 15),
		item(3, 7, dctest.Attr{Name: "rate", Value: float32(0.5)}, dctest.Attr{Name: "on", Value: true}, dctest.Attr{Name: "cost", Value: "12"}),
	}}
	second := &dctest.Node{Name: "Sheet", Children: []*dctest.Node{item(1, 1)}}
	return dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(first, second)}, dctest.Options{}))
}

// amended applies the patch of an operation, and returns what another expression then finds.
func amended(t *testing.T, f *datacenter.File, expr string, do amend.Operation, shows string) (string, amend.Counts, error) {
	t.Helper()
	p, n, err := amend.Make(t.Context(), f, compile(t, expr), do)
	if err != nil {
		return "", n, err
	}
	return applied(t, f, p, shows), n, nil
}

// applied applies a patch to a draft of the file of which it was made, and returns what an expression finds there.
func applied(t *testing.T, f *datacenter.File, p *patch.Patch, shows string) string {
	t.Helper()
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := patch.NewApplier(f, d).Plan(t.Context(), p)
	if err != nil || r.Conflicts > 0 || r.Already > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := d.Apply(t.Context(), r.Edits...); err != nil {
		t.Fatal(err)
	}
	s := d.Snapshot()
	defer s.Close()
	var out strings.Builder
	if _, err := s.Write(t.Context(), datacenter.WriteOptions{}, &out); err != nil {
		t.Fatal(err)
	}
	var found []string
	for m, err := range compile(t, shows).Run(t.Context(), dctest.Open(t, []byte(out.String()))) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Kind == query.Node {
			found = append(found, m.Path)
			continue
		}
		text, err := m.Attribute.AppendText(nil)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, fmt.Sprintf("%v %s", m.Attribute.Type(), text))
	}
	return strings.Join(found, ", ")
}

func compile(t *testing.T, expr string) *query.Query {
	t.Helper()
	q, err := query.Compile(expr)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestMake(t *testing.T) {
	added := func(xml string) amend.Operation {
		do, err := amend.Add("xml", xml)
		if err != nil {
			t.Fatal(err)
		}
		return do
	}
	f := source(t)
	for _, c := range []struct {
		expr          string
		do            amend.Operation
		shows, want   string
		changed, same int
	}{
		{"//Item[@id=2]/@price", amend.Set("16"), "//@price", "int 10, int 16, int 16, int 7, int 1", 2, 0},
		{"(//Item[@id=2])[2]/@price", amend.Set("16"), "//@price", "int 10, int 15, int 16, int 7, int 1", 1, 0},
		{"/Sheet[2]/Item/@price", amend.Set("1"), "//@price", "int 10, int 15, int 15, int 7, int 1", 0, 1},
		{"//Item[@id=3]/@id | //Item[@id=3]/@price", amend.Set("4"), "//Item[@id=4]/@price", "int 4", 2, 0},
		{"//@price", amend.Scale(1.5), "//@price", "int 15, int 23, int 23, int 11, int 2", 5, 0},
		{"//@price", amend.Scale(-0.5), "//@price", "int -5, int -8, int -8, int -4, int -1", 5, 0},
		{"//@price", amend.Increase(0.4), "//@price", "int 10, int 15, int 15, int 7, int 1", 0, 5},
		{"//@rate | //@cost", amend.Increase(0.25), "//@rate | //@cost", "string 12, float 0.75", 1, 1},
		{"//@cost", amend.Scale(1.3), "//@cost", "string 16", 1, 0},
		{"//@on", amend.Set("false"), "//@on", "bool false", 1, 0},
		{"//@name", amend.Replace("o", "00"), "//@name", "string 00ld sw00rd", 1, 0},
		{"//@name", amend.Set("7"), "//@name", "string 7", 1, 0},
		{"//@price", amend.Unset(), "//@price", "", 5, 0},
		{"//Item[not(@rate)]", amend.Give("rate", "2"), "//@rate", "float 2, float 2, float 2, float 0.5, float 2", 4, 0},
		{"//Item", amend.Give("cost", "12"), "//@cost", "string 12, string 12, string 12, string 12, string 12", 4, 1},
		{"/Sheet[1]", amend.Give("other", "12"), "//@other", "int 12", 1, 0},
		{"//Item[@id=2]", amend.Remove(), "//Item/@id", "int 1, int 3, int 1", 2, 0},
		{"/Sheet[1] | //Item", amend.Remove(), "/Sheet | //Item", "Sheet", 2, 4},
		{"/Sheet", added(`<Item id="9" rate="3" cost="4"/>`), "//Item[@id=9]/@*", "string 4, int 9, float 3, string 4, int 9, float 3", 2, 0},
		{"/Sheet[1]", added(`<Item id="9" rate="3" dc:types="rate:int">text</Item>`), "//Item[@id=9]/@*", "int 9, int 3, string text", 1, 0},
	} {
		got, n, err := amended(t, f, c.expr, c.do, c.shows)
		if err != nil || got != c.want || n != (amend.Counts{Changed: c.changed, Same: c.same}) {
			t.Errorf("%s %T: %s, %+v, %v; want %s", c.expr, c.do, got, n, err, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	f := source(t)
	for _, c := range []struct {
		expr string
		do   amend.Operation
		want string
	}{
		{"//@price", amend.Set("x"), `Sheet/Item/price: not a value that a data center can hold: "x" is not an int: a whole number from -2147483648 to 2147483647, and 4 more`},
		{"//@price | //@name", amend.Scale(2), `Sheet/Item/name: string "old sword" is no number`},
		{"//@price", amend.Scale(1e9), "Sheet/Item/price: 1e+10 does not fit in an int, and 3 more"},
		{"//@price", amend.Scale(math.NaN()), "Sheet/Item/price: NaN does not fit in an int, and 4 more"},
		{"//@rate", amend.Scale(1e39), "Sheet/Item.3/rate: 5e+38 does not fit in a float"},
		{"//@cost", amend.Scale(1e20), `Sheet/Item.3/cost: "12" becomes 1.2e+21, which is not exact`},
		{"//@on", amend.Increase(1), "Sheet/Item.3/on: bool true is no number"},
		{"//@on", amend.Replace("t", "x"), "Sheet/Item.3/on: bool true is no string"},
		{"/Sheet[2]/Item", amend.Unset(), "Sheet.1/Item: this is a node: end the expression with /@NAME, or with /text()"},
		{"//@on", amend.Remove(), "Sheet/Item.3/on: this is an attribute, which unset removes"},
		{"//@on", amend.Give("x", "1"), "Sheet/Item.3/on: this is an attribute, and no node that could have one"},
		{"/Sheet[2]/Item", amend.Give("rate", "x"), `Sheet.1/Item: not a value that a data center can hold: "x" is not a float`},
	} {
		_, _, err := amend.Make(t.Context(), f, compile(t, c.expr), c.do)
		if _, ok := errors.AsType[*amend.RefusedError](err); !ok || err.Error() != c.want {
			t.Errorf("%s %T: %v; want %s", c.expr, c.do, err, c.want)
		}
	}
	if _, err := amend.Add("xml", "<A"); err == nil {
		t.Error("half an element was taken")
	}
}

func TestAddSheet(t *testing.T) {
	f := source(t)
	p, n, err := amend.AddSheet(t.Context(), f, "xml", `<Sheet><Item id="5" rate="1"/></Sheet>`)
	if err != nil || n.Changed != 1 {
		t.Fatal(n, err)
	}
	if got := applied(t, f, p, "/Sheet[3]/Item/@*"); got != "int 5, float 1" {
		t.Error(got)
	}
}
