package query_test

import (
	"slices"
	"testing"

	"lorefs/datacenter/query"
)

func TestUnknown(t *testing.T) {
	q, err := query.Compile("/A/{b c}[@d=1 and not(E/@f)]//*[@*=2] | (//g)[2]/@d | /A/text()")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := q.Unknown([]string{"A", "f", "__value__"}), []string{"b c", "d", "E", "g"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := q.Unknown([]string{"A", "b c", "d", "E", "f", "g", "__value__"}); got != nil {
		t.Errorf("%q, want none", got)
	}
}
