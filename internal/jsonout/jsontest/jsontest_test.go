package jsontest_test

import (
	"strings"
	"testing"

	"lorefs/internal/jsonout/jsontest"
)

func TestOutput(t *testing.T) {
	const entry = `"name":"a","kind":"file","size":1,"mtime":"2026-01-02T03:04:05Z","inode":1,"path":"a"}` + "\n"
	for text, wrong := range map[string]string{
		"": "",
		`{"schema_version":1,` + entry + `{` + entry: "",
		`{` + entry: "that it has a schema_version is false",
		`{"schema_version":1,` + entry + `{"schema_version":1,`:      "unexpected EOF",
		strings.Repeat(`{"schema_version":1,`+entry, 2):              "object 2: that it has",
		`{"schema_version":1,"new":1,` + entry:                       `unexpected additional properties ["new"]`,
		`{"schema_version":2,` + entry:                               "schema_version",
		strings.Replace(`{"schema_version":1,`+entry, "2026", "", 1): "mtime: pattern",
	} {
		err := jsontest.Output("ls", []byte(text))
		if (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v, want %q", text, err, wrong)
		}
	}
	if err := jsontest.Output("lst", []byte(`{"schema_version":1}`)); err == nil {
		t.Error("there is no definition lst, and no error")
	}
}

func TestStruct(t *testing.T) {
	type file struct {
		Path  string `json:"path"`
		Bytes int64  `json:"bytes"`
	}
	type few struct {
		Path string `json:"path"`
	}
	type other struct {
		Path  string  `json:"path"`
		Bytes float64 `json:"bytes,omitempty"`
		More  bool    `json:"more"`
	}
	for v, wrong := range map[any]string{
		file{}:  "",
		few{}:   "repack.bytes is in the schema only",
		other{}: "repack.more is not in the schema",
	} {
		err := jsontest.Struct("repack", v)
		if (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%T: %v, want %q", v, err, wrong)
		}
	}
	if err := jsontest.Struct("repack", other{}); !strings.Contains(err.Error(), "integer in the schema, and number") || !strings.Contains(err.Error(), "requires") {
		t.Error(err)
	}
}

func TestDefinitions(t *testing.T) {
	if names, err := jsontest.Definitions(); err != nil || len(names) == 0 {
		t.Errorf("%v: %v", names, err)
	}
}
