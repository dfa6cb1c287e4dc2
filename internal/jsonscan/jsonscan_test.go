package jsonscan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"lorefs/internal/jsonscan"
)

const nesting = 10_000 // the limit of encoding/json

// valid reports whether a text is one value and, if it is a string, returns its content.
func valid(text []byte) (said string, ok bool) {
	s := jsonscan.New(text)
	s.Value(nesting)
	s.End()
	if s.Failed() {
		return "", false
	}
	s = jsonscan.New(text)
	if s.Peek() == '"' {
		said = s.String()
	}
	return said, !s.Failed()
}

// checkSame checks that encoding/json agrees.
func checkSame(t *testing.T, text []byte) {
	t.Helper()
	said, ok := valid(text)
	if want := json.Valid(text); ok != want {
		t.Fatalf("%q: JSON is %v, want %v", text, ok, want)
	}
	var want any
	if json.Unmarshal(text, &want) != nil || !utf8.ValidString(said) {
		return // encoding/json replaces an unpaired surrogate with U+FFFD
	}
	if want, is := want.(string); is && said != want {
		t.Errorf("%s says %q, want %q", text, said, want)
	}
}

var texts = []string{
	``, ` `, `{}`, ` [ ] `, `[1,2]`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1,"b":[{"c":null}]}`, `{"a"}`, `{"a":}`, `{1:2}`, `{"a":1,}`,
	`0`, `-0`, `01`, `-`, `1.`, `.5`, `1.5e+07`, `1e`, `1E-`, `+1`, `NaN`, `12345678901234567890`,
	`true`, `tru`, `truer`, `false`, `null`, `nulll`, `""`, `"`, `"a`, "\"\n\"", "\"\x7f\"", "\"\xff\"", `"\x"`, `"\u12"`, `"\u12g4"`, `"\`,
	`"\"\\\/\b\f\n\r\t"`, `"\u0041\u00e9\uD55C"`, `"\ud83d\ude00"`, `"\ud83d\u0041"`, `"\ud83d"`, `"검 😀"`, `{} {}`, `[}`, "\ufeff{}", "1\x00",
}

func TestAsStandardLibrary(t *testing.T) {
	for _, text := range texts {
		checkSame(t, []byte(text))
	}
}

func FuzzJSONText(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(checkSame)
}

func TestSurrogateAlone(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud800"`:             "\xed\xa0\x80",
		`"a\udc00\ud800b"`:     "a\xed\xb0\x80\xed\xa0\x80b",
		`"\ud83d\ud83d\ude00"`: "\xed\xa0\xbd😀",
		`"\ud800\n"`:           "\xed\xa0\x80\n",
	} {
		if got, ok := valid([]byte(text)); !ok || got != want {
			t.Errorf("%s says %q, want %q", text, got, want)
		}
	}
}

// TestFirstError checks that the first error is kept and that reading stops there.
func TestFirstError(t *testing.T) {
	s := jsonscan.New([]byte("{\"몬\": [1,\n 2 x]}"))
	s.Open('{')
	for i := 0; s.More(i, '}'); i++ {
		s.Key()
		s.Open('[')
		for k := 0; s.More(k, ']'); k++ {
			s.Integer("number", 0, 9)
		}
	}
	s.End()
	const want = "line 2, column 4: found 'x', want ',' or ']'"
	if err := s.Err(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if s.String() != "" || s.Integer("", 0, 9) != 0 || s.Float("") != 0 || s.Number() != nil || s.Value(1) != nil || s.More(0, ']') {
		t.Error("something is read behind the error")
	}
}

func TestNesting(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	for n, ok := range map[int]bool{1: true, 7: true, 8: true, 9: false, 1 << 20: false} {
		s := jsonscan.New(deep(n))
		s.Value(8)
		if s.End(); s.Failed() == ok {
			t.Errorf("%d brackets: %v", n, s.Err())
		}
	}
}
