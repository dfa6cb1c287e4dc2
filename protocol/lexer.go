package protocol

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"lorefs/internal/shown"
)

// maxNesting bounds the nesting of fields, and of types in < >. Real definitions reach 4.
const maxNesting = 16

// line is one line of a definition, unless it is empty or only a comment.
type line struct {
	depth   int
	field   Field
	include string // of @include
}

// isSpace reports whether JavaScript's trim removes r. That includes byte order marks:
// eleven public files begin with one, one of them with two.
func isSpace(r rune) bool { return r == '\ufeff' || unicode.IsSpace(r) }

// splitComment cuts a line at its first #, and trims both parts.
func splitComment(text string) (code, comment string, has bool) {
	code, comment, has = strings.Cut(text, "#")
	return strings.TrimFunc(code, isSpace), strings.TrimFunc(comment, isSpace), has
}

// lexLine reads the code of a line, which is trimmed and not empty.
func lexLine(code string) (l line, err error) {
	rest := code
	for strings.HasPrefix(rest, "-") {
		l.depth++
		rest = strings.TrimLeftFunc(rest[1:], isSpace)
	}
	words := strings.FieldsFunc(rest, isSpace)
	if len(words) > 0 && words[0] == "@include" {
		return l, l.lexInclude(words)
	}
	if len(words) == 3 {
		if l.field.Patches, err = parseFlag(words[2]); err != nil {
			return l, err
		}
		words = words[:2]
	}
	if len(words) != 2 {
		return l, fmt.Errorf("want a type and a name, got %s", shown.Quote(rest))
	}
	patches := l.field.Patches
	if l.field, err = parseType(words[0]); err != nil {
		return l, err
	}
	name, value, has := strings.Cut(words[1], "=")
	if err := checkFieldName(name); err != nil {
		return l, err
	}
	l.field.Name, l.field.Default, l.field.Patches = name, value, patches
	if has {
		err = l.field.checkDefault()
	}
	return l, err
}

// maxFieldName bounds the name of a field in bytes. Each field keeps the path of names
// above it, so 5,000 fields in an object with a name of 500 kB would take 2.5 GB.
const maxFieldName = 255

func checkFieldName(name string) error {
	switch {
	case len(name) > maxFieldName:
		return fmt.Errorf("a name of %d bytes: want at most %d", len(name), maxFieldName)
	case !isName(name):
		return fmt.Errorf("%s is no name: want letters, digits and _", shown.Quote(name))
	}
	return nil
}

func (l *line) lexInclude(words []string) error {
	if len(words) != 2 || l.depth > 0 {
		return fmt.Errorf("want @include and the name of a file, not indented")
	}
	if strings.ContainsAny(words[1], `/\`) {
		return fmt.Errorf("@include %s: want a file of the same folder", shown.Quote(words[1]))
	}
	l.include = words[1]
	return nil
}

// parseFlag reads ^a, from patch a on, or ^a-b, from a to before b.
func parseFlag(s string) (r PatchRange, err error) {
	from, to, has := strings.Cut(strings.TrimPrefix(s, "^"), "-")
	if !strings.HasPrefix(s, "^") {
		return r, fmt.Errorf("%s behind the name: want nothing or ^PATCH", shown.Quote(s))
	}
	if r.Min, err = ParsePatch(from); err != nil {
		return r, err
	}
	if has {
		if r.Before, err = ParsePatch(to); err != nil {
			return r, err
		}
		if r.Before <= r.Min {
			return r, fmt.Errorf("%s is no range of patches", s)
		}
	}
	return r, nil
}

// parseType reads a type such as array<int32[2]>[interleaved]. The field has no
// name yet.
func parseType(s string) (Field, error) {
	f, rest, err := scanType(s, 0)
	if err == nil && rest != "" {
		err = fmt.Errorf("%s behind the type", shown.Quote(rest))
	}
	return f, err
}

// scanType reads the type that s begins with.
func scanType(s string, nesting int) (f Field, rest string, err error) {
	if nesting > maxNesting {
		return f, "", fmt.Errorf("types are nested deeper than %d", maxNesting)
	}
	end := strings.IndexAny(s, "<>[]")
	if end < 0 {
		end = len(s)
	}
	known := false
	if f.Type, known = typeNames[s[:end]]; !known {
		return f, "", fmt.Errorf("no such type: %s%s", shown.Quote(s[:end]), similar(s[:end]))
	}
	rest = s[end:]
	if strings.HasPrefix(rest, "<") {
		if f.Type != TypeArray {
			return f, "", fmt.Errorf("%v has no element type: only array has", f.Type)
		}
		elem, after, err := scanType(rest[1:], nesting+1)
		if err == nil && !strings.HasPrefix(after, ">") {
			err = fmt.Errorf("want > behind %v", &elem)
		}
		if err == nil {
			err = elem.checkElement()
		}
		if err != nil {
			return f, "", err
		}
		f.Elem, rest = &elem, after[1:]
	}
	return scanBrackets(f, rest)
}

// checkElement refuses types that can't stand in < >.
func (f *Field) checkElement() error {
	if f.Type == TypeObject || f.Type == TypeArray && f.Elem == nil || f.Type.pointer() || f.Interleaved {
		return fmt.Errorf("%v cannot be an element type", f)
	}
	return nil
}

// scanBrackets reads [n] and [interleaved] behind a type.
func scanBrackets(f Field, rest string) (Field, string, error) {
	var lens []int
	for strings.HasPrefix(rest, "[") {
		inside, after, ok := strings.Cut(rest[1:], "]")
		if !ok {
			return f, "", fmt.Errorf("want ] behind %s", shown.Quote(rest))
		}
		rest = after
		if inside == "interleaved" && f.Type == TypeArray && len(lens) == 0 {
			f.Interleaved = true
			continue
		}
		n, err := strconv.ParseUint(inside, 10, 16)
		if err != nil || n == 0 || !f.Type.scalar() {
			return f, "", fmt.Errorf("%v[%s]: want a type of fixed size and a number of 1 to 65535, or array[interleaved]", f.Type, inside)
		}
		if lens = append(lens, int(n)); len(lens) > maxNesting {
			return f, "", fmt.Errorf("types are nested deeper than %d", maxNesting)
		}
	}
	// int32[2][3] is twice int32[3], as in C.
	for _, n := range slices.Backward(lens) {
		elem := f
		f = Field{Type: TypeFixed, Elem: &elem, Len: n}
	}
	return f, rest, nil
}

// similar returns a hint for the misspelled types that public definitions have.
func similar(name string) string {
	switch name {
	case "uint8", "int8", "char", "u8":
		return ` (did you mean "byte"?)`
	case "int", "in32", "long":
		return ` (did you mean "int32"?)`
	case "uint":
		return ` (did you mean "uint32"?)`
	}
	return ""
}
