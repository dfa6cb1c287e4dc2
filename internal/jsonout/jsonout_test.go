package jsonout_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"lorefs/internal/jsonout"
)

type named struct {
	Name string   `json:"name,omitempty"`
	List []string `json:"list,omitzero"`
}

func TestObject(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{named{}, "{\n  \"schema_version\": 1\n}\n"},
		{named{"/games/Sword & <Shield>", []string{}}, "{\n  \"schema_version\": 1,\n  \"name\": \"/games/Sword & <Shield>\",\n  \"list\": []\n}\n"},
	} {
		var b strings.Builder
		if err := jsonout.Object(&b, c.v); err != nil || b.String() != c.want {
			t.Errorf("%v: %s, %v, want %s", c.v, &b, err, c.want)
		}
	}
}

func TestLines(t *testing.T) {
	var b strings.Builder
	lines := jsonout.NewLines(&b)
	for _, v := range []any{named{"a & b", nil}, &named{"<c>", nil}, named{}} {
		if err := lines.Write(v); err != nil {
			t.Fatal(err)
		}
	}
	const want = `{"schema_version":1,"name":"a & b"}
{"name":"<c>"}
{}
`
	if b.String() != want {
		t.Errorf("%s, want %s", &b, want)
	}
}

func TestFailures(t *testing.T) {
	if err := jsonout.Object(broken{}, named{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	lines := jsonout.NewLines(broken{})
	for range 2 {
		if err := lines.Write(named{}); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
