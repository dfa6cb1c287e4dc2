package sheets

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Classes of bytes in a text.
const (
	plain  = iota
	markup // is written as a reference
	bad    // not allowed in XML
	lead   // may begin a character that is not allowed in XML
)

// byteClasses has the class of each byte. Nearly all bytes are plain.
type byteClasses [256]uint8

// attributeText and elementText differ in white space and quotes.
var attributeText, elementText = newClasses("&<>\"\n\t\r"), newClasses("&<>\r")

func newClasses(references string) *byteClasses {
	c := &byteClasses{}
	for b := range ' ' {
		c[b] = bad
	}
	c['\t'], c['\n'], c['\r'] = plain, plain, plain
	for i := range len(references) {
		c[references[i]] = markup
	}
	c[leadSurrogate], c[leadNoncharacter] = lead, lead
	return c
}

// The first bytes of lone surrogates and of U+FFFE and U+FFFF in WTF-8.
const (
	leadSurrogate    = 0xed
	leadNoncharacter = 0xef
)

// badUnit returns the UTF-16 unit at the start of text, which is of class bad or lead, and
// its size, if XML does not allow it.
func badUnit(text []byte) (unit uint16, size int, isBad bool) {
	if text[0] < ' ' {
		return uint16(text[0]), 1, true
	}
	if len(text) < 3 {
		return 0, 1, false
	}
	unit = uint16(text[0])<<12 | uint16(text[1]&0x3f)<<6 | uint16(text[2]&0x3f)
	return unit, 3, unit >= 0xd800 && unit < 0xe000 || unit >= 0xfffe
}

// references are the references for markup.
var references = [...]string{
	'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;", '\n': "&#xA;", '\t': "&#x9;", '\r': "&#xD;",
}

// escapeTail escapes dst from start on. If XML can't hold the text, holds is false and the
// text has \u escapes too.
func (e *encoder) escapeTail(dst []byte, start int, classes *byteClasses) (escaped []byte, holds bool) {
	i, special := start, false
	for ; i < len(dst); i++ {
		switch classes[dst[i]] {
		case plain:
			continue
		case markup:
			special = true
		default:
			if _, _, isBad := badUnit(dst[i:]); isBad {
				e.scratch = append(e.scratch[:0], dst[start:]...)
				return appendBackslashed(dst[:start], e.scratch, classes), false
			}
		}
	}
	if !special {
		return dst, true
	}
	e.scratch = append(e.scratch[:0], dst[start:]...)
	return appendReferences(dst[:start], e.scratch, classes), true
}

// appendUnits appends the text at the start of units, little-endian UTF-16, up to its NUL, escaped for an
// attribute. It is faster than [encoder.escapeTail], but ok is false if there is no NUL, or anything that
// XML can't hold, or a surrogate.
func appendUnits(dst, units []byte) (out []byte, ok bool) {
	for {
		dst, units = appendPlain(dst, units)
		if len(units) < 2 {
			return dst, false
		}
		switch u := binary.LittleEndian.Uint16(units); {
		case u == 0:
			return dst, true
		case u >= utf8.RuneSelf:
			if utf16.IsSurrogate(rune(u)) || u >= 0xfffe {
				return dst, false
			}
			dst = utf8.AppendRune(dst, rune(u))
		case attributeText[u] == plain:
			dst = append(dst, byte(u))
		case attributeText[u] == markup:
			dst = append(dst, references[u]...)
		default:
			return dst, false
		}
		units = units[2:]
	}
}

// appendPlain appends what is plain at the start of units, eight characters at a time. It may leave some.
func appendPlain(dst, units []byte) (out, left []byte) {
	const ascii = 0x007f007f007f007f
	for len(units) >= 16 {
		low, high := binary.LittleEndian.Uint64(units), binary.LittleEndian.Uint64(units[8:])
		text := narrow(low&ascii) | narrow(high&ascii)<<32
		special := specials(text)
		if (low|high)&^ascii != 0 {
			special |= narrow(wide(low)) | narrow(wide(high))<<32
		}
		n := len(dst)
		if cap(dst)-n < 8 {
			dst = slices.Grow(dst, 8)
		}
		binary.LittleEndian.PutUint64(dst[n:n+8], text)
		if special != 0 {
			k := bits.TrailingZeros64(special) / 8
			return dst[:n+k], units[2*k:]
		}
		dst, units = dst[:n+8], units[16:]
	}
	return dst, units
}

// wide marks, by the highest bit of the lower byte, the units that are not ASCII.
func wide(units uint64) uint64 {
	const most, ascii, highest = 0x7fff7fff7fff7fff, 0x007f007f007f007f, 0x0080008000800080
	more := units &^ ascii
	return (more&most + most | more) >> 8 & highest
}

// narrow returns four ASCII units as bytes.
func narrow(units uint64) uint64 {
	units = (units | units>>8) & 0x0000ffff0000ffff
	return (units | units>>16) & 0xffffffff
}

// specials marks, by its highest bit, the first byte that attributeText does not take as plain. Bytes
// behind it may be marked, too.
func specials(text uint64) uint64 {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	control := (text - each*' ') &^ text
	angle := text | each*('<'^'>') ^ each*'>'
	quote := text | each*('"'^'&') ^ each*'&'
	return (control | (angle-each)&^angle | (quote-each)&^quote) & highest
}

// appendReferences appends a text that XML can hold.
func appendReferences(dst, text []byte, classes *byteClasses) []byte {
	from := 0
	for i, b := range text {
		if classes[b] == markup {
			dst = append(dst, text[from:i]...)
			dst = append(dst, references[b]...)
			from = i + 1
		}
	}
	return append(dst, text[from:]...)
}

// appendBackslashed appends a text with \u escapes, which dc:escaped must name.
func appendBackslashed(dst, text []byte, classes *byteClasses) []byte {
	for i := 0; i < len(text); i++ {
		b := text[i]
		switch classes[b] {
		case markup:
			dst = append(dst, references[b]...)
		case bad, lead:
			unit, size, isBad := badUnit(text[i:])
			if !isBad {
				dst = append(dst, b)
				continue
			}
			dst = fmt.Appendf(dst, `\u%04X`, unit)
			i += size - 1
		default:
			if b == '\\' {
				dst = append(dst, b)
			}
			dst = append(dst, b)
		}
	}
	return dst
}

// blank reports whether a text is empty, or white space that an XML reader may drop.
func blank(text []byte) bool {
	for _, b := range text {
		if b >= utf8.RuneSelf || b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return false
		}
	}
	return true
}
