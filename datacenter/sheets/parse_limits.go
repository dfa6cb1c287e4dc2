package sheets

import "lorefs/datacenter"

const (
	// A text of fewer bytes than longText, and a name of fewer than longName, is not
	// too long for a data center.
	longText = 1 << 20
	longName = 1 << 15
	// maxTextBytes is how many bytes the longest text has that a data center can hold.
	maxTextBytes = 3 * longText
	// maxSpelled is how many bytes it takes to spell it: a character by its number takes 8.
	// What is longer is refused before it is copied.
	maxSpelled = 8 * longText
	// maxSpelledName is that of a name, of which each character may be escaped.
	maxSpelledName = 8 * longName * 2
)

// errTooLong is the error of a text that is not even looked at.
var errTooLong = wrapf(datacenter.ErrTooLarge, "a text of %d characters or more", longText)
