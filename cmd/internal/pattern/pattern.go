// Package pattern matches slash-separated paths with patterns, as the commands of lorefs take
// them for names in an archive:
//
//   - any text without a slash
//     ?        any character but a slash
//     **       any text, with slashes: a/**/b matches a/b, a/x/b and a/x/y/b
//     [a-z]    a character of a class; [!a-z] and [^a-z]: a character that is not of it
//     {a,b}    one of several patterns, which may have slashes
//
// A character is escaped as a class of one, [*]. A backslash is a character like any other: names
// in archives have them, and on Windows shells and users write them for slashes.
package pattern

import (
	"errors"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// ErrSyntax means that a text is no pattern: a bracket is not closed, or a class is empty.
var ErrSyntax = errors.New("a bracket is not closed or not opened, or has nothing in it ([x] stands for the character x itself)")

// ErrLarge means that a pattern has too many alternatives.
var ErrLarge = errors.New("the braces and ** have too many alternatives together")

// maxAlternatives is how many patterns the braces of one may make. Each is tried on each path.
const maxAlternatives = 4096

// special are the characters with which a text is a pattern.
const special = "*?[{"

// Is tells whether a text has characters of patterns. It may be a name all the same.
func Is(text string) bool { return strings.ContainsAny(text, special) }

// Pattern is a compiled pattern. It is safe for parallel use.
type Pattern struct {
	// whole is for the library: of a path, from its first name to its last.
	whole string
	// parts are the patterns of the names of a path, up to the first that may match several
	// names.
	parts []string
	// deep is whether there is such a part, behind parts.
	deep bool
	// base are the leading parts that are no patterns.
	base string
	fold bool
}

// Compile compiles a pattern for whole paths; a slash at its start or end is of no meaning. With
// fold it ignores case.
func Compile(text string, fold bool) (*Pattern, error) {
	p := &Pattern{fold: fold}
	text = strings.TrimPrefix(path.Clean("/"+text), "/")
	var parts []string
	literal := true
	for _, part := range split(text) {
		if plain, ok := unescape(part); ok && literal {
			p.base = path.Join(p.base, plain)
		} else {
			literal = false
		}
		parts = append(parts, p.folded(translate(part)))
	}
	// What follows ** is a name: a/** matches what is in a, and not a itself.
	if last := len(parts) - 1; parts[last] == "**" {
		parts = append(parts, "*")
	}
	if literal {
		p.base = strings.TrimPrefix(path.Dir("/"+p.base), "/")
	}
	p.whole = strings.Join(parts, "/")
	if !doublestar.ValidatePattern(p.whole) {
		return nil, ErrSyntax
	}
	if alternatives(p.whole) > maxAlternatives {
		return nil, ErrLarge
	}
	for _, part := range parts {
		if p.deep = strings.Contains(part, "**") || strings.Contains(part, "/"); p.deep {
			break
		}
		p.parts = append(p.parts, part)
	}
	return p, nil
}

func (p *Pattern) folded(s string) string {
	if p.fold {
		return strings.ToLower(s)
	}
	return s
}

// Match tells whether a path, which begins with a name and not with a slash, matches.
func (p *Pattern) Match(path string) bool {
	return doublestar.MatchUnvalidated(p.whole, p.folded(path))
}

// Covers tells whether a path matches, or a directory that it is in.
func (p *Pattern) Covers(path string) bool {
	for i := 0; i < len(path); i++ {
		if path[i] == '/' && p.Match(path[:i]) {
			return true
		}
	}
	return p.Match(path)
}

// Base returns the directory in which everything lies that matches, as far as the pattern names
// it; "" is the root. In other than a pattern with fold it is spelled as the names are.
func (p *Pattern) Base() string { return p.base }

// Below tells whether something below a directory may match, so that a walk has to enter it.
func (p *Pattern) Below(dir string) bool {
	dir = p.folded(dir)
	for i, rest := 0, dir; rest != ""; i++ {
		if i == len(p.parts) {
			return p.deep
		}
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if !doublestar.MatchUnvalidated(p.parts[i], name) {
			return false
		}
		if rest == "" {
			return i+1 < len(p.parts) || p.deep
		}
	}
	return true
}

// Spelled tells whether the pattern has a part of its own for each name of a path, and for what
// lies in it: neither is found by **.
func (p *Pattern) Spelled(path string) bool { return strings.Count(path, "/")+1 < len(p.parts) }

// split divides a pattern at the slashes that are in no class and no braces.
func split(text string) []string {
	var parts []string
	from, braces := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[':
			i += max(classLen(text[i:])-1, 0)
		case '{':
			braces++
		case '}':
			braces--
		case '/':
			if braces == 0 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}

// classLen returns the length of the class that a text begins with, or 0 if it is not closed.
func classLen(text string) int {
	at := 1
	if at < len(text) && (text[at] == '!' || text[at] == '^') {
		at++
	}
	if at >= len(text) {
		return 0
	}
	end := strings.IndexByte(text[at:], ']')
	return at + end + 1
}

// unescape returns the name that a part stands for. It returns false for one that is a pattern.
func unescape(part string) (name string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		if part[i] == '[' {
			n := classLen(part[i:])
			if n < 3 || utf8.RuneCountInString(part[i+1:i+n-1]) != 1 {
				return "", false
			}
			b.WriteString(part[i+1 : i+n-1])
			i += n - 1
			continue
		}
		if strings.IndexByte(special, part[i]) >= 0 {
			return "", false
		}
		b.WriteByte(part[i])
	}
	return b.String(), true
}

// alternatives returns a bound on how many patterns the braces of one make.
func alternatives(whole string) int {
	var open []int // of each group that is open, how many alternatives it has so far
	all := 1
	for i := 0; i < len(whole); i++ {
		switch last := len(open) - 1; whole[i] {
		case '[':
			i += classLen(whole[i:]) - 1
		case '{':
			open = append(open, 1)
		case ',':
			if last >= 0 {
				open[last]++
			}
		case '}':
			if last >= 0 {
				all = min(all*open[last], maxAlternatives+1)
				open = open[:last]
			}
		}
	}
	return all
}

// translate spells a part for the library, in which a backslash is an escape, ** has to stand
// alone between slashes, and a class without some characters has the slash.
func translate(part string) string {
	if part == "**" {
		return part
	}
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		switch n := 0; {
		case part[i] == '\\':
			b.WriteString(`\\`)
		case part[i] == '[':
			if n = classLen(part[i:]); n == 0 {
				n = len(part) - i // the library says that it is not closed
			}
			translateClass(&b, part[i:i+n])
			i += n - 1
		case strings.HasPrefix(part[i:], "**") && !alone(part, i):
			b.WriteString("{*,*/**/*}")
			i++
		default:
			b.WriteByte(part[i])
		}
	}
	return b.String()
}

// alone tells whether the ** at i, in braces, is all that stands between slashes.
func alone(part string, i int) bool {
	return i > 0 && part[i-1] == '/' && i+2 < len(part) && part[i+2] == '/'
}

func translateClass(b *strings.Builder, class string) {
	class = strings.ReplaceAll(class, `\`, `\\`)
	if len(class) > 2 && (class[1] == '!' || class[1] == '^') && class[2] != ']' {
		b.WriteString("[!/")
		class = class[2:]
		if class[0] == '-' {
			b.WriteByte('\\')
		}
	}
	b.WriteString(class)
}
