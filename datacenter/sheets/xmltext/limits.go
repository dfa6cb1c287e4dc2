package xmltext

import (
	"fmt"

	"lorefs/datacenter"
)

const (
	// LongText is how many bytes a text has at least that a data center cannot hold.
	LongText = 1 << 20
	// LongName is that of a name.
	LongName = 1 << 15
	// MaxTextBytes is how many bytes the longest text has that a data center can hold.
	MaxTextBytes = 3 * LongText
	// MaxSpelled is how many bytes it takes to spell it: a character by its number takes 8.
	// What is longer is refused before it is copied.
	MaxSpelled = 8 * LongText
	// maxSpelledName is that of a name, of which each character may be escaped.
	maxSpelledName = 8 * LongName * 2
)

// ErrTooLong is the error of a text that is not even looked at.
var ErrTooLong = fmt.Errorf("a text of %d characters or more: %w", LongText, datacenter.ErrTooLarge)
