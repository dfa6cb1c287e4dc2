package wtf8_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"lorefs/internal/wtf8"
)

func TestAppendJSON(t *testing.T) {
	for in, want := range map[string]string{
		"":                         `""`,
		"sword":                    `"sword"`,
		"a\"b\\c":                  `"a\"b\\c"`,
		"line\nend\x00\x7f":        `"line\u000aend\u0000\u007f"`,
		"검 😀 <&>":                  `"검 😀 <&>"`,
		"\xed\xa0\x80x":            `"\ud800x"`,
		"\xed\xbf\xbf":             `"\udfff"`,
		"\xed\x9f\xbf":             "\"\ud7ff\"",
		"bad \xff\xed\xa0 \xc3":    "\"bad \ufffd\ufffd\ufffd \ufffd\"",
		"\xed\xa0\x80\xed\xa0\x80": `"\ud800\ud800"`,
	} {
		if got := string(wtf8.AppendJSON(nil, []byte(in))); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func FuzzAppendJSON(f *testing.F) {
	f.Add("a\"\\\x01검\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, s string) {
		out := wtf8.AppendJSON([]byte("x"), []byte(s))[1:]
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%q gives %s: %v", s, out, err)
		}
		if utf8.ValidString(s) && back != s {
			t.Errorf("%q comes back as %q", s, back)
		}
	})
}
