package dctest

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Units returns a string in UTF-16. Surrogates in WTF-8 stay alone, and bytes that are not
// WTF-8 become U+FFFD.
func Units(s string) []uint16 {
	units := make([]uint16, 0, len(s))
	for len(s) > 0 {
		if unit, ok := surrogate(s); ok {
			units = append(units, unit)
			s = s[3:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		units = utf16.AppendRune(units, r)
		s = s[size:]
	}
	return units
}

// Text8 returns the inverse of Units: the WTF-8 of a string in UTF-16.
func Text8(units []uint16) string {
	var text []byte
	for i := 0; i < len(units); i++ {
		unit := rune(units[i])
		if !utf16.IsSurrogate(unit) {
			text = utf8.AppendRune(text, unit)
			continue
		}
		if i+1 < len(units) {
			if r := utf16.DecodeRune(unit, rune(units[i+1])); r != utf8.RuneError {
				text = utf8.AppendRune(text, r)
				i++
				continue
			}
		}
		text = append(text, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0x3f, 0x80|byte(unit)&0x3f)
	}
	return string(text)
}

// surrogate returns the lone surrogate that s begins with.
func surrogate(s string) (uint16, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1]&0xe0 != 0xa0 || s[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | uint16(s[1]&0x3f)<<6 | uint16(s[2]&0x3f), true
}
