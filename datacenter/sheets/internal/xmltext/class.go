package xmltext

import (
	"unicode/utf8"

	"lorefs/datacenter/internal/spell"
)

// The classes of bytes in XML.
const (
	isSpace     = 1 << iota // white space
	isNameStart             // may begin a name; all bytes beyond ASCII may
	isNameChar              // may be in a name
	isValueChar             // stands for itself in an attribute's value, except quotes
	isTextChar              // stands for itself in text
	isShapeChar             // like isValueChar, but may not end a tag
)

// class is the class of each byte.
var class = func() (class [256]uint8) {
	for c := range class {
		b := byte(c)
		letter := b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' || b == ':' || b >= utf8.RuneSelf
		digit := b >= '0' && b <= '9' || b == '-' || b == '.'
		if b == ' ' || b == '\t' || b == '\n' || b == '\r' {
			class[c] |= isSpace
		}
		if letter {
			class[c] |= isNameStart
		}
		if letter || digit {
			class[c] |= isNameChar
		}
		if b >= ' ' && b != '<' && b != '&' && b != '"' && b != '\'' {
			class[c] |= isValueChar
			if b != '>' {
				class[c] |= isShapeChar
			}
		}
		if b >= ' ' && b != '<' && b != '&' && b != ']' || b == '\t' || b == '\n' {
			class[c] |= isTextChar
		}
	}
	return class
}()

// badInName returns the place of the first character beyond ASCII that may not be where it
// is in a name, or -1.
func badInName(name []byte) int {
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRune(name[i:])
		first := i == 0 || name[i-1] == ':'
		if r >= utf8.RuneSelf && !spell.NameChar(r, first) {
			return i
		}
		i += n
	}
	return -1
}
