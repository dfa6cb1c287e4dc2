package wtf8_test

import (
	"bytes"
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
		"line\nend\x00\x7f":        `"line\nend\u0000\u007f"`,
		"\t\r\b":                   `"\t\r\u0008"`,
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

func TestAppendUnitsJSON(t *testing.T) {
	for _, s := range []string{
		"", "a\"b\\c", "line\r\n\tend\x00\x01\x7f\u0080\u07ff", "검 😀 \U0010ffff\uffff",
		"\xed\xa0\x80", "x\xed\xbf\xbf", "\xed\xb8\x80\xed\xa0\xbd", "\xed\xa0\xbd😀", "\xed\xa0\x80a",
	} {
		want := wtf8.AppendJSON(nil, s)
		units := wtf8.AppendUTF16(nil, s)
		if got := wtf8.AppendUnitsJSON(nil, units); !bytes.Equal(got, want) {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
		if got := wtf8.AppendUnitsJSON(nil, append(units, 'x')); !bytes.Equal(got, want) {
			t.Errorf("%q and half a unit: %s, want %s", s, got, want)
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
		units := wtf8.AppendUTF16(nil, s)
		if string(wtf8.Append(nil, units)) != s {
			return // s is not WTF-8
		}
		if got := wtf8.AppendUnitsJSON(nil, units); !bytes.Equal(got, out) {
			t.Errorf("%q gives %s, its units %s", s, out, got)
		}
	})
}
