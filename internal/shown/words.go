package shown

import (
	"fmt"
	"strings"
)

type integer interface{ int | int64 | uint64 }

// Plural is a number of things: 1 edit, 2 edits.
func Plural[N integer](n N, one string) string {
	return fmt.Sprintf("%d %s", n, Verb(n, one, one+"s"))
}

// Was and Is go with a number of things.
func Was[N integer](n N) string { return Verb(n, "was", "were") }
func Is[N integer](n N) string  { return Verb(n, "is", "are") }

// They is the subject of what happens to a number of things.
func They[N integer](n N) string { return Verb(n, "it is", "they are") }

// Line is what an error says, on one line.
func Line(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Verb is the form of a word that goes with a number of things.
func Verb[N integer](n N, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
