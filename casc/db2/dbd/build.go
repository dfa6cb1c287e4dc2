package dbd

import (
	"fmt"
	"strconv"
	"strings"
)

// Build is a version of the game, such as 9.1.0.12345.
type Build [4]uint32

// Range is all builds between two, which it includes.
type Range struct{ From, To Build }

// ParseBuild reads a version of four numbers.
func ParseBuild(text string) (b Build, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) != len(b) {
		return Build{}, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return Build{}, false
		}
		b[i] = uint32(n)
	}
	return b, true
}

// ParseSchema reads the version in the schema of a table, such as WOWSTATIC_12_0_0_65028.
func ParseSchema(text string) (Build, bool) {
	parts := strings.Split(text, "_")
	return ParseBuild(strings.Join(parts[max(0, len(parts)-len(Build{})):], "."))
}

func (b Build) String() string { return fmt.Sprintf("%d.%d.%d.%d", b[0], b[1], b[2], b[3]) }

func (r Range) String() string { return r.From.String() + "-" + r.To.String() }

// Contains reports whether a build lies in a range. The third number isn't looked at, as those who
// write definitions don't.
func (r Range) Contains(b Build) bool {
	for _, i := range []int{0, 1, 3} {
		if b[i] < r.From[i] || b[i] > r.To[i] {
			return false
		}
	}
	return true
}
