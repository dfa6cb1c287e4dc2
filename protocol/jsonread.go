package protocol

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"lorefs/internal/shown"
	"lorefs/internal/wtf8"
)

// jsonText is one JSON value as it is spelled, known to be good JSON without
// space around it.
//
// encoding/json cannot read packets: it puts U+FFFD in the place of a surrogate
// without a partner, which official packets have where a name is cut.
type jsonText string

// newJSON checks that data is one JSON value.
func newJSON(data []byte) (jsonText, error) {
	if !json.Valid(data) {
		var v any
		return "", fmt.Errorf("protocol: no JSON: %w", json.Unmarshal(data, &v))
	}
	t := jsonText(data)
	return t[t.space(0):], nil
}

// space returns the first offset from i on that is no white space.
func (t jsonText) space(i int) int {
	for i < len(t) && (t[i] == ' ' || t[i] == '\t' || t[i] == '\n' || t[i] == '\r') {
		i++
	}
	return i
}

// end returns the offset behind the value that begins at i.
func (t jsonText) end(i int) int {
	if t[i] != '"' && t[i] != '{' && t[i] != '[' {
		for i < len(t) && !strings.ContainsRune(",]} \t\r\n", rune(t[i])) {
			i++
		}
		return i
	}
	for depth := 0; ; {
		switch t[i] {
		case '"':
			i = t.stringEnd(i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		i++
		if depth == 0 {
			return i
		}
	}
}

func (t jsonText) stringEnd(i int) int {
	for i++; t[i] != '"'; i++ {
		if t[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// members calls yield with the members of an object in their order. A name that
// is there twice is an error: one of the values would be lost.
func (t jsonText) members(yield func(name string, value jsonText) error) error {
	seen := make(map[string]bool)
	return t.eachMember(func(name string, value jsonText) error {
		if seen[name] {
			return badValue("%s is there twice", shown.Quote(name))
		}
		seen[name] = true
		return yield(name, value)
	})
}

// eachMember is members, for those who want a name that is there twice.
func (t jsonText) eachMember(yield func(name string, value jsonText) error) error {
	if t == "" || t[0] != '{' {
		return badValue("want an object, got %s", t.brief())
	}
	for i := t.space(1); t[i] != '}'; {
		end := t.stringEnd(i)
		name, err := t[i:end].text()
		if err != nil {
			return err
		}
		i = t.space(t.space(end) + 1) // over the colon
		end = t.end(i)
		if err := yield(name, t[i:end]); err != nil {
			return err
		}
		if i = t.space(end); t[i] == ',' {
			i = t.space(i + 1)
		}
	}
	return nil
}

// elements calls yield with the elements of an array.
func (t jsonText) elements(yield func(value jsonText) error) error {
	if t == "" || t[0] != '[' {
		return badValue("want an array, got %s", t.brief())
	}
	for i := t.space(1); t[i] != ']'; {
		end := t.end(i)
		if err := yield(t[i:end]); err != nil {
			return err
		}
		if i = t.space(end); t[i] == ',' {
			i = t.space(i + 1)
		}
	}
	return nil
}

// brief returns the beginning of the value, for an error.
func (t jsonText) brief() string {
	const most = 40
	if len(t) > most {
		return string(t[:most]) + "…"
	}
	return string(t)
}

// scalarText is what a string says, or a number, true or false as they are.
func (t jsonText) scalarText() (string, error) {
	switch t[0] {
	case '"':
		return t.text()
	case '{', '[', 'n':
		return "", badValue("want a value, got %s", t.brief())
	}
	return string(t), nil
}

// text is what a string says, in WTF-8.
func (t jsonText) text() (string, error) {
	if t == "" || t[0] != '"' {
		return "", badValue("want a string, got %s", t.brief())
	}
	s := t[1 : len(t)-1]
	dst := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			if s[i] < utf8.RuneSelf {
				dst = append(dst, s[i])
				i++
				continue
			}
			r, n := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		var n int
		dst, n = s[i:].appendUnescaped(dst)
		i += n
	}
	return string(dst), nil
}

// appendUnescaped appends what the escape that t begins with stands for, and
// tells how long it is spelled.
func (t jsonText) appendUnescaped(dst []byte) ([]byte, int) {
	switch t[1] {
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
	default:
		return append(dst, t[1]), 2
	}
	u := t.hexUnit()
	if !utf16.IsSurrogate(u) {
		return utf8.AppendRune(dst, u), 6
	}
	if rest := t[6:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if r := utf16.DecodeRune(u, rest.hexUnit()); r != utf8.RuneError {
			return utf8.AppendRune(dst, r), 12
		}
	}
	return wtf8.Append(dst, []byte{byte(u), byte(u >> 8)}), 6
}

// hexUnit reads the four digits of the \u escape that t begins with.
func (t jsonText) hexUnit() rune {
	u, err := strconv.ParseUint(string(t[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError // cannot be: the JSON is good
	}
	return rune(u)
}
