package query_test

import (
	"errors"
	"testing"
	"unicode/utf8"

	"lorefs/datacenter/query"
)

// FuzzCompile runs what compiles on a small file: each match must be found alone by its
// XPath. Errors must have a place.
func FuzzCompile(f *testing.F) {
	for _, expr := range []string{
		"/ItemData/Item[@id=5001]/@rank", "//Skill[@a=1 and B/@c>100]", "//*/@*|/A/text()", "//A[last()]", "/A[2][@b!='x']",
		"/A[not(contains(B,'x') or starts-with(@c,\"y\"))]", "/{a b}}}/@{}", "/A[position()<=2]//B[-1.5e3>=@c]", "/A[true/B=false]", "/몬스터",
		"/A[(((B)))]", "/A[B[C[@d]]]", "//@id", "/..", "/a::b", "/A['", "\xed\xa0\x80",
	} {
		f.Add(expr)
	}
	file := shop(f)
	f.Fuzz(func(t *testing.T, expr string) {
		q, err := query.Compile(expr)
		if err != nil {
			e, ok := errors.AsType[*query.SyntaxError](err)
			if !ok || e.Column < 1 || e.Column > utf8.RuneCountInString(expr)+1 || e.What == "" {
				t.Fatalf("%q: %v", expr, err)
			}
			return
		}
		found := 0
		for m, err := range q.Run(t.Context(), file) {
			if err != nil {
				t.Fatalf("%q: %v", expr, err)
			}
			if alone := paths(t, file, m.XPath()); len(alone) != 1 || alone[0] != m.Path {
				t.Fatalf("%q: %s finds %q, want %s", expr, m.XPath(), alone, m.Path)
			}
			if found++; found == 5 {
				break
			}
		}
	})
}
