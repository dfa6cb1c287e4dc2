package protocol

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"lorefs/internal/shown"
)

// Patch is a version of the game: 100 times the major version, plus the minor one. 86.03 is
// 8603. 0 stands for an unknown patch.
type Patch uint32

// patch74 is the patch in which skill ids grew from 4 to 8 bytes.
const patch74 Patch = 7400

// maxMajor keeps a Patch, and the one after it, far from overflow.
const maxMajor = 1_000_000

// ParsePatch reads MAJOR or MAJOR.MINOR, such as 86 or 86.03. The minor version is below
// 100.
func ParsePatch(s string) (Patch, error) {
	major, minor, has := strings.Cut(s, ".")
	a, err := strconv.ParseUint(major, 10, 32)
	if err != nil || a > maxMajor {
		return 0, fmt.Errorf("protocol: patch %s: want MAJOR or MAJOR.MINOR", shown.Quote(s))
	}
	if !has {
		return Patch(a * 100), nil
	}
	b, err := strconv.ParseUint(minor, 10, 32)
	if err != nil || b > 99 {
		return 0, fmt.Errorf("protocol: patch %s: want a minor version of 0 to 99", shown.Quote(s))
	}
	return Patch(a*100 + b), nil
}

func (p Patch) String() string {
	if p%100 == 0 {
		return strconv.Itoa(int(p / 100))
	}
	return fmt.Sprintf("%d.%02d", p/100, p%100)
}

// MarshalText returns the same as String.
func (p Patch) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// PatchRange is a range of patches. The zero value is all of them.
type PatchRange struct {
	// Min is the first patch.
	Min Patch `json:"min,omitempty"`
	// Before is the first patch after the range; 0 if the range has no end.
	Before Patch `json:"before,omitempty"`
}

// Contains reports whether p is in the range. An unknown patch counts as the newest.
func (r PatchRange) Contains(p Patch) bool {
	if p == 0 {
		return r.Before == 0
	}
	return p >= r.Min && (r.Before == 0 || p < r.Before)
}

// overlaps reports whether some patch is in both ranges.
func (r PatchRange) overlaps(s PatchRange) bool {
	return (s.Before == 0 || r.Min < s.Before) && (r.Before == 0 || s.Min < r.Before)
}

// patchWord is the name of the major version in patch comments, in any case.
const patchWord = "majorpatchversion"

// parsePatchComment reads a comment that says for which patches a definition is good, such
// as
//
//	majorPatchVersion >= 86 && majorPatchVersion < 114
//
// ok is false for every other comment, also for one that begins like this and goes on
// otherwise, because its meaning is not known.
func parsePatchComment(text string) (r PatchRange, ok bool) {
	for term := range strings.SplitSeq(text, "&&") {
		if !r.addTerm(strings.TrimFunc(term, isSpace)) {
			return PatchRange{}, false
		}
	}
	return r, true
}

// addTerm narrows the range by one comparison.
func (r *PatchRange) addTerm(term string) bool {
	if len(term) < len(patchWord) || !strings.EqualFold(term[:len(patchWord)], patchWord) {
		return false
	}
	rest := strings.TrimLeftFunc(term[len(patchWord):], unicode.IsSpace)
	number := strings.TrimLeft(rest, "<>=")
	p, err := ParsePatch(strings.TrimSpace(number))
	if err != nil {
		return false
	}
	after := p + 1
	if p%100 == 0 {
		after = p + 100 // a major version includes all its minor ones
	}
	switch rest[:len(rest)-len(number)] {
	case ">=":
		r.Min = max(r.Min, p)
	case ">":
		r.Min = max(r.Min, after)
	case "<":
		r.end(p)
	case "<=":
		r.end(after)
	case "==", "=":
		r.Min = max(r.Min, p)
		r.end(after)
	default:
		return false
	}
	return true
}

func (r *PatchRange) end(before Patch) {
	if r.Before == 0 || before < r.Before {
		r.Before = before
	}
}
