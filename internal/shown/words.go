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

// Was goes with a number of things.
func Was[N integer](n N) string { return Verb(n, "was", "were") }

// Is goes with a number of things.
func Is[N integer](n N) string { return Verb(n, "is", "are") }

// They is the subject of what happens to a number of things.
func They[N integer](n N) string { return Verb(n, "it is", "they are") }

// Line returns the text of an error, on one line.
func Line(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Verb is the form of a word that goes with a number of things.
func Verb[N integer](n N, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// maxBrief is how many bytes of a text with the words of others are told, which can be as long as
// they like.
const maxBrief = 1 << 10

// Brief returns the beginning of a text that is too long to be read.
func Brief(text string) string {
	if len(text) <= maxBrief {
		return text
	}
	return strings.ToValidUTF8(text[:maxBrief], "") + " …"
}

// Fault returns what an error about data says behind the place: what is wrong, or its cause, or
// both.
func Fault(what string, cause error) string {
	switch what = Brief(what); {
	case cause == nil:
		return what
	case what == "":
		return cause.Error()
	}
	return what + ": " + cause.Error()
}
