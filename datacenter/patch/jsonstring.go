package patch

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"lorefs/internal/shown"
	"lorefs/internal/wtf8"
)

// parseString reads a JSON string as WTF-8. Package encoding/json has no text for a
// surrogate without partner, which real data centers hold.
func parseString(s string) (string, error) {
	wrong := func() (string, error) {
		return "", fmt.Errorf("%s: want a JSON string on one line", shown.Quote(s))
	}
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return wrong()
	}
	body := s[1 : len(s)-1]
	if strings.IndexByte(body, '\\') < 0 && strings.IndexByte(body, '"') < 0 {
		if !clean(body) {
			return wrong()
		}
		return body, nil
	}
	var units []byte
	for body != "" {
		i := strings.IndexAny(body, `\"`)
		if i < 0 {
			i = len(body)
		}
		if !clean(body[:i]) {
			return wrong()
		}
		units = wtf8.AppendUTF16(units, body[:i])
		if body = body[i:]; body == "" {
			break
		}
		unit, size := escape(body)
		if size == 0 {
			return wrong()
		}
		units = append(units, byte(unit), byte(unit>>8))
		body = body[size:]
	}
	return string(wtf8.Append(nil, units)), nil
}

// clean tells whether a text may stand in a JSON string.
func clean(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return r < ' ' }) < 0
}

// escape reads the escape that s begins with; size is 0 if it is none.
func escape(s string) (unit uint16, size int) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return uint16("\"\\/\b\f\n\r\t"[i]), 2
	}
	if s[1] != 'u' || len(s) < 6 {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0, 0
	}
	return uint16(n), 6
}
