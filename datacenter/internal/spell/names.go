package spell

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"lorefs/internal/wtf8"
)

// The namespaces of sheets and schemas.
const (
	// SpaceLore is the namespace for what novadrop loses.
	SpaceLore = "urn:lorefs:dc"
	// SpaceNovadrop is the namespace of novadrop's attributes in schemas; that of a sheet
	// is below it.
	SpaceNovadrop = "https://vezel.dev/novadrop/dc"
	SpaceSchema   = "http://www.w3.org/2001/XMLSchema"
	SpaceInstance = "http://www.w3.org/2001/XMLSchema-instance"
)

// The names with a meaning of their own.
const (
	RootName  = "__root__"
	ValueName = "__value__"
)

// Spelling is the form of a name in sheets.
type Spelling struct {
	// Raw is the name itself, as WTF-8, Element its form for an element. An attribute
	// differs in one name only, see Attribute.
	Raw, Element string
	// Escaped is set if XML does not allow the name, so that sheets with it have all names
	// escaped.
	Escaped bool
}

// emptyName is the form of the empty name.
const emptyName = "_x_"

// xmlnsName is a name that XML reserves in attributes.
const xmlnsName = "xmlns"

// Name spells a name.
func Name(name string) Spelling {
	s := Spelling{Raw: name, Element: EscapeName(name)}
	s.Escaped = s.Element != name
	return s
}

// Attribute returns the form of the name for an attribute, and whether that is escaped.
func (s *Spelling) Attribute() (name string, escaped bool) {
	if s.Raw == xmlnsName {
		return "_x0078_mlns", true
	}
	return s.Element, s.Escaped
}

// EscapeName escapes what an NCName can't have: see the package's documentation.
func EscapeName(name string) string {
	switch {
	case name == "":
		return emptyName
	case name == emptyName:
		return escapeUnit('_') + name[1:]
	case plainName(name):
		return name
	}
	var b strings.Builder
	units := utf16Units(name)
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if pair := utf16.DecodeRune(r, unitAt(units, i+1)); pair != utf8.RuneError {
			if NameChar(pair, i == 0) {
				b.WriteRune(pair)
			} else {
				b.WriteString(escapeUnit(units[i]) + escapeUnit(units[i+1]))
			}
			i++
			continue
		}
		if NameChar(r, i == 0) && !looksEscaped(units[i:]) {
			b.WriteRune(r)
		} else {
			b.WriteString(escapeUnit(units[i]))
		}
	}
	return b.String()
}

func escapeUnit(u uint16) string { return fmt.Sprintf("_x%04X_", u) }

// plainName reports whether a name needs no escapes, as nearly all.
func plainName(name string) bool {
	for i, r := range name {
		if r == utf8.RuneError || !NameChar(r, i == 0) {
			return false
		}
	}
	return !strings.Contains(name, "_x") || !containsEscape(utf16Units(name))
}

func containsEscape(units []uint16) bool {
	for i := range units {
		if looksEscaped(units[i:]) {
			return true
		}
	}
	return false
}

// looksEscaped reports whether units begin with what a reader takes for an escape.
func looksEscaped(units []uint16) bool {
	const length = len("_xHHHH_")
	if len(units) < length || units[0] != '_' || units[1] != 'x' || units[length-1] != '_' {
		return false
	}
	for _, u := range units[2 : length-1] {
		if u >= utf8.RuneSelf || !strings.ContainsRune("0123456789abcdefABCDEF", rune(u)) {
			return false
		}
	}
	return true
}

func utf16Units(s string) []uint16 {
	b := wtf8.AppendUTF16(nil, s)
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
	}
	return units
}

// unitAt returns the unit at a place, or one that is no surrogate.
func unitAt(units []uint16, i int) rune {
	if i < len(units) {
		return rune(units[i])
	}
	return 0
}

// NameChar reports whether an NCName may have a character, or begin with it.
func NameChar(r rune, first bool) bool {
	if r < utf8.RuneSelf {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		return letter || !first && (r >= '0' && r <= '9' || r == '-' || r == '.')
	}
	return inRanges(nameStarts[:], r) || !first && inRanges(nameParts[:], r)
}

func inRanges(ranges [][2]rune, r rune) bool {
	for _, p := range ranges {
		if r >= p[0] && r <= p[1] {
			return true
		}
	}
	return false
}

// nameStarts and nameParts are NameStartChar, and the other characters of NameChar, beyond
// ASCII in XML 1.0, fifth edition.
var (
	nameStarts = [...][2]rune{
		{0xc0, 0xd6},
		{0xd8, 0xf6},
		{0xf8, 0x2ff},
		{0x370, 0x37d},
		{0x37f, 0x1fff},
		{0x200c, 0x200d},
		{0x2070, 0x218f},
		{0x2c00, 0x2fef},
		{0x3001, 0xd7ff},
		{0xf900, 0xfdcf},
		{0xfdf0, 0xfffd},
		{0x10000, 0xeffff},
	}
	nameParts = [...][2]rune{{0xb7, 0xb7}, {0x300, 0x36f}, {0x203f, 0x2040}}
)
