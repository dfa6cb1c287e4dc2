package query_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/query"
	"lorefs/internal/tabular"
)

// tableOf returns a table as lines, with spaces between the cells and ; between the lines.
func tableOf(t testing.TB, f *datacenter.File, expr, columns, order string) string {
	t.Helper()
	q := compile(t, expr)
	shown, sorted := q.DefaultColumns(), (*query.Columns)(nil)
	var err error
	if columns != "" {
		if shown, err = query.CompileColumns(columns); err != nil {
			t.Fatal(err)
		}
	}
	if order != "" {
		if sorted, err = query.CompileOrder(order); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := q.Rows(t.Context(), f, shown, sorted)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	w := tabular.NewWriter(&b, tabular.CSV, rows.Names())
	for row, err := range rows.All() {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := row.Put(w, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.NewReplacer("\n", ";", ",", " ").Replace(b.String()), ";")
}

func TestColumns(t *testing.T) {
	f := shop(t)
	for _, c := range []struct{ expr, columns, order, want string }{
		{"/ItemData/Item", "id,name,@rate", "", "id name rate;1 shield 0.1;2 axe 0.2;3 sword 0.3;4 shield 0.4"},
		{"/ItemData", "Item/@id, Item[@sold=true]/name", "", "Item/@id Item[@sold=true]/name;1 axe;4 shield"},
		{"/ItemData/Item", "id,Part/text()", "", `id Part/text();1 x;2 ;3 it's;4 `},
		{"/ItemData", "Item//text()", "", "Item//text();x;\"\""},
		{"/ItemData/Item[1]", "*", "", "id name rate sold;1 shield 0.1 false;4 shield 0.4 true"},
		{"/ItemData/Item[2]", "", "", "_path id name rate sold;ItemData/Item.1 2 axe 0.2 true"},
		{"//Item[@id>3]/@id", "", "", "_path _value;ItemData.1/Item/id 4;Odd/Item/id 9"},
		{"//Item[@id>3]/@id", "name(),name,value()", "", "_name name _value;id shield 4;id sword 9"},
		{"//Part", "value(),name()", "", "_value _name;x Part;12 Part;it's Part"},
		{"//Item", "id", "-id", "id;9;4;3;2;1"},
		{"//Item", "id", "name,-rate", "id;2;4;1;9;3"},
		{"//Item", "id", "Part/text(),-id", "id;9;4;2;3;1"},
		{"//Item[Part]", "id", "-Part[2]/text()", "id;1;3"},
		{"//Part", "value()", "value()", "_value;12;it's;x"},
		{"/Odd", "Item,{1 st}}}", "", `Item 1 st};"a ""b""" 7`},
		{"//None", "id", "id", "id"},
	} {
		if got := tableOf(t, f, c.expr, c.columns, c.order); got != c.want {
			t.Errorf("%s with %s by %s: %s, want %s", c.expr, c.columns, c.order, got, c.want)
		}
	}
}

func TestColumnMistakes(t *testing.T) {
	for columns, want := range map[string]string{
		"":              "column 1",
		"id,":           "column 4",
		"id name":       "column 4",
		"id,@id":        "column 4 of \"id,@id\": the column id comes twice",
		"A/*":           "* stands alone",
		"A[@b=1]":       "a column ends with an attribute",
		"-id":           "column 1",
		"path(":         "column",
		"size()":        "no function",
		"//id":          "column 1",
		"A/@b/c":        "nothing is below an attribute",
		"contains(a,b)": "no function",
	} {
		_, err := query.CompileColumns(columns)
		if e, ok := errors.AsType[*query.SyntaxError](err); !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("%s: %v, want %s", columns, err, want)
		}
	}
	if _, err := query.CompileOrder("*"); err == nil {
		t.Error("a table can be sorted by all columns")
	}
	c, err := query.CompileColumns("id,A[@b=1]/@c,path(),*")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Unknown([]string{"id", "b"}); !slices.Equal(got, []string{"A", "c"}) {
		t.Errorf("unknown are %v", got)
	}
}

// TestRowsStop checks that a table ends early when nobody reads on, and with the context.
func TestRowsStop(t *testing.T) {
	f := shop(t)
	ctx, cancel := context.WithCancel(t.Context())
	q := compile(t, "//Item")
	for _, order := range []string{"", "id"} {
		var sorted *query.Columns
		if order != "" {
			sorted, _ = query.CompileOrder(order)
		}
		rows, err := q.Rows(ctx, f, q.DefaultColumns(), sorted)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range rows.All() {
			if err != nil {
				t.Fatal(err)
			}
			n++
			break
		}
		if n != 1 {
			t.Errorf("%d rows", n)
		}
	}
	columns, err := query.CompileColumns("id")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := q.Rows(ctx, f, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for _, rowErr := range rows.All() {
		err = rowErr
	}
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
