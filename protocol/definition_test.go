package protocol_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"lorefs/protocol"
)

// TestPrinter prints and parses every public definition twice, and compares the texts.
func TestPrinter(t *testing.T) {
	for _, corpus := range []string{"tera-toolbox", "tera-proxy", "meishuu-2017-09"} {
		dir, names := fixtureNames(t, corpus)
		for _, name := range names {
			d, err := fixtureDefinition(t, dir, name)
			if err != nil {
				continue // TestCorpora has the reason
			}
			text, err := d.AppendText(nil)
			if err != nil {
				t.Fatal(err)
			}
			again, err := protocol.Parse(name, text, protocol.ParseOptions{})
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			want, err := json.Marshal(d.Fields)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := json.Marshal(again.Fields); string(got) != string(want) || err != nil || again.Patches != d.Patches {
				t.Errorf("%s: got %s %v\nwant %s %v", name, got, again.Patches, want, d.Patches)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"byte order marks", "\ufeff\ufeffuint64 id\r\n", "uint64 id\n"},
		{"one at the end", "uint64 id\ufeff", "uint64 id\n"},
		{"spaces", "\t array \u00a0 a # x\n--int32\tb\n- -byte c\n-- - bool d\n", ""},
		{"dashes", "array a #  x\n-array b\n- -byte c\n--\tbool d\n", "array a # x\n- array b\n- - byte c\n- - bool d\n"},
		{"patches", "#MajorPatchVersion >= 86&&majorpatchversion<114\n#x\nint32 a ^86.03\nint32 b ^0-86\n", "# majorPatchVersion >= 86 && majorPatchVersion < 114\n\nint32 a ^86.03\nint32 b ^0-86\n"},
		{"one patch", "# majorPatchVersion == 92\n", "# majorPatchVersion >= 92 && majorPatchVersion < 93\n\n"},
		{"up to a patch", "# majorPatchVersion <= 92", "# majorPatchVersion < 93\n\n"},
		{"no patch", "# majorPatchVersion >= 86 or so\nint32 a", "int32 a\n"},
		{"types", "array<array<int32[2]>> a\narray[interleaved] b\narray<vec3>[interleaved] c\nint32[2][3] d\nangle e=1.5\nbool f=true", "array<array<int32[2]>> a\narray[interleaved] b\narray<vec3>[interleaved] c\nint32[2][3] d\nangle e=1.5\nbool f=true\n"},
		{"pointers", "count a\noffset a\nref b\narray a\nbytes b", "count a\noffset a\nref b\narray a\nbytes b\n"},
		{"nothing", " \n#\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := protocol.Parse("S_X.7.console.def", []byte(tt.text), protocol.ParseOptions{})
			if tt.want == "" && tt.name == "spaces" {
				wantError(t, err, "S_X.7.console.def:2: 2 times \"-\"")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.AppendText(nil)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
			if d.Name != "S_X" || d.Version != 7 || d.Platform != "console" {
				t.Errorf("got %s %d %s", d.Name, d.Version, d.Platform)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"in32 a":                           `X:1: no such type: "in32" (did you mean "int32"?)`,
		"\nuint8 a":                        `X:2: no such type: "uint8" (did you mean "byte"?)`,
		"Int32 a":                          `no such type: "Int32"`,
		"fixed a":                          `no such type: "fixed"`,
		"int32":                            `want a type and a name, got "int32"`,
		"int32 a b":                        `"b" behind the name`,
		"int32 a ^86 ^87":                  `want a type and a name`,
		"int32 a ^86-85":                   `^86-85 is no range`,
		"int32 a ^x":                       `patch "x"`,
		"int32 1a":                         `"1a" is no name`,
		"int32 a.b":                        `"a.b" is no name`,
		"- int32 a":                        `1 times "-"`,
		"int32 a\n- int32 b":               `X:2: 1 times "-"`,
		"array<int32> a\n- int32 b":        `X:2: 1 times "-"`,
		"int32<int32> a":                   `int32 has no element type`,
		"array<int32 a":                    `want > behind int32`,
		"array<int32>> a":                  `">" behind the type`,
		"array<object> a":                  `object cannot be an element type`,
		"array<array> a":                   `array cannot be an element type`,
		"array<ref> a":                     `ref cannot be an element type`,
		"string[2] a":                      `string[2]: want a type of fixed size`,
		"int32[0] a":                       `int32[0]: want`,
		"int32[65536] a":                   `int32[65536]: want`,
		"int32[2 a":                        `want ] behind`,
		"int32[interleaved] a":             `int32[interleaved]: want`,
		"int32 a=x":                        `"x" is no int32`,
		"byte a=256":                       `"256" is no byte`,
		"string a=x":                       `want a value behind =`,
		"vec3 a=1":                         `"1" is no vec3`,
		"@include ../x.def":                `want a file of the same folder`,
		"@include a b":                     `want @include and the name of a file`,
		"array a\n- @include x":            `want @include and the name of a file, not indented`,
		"@include X":                       `files include each other deeper than 5`,
		"@include none":                    `@include none: no such file`,
		strings.Repeat("byte a\n", 10_001): `more than 10000 fields`,
		"#" + strings.Repeat("x", 1<<20):   `more than 1048576 bytes`,
		strings.Repeat("array<", 18) + "int32" + strings.Repeat(">", 18) + " a": `types are nested deeper than 16`,
	} {
		_, err := protocol.Parse("X", []byte(text), protocol.ParseOptions{Include: func(file string) ([]byte, error) {
			if file == "X" {
				return []byte("@include X\n@include X"), nil
			}
			return nil, errors.New("no such file")
		}})
		wantError(t, err, want)
		if _, ok := errors.AsType[*protocol.SyntaxError](err); !ok {
			t.Errorf("%T is no SyntaxError", err)
		}
	}
	deep := ""
	for i := range 18 {
		deep += strings.Repeat("- ", i) + "array a\n"
	}
	_, err := protocol.Parse("X", []byte(deep), protocol.ParseOptions{})
	wantError(t, err, "fields are nested deeper than 16")
}

func TestCompileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"ref a\nstring b\nint32 a":            `X:1: there is no string, bytes or array a`,
		"ref a\nstring a\nstring b":           `X:3: the definition lists its pointers, but none for string b`,
		"offset a\narray a":                   `X:2: array a has an offset but no count`,
		"ref a\nref a\nbytes a":               `X:2: a second pointer of a`,
		"offset a\noffset a\nbytes a":         `X:2: a second offset of a`,
		"count a\noffset a\nstring a":         `X:1: a second count of a, or one of a string`,
		"ref b\narray b\n- ref c\n- string a": `X:3: there is no string, bytes or array c`,
		"byte[65530] a\nint32 b":              `X:2: the fields before and with b are longer than a packet`,
		"int32[65535] a":                      `X:1: int32[65535] is longer than a packet`,
		strings.Repeat("vec3[5000] a\n", 2):   `longer than a packet`,
	} {
		d, err := protocol.Parse("X", []byte(text), protocol.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = protocol.Compile(d, protocol.Options{})
		wantError(t, err, want)
	}
	// Definitions made by hand are checked too.
	for _, d := range []*protocol.Definition{
		{Fields: []protocol.Field{{Name: "a", Type: 99}}},
		{Fields: []protocol.Field{{Name: "a\"", Type: protocol.TypeByte}}},
		{Fields: []protocol.Field{{Name: "a", Type: protocol.TypeFixed, Elem: &protocol.Field{Type: protocol.TypeInt64}, Len: 1 << 61}}},
		{Fields: []protocol.Field{{Name: "a", Type: protocol.TypeFixed, Len: 3}}},
		{Fields: []protocol.Field{{Name: "a", Type: protocol.TypeFixed, Elem: &protocol.Field{Type: protocol.TypeString}, Len: 3}}},
		{Fields: []protocol.Field{{Name: "a", Type: protocol.TypeArray, Elem: &protocol.Field{Type: protocol.TypeRef}}}},
	} {
		if _, err := protocol.Compile(d, protocol.Options{}); err == nil {
			t.Errorf("%+v was compiled", d)
		}
	}
}

func TestWarnings(t *testing.T) {
	d, err := protocol.Parse("X", []byte("# majorPatchVersion >= 1\n# majorPatchVersion >= 2\nobject o\n- int32 a\nint32 b ^0-86\nint32 b ^86\nobject o\n- int32 a\nint32 c\nint32 c ^90\narray d\n- object e\n"), protocol.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.Warnings); strings.Count(got, "X:") != 3 || !strings.Contains(got, "X:12: object d.e has no fields") || !strings.Contains(got, "X:2: a second range") || !strings.Contains(got, "X:10: c was there before, in line 9") {
		t.Errorf("got %s", got)
	}
}

func TestFileNames(t *testing.T) {
	for name, want := range map[string]string{
		"S_CHAT.3.def":         "S_CHAT.3 false",
		"S_CHAT.3.console.def": "S_CHAT.3.console false",
		"S_CHAT.3.js":          "S_CHAT.3 true",
		"S_CHAT.def":           "",
		"S_CHAT.03.def":        "",
		"S_CHAT.-3.def":        "",
		"S_CHAT.3.def.txt":     "",
		"S CHAT.3.def":         "",
		"S_CHAT.3.a b.def":     "",
	} {
		n, ok := protocol.ParseFileName(name)
		if got := fmt.Sprint(n, n.Script); ok && got != want || ok != (want != "") {
			t.Errorf("%s: got %s, %v, want %q", name, got, ok, want)
		}
	}
}
