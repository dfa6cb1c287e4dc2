package query_test

import (
	"fmt"
	"slices"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/query"
)

func TestPlain(t *testing.T) {
	for expr, want := range map[string]string{
		"/A":                           "/A",
		"/A/B[2]":                      "/A/B[2]",
		"/A[@x=1]/{b c}[@y='z'][3]":    "/A[@x=1]/{b c}[@y='z'][3]",
		"(/A/B[@x=1])[2]/C":            "(/A/B[@x=1])[2]/C",
		"/A[@x=1 and @y='it''s']":      `/A[@x=1 and @y="it's"]`,
		"/A[@x=1][@y=2.5]":             "/A[@x=1 and @y=2.5]",
		"/A[@x=true]":                  "/A[@x='true']",
		"/A | /B":                      "",
		"//A":                          "",
		"/A/*":                         "",
		"/A/@x":                        "",
		"/A[@x>1]":                     "",
		"/A[@x]":                       "",
		"/A[B/@x=1]":                   "",
		"/A[@x=1 or @y=2]":             "",
		"/A[2][@x=1]":                  "",
		"/A[last()]":                   "",
		"/A[position()=1 and @x=1]":    "",
		"/A[not(@x=1)]":                "",
		"/A[contains(@x,'1')]":         "",
		"/A[position()>=1]":            "",
		"/A[(@x=1 and @y=2) and @z=3]": "/A[@x=1 and @y=2 and @z=3]",
	} {
		q, err := query.Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		steps, ok := q.Plain()
		if got := string(query.AppendPlain(nil, steps)); got != want || ok != (want != "") {
			t.Errorf("%s: %s, %v: want %s", expr, got, ok, want)
		}
	}
}

// A condition holds of a value when a query finds the attribute that has it.
func TestPlainConditions(t *testing.T) {
	values := []any{1, 0, -7, "1", "01", " 1", "true", "", "x", true, false, float32(1), float32(0.1), "0.1", float32(16777216)}
	root := &dctest.Node{Name: "S"}
	for i, v := range values {
		root.Children = append(root.Children, &dctest.Node{Name: fmt.Sprintf("N%d", i), Attrs: []dctest.Attr{{Name: "a", Value: v}}})
	}
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(root)}, dctest.Options{}))
	for _, literal := range []string{"1", "'1'", "'01'", "true", "'true'", "0", "false", "0.1", "'x'", "''", "1.0", "16777217", "' 1'", "-7"} {
		q, err := query.Compile("/S/*[@a=" + literal + "]")
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for m, err := range q.Run(t.Context(), f) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, m.Node.Name())
		}
		if q, err = query.Compile("/S[@a=" + literal + "]"); err != nil {
			t.Fatal(err)
		}
		steps, ok := q.Plain()
		if !ok {
			t.Fatal(literal)
		}
		var got []string
		for i, v := range values {
			if steps[0].Conditions[0].Holds(valueOf(t, v)) {
				got = append(got, fmt.Sprintf("N%d", i))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s, want %s", literal, got, want)
		}
	}
}

func valueOf(t *testing.T, v any) datacenter.Value {
	switch v := v.(type) {
	case int:
		return datacenter.IntValue(int32(v))
	case bool:
		return datacenter.BoolValue(v)
	case float32:
		return datacenter.FloatValue(v)
	}
	s, err := datacenter.StringValue(v.(string))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
