package xmltext

import (
	"fmt"

	"lorefs/datacenter"
)

const (
	// LongText is the least size in bytes of a text that a data center can't hold.
	LongText = 1 << 20
	// LongName is the same for a name.
	LongName = 1 << 15
	// MaxTextBytes is the size in bytes of the longest text that a data center can hold.
	MaxTextBytes = 3 * LongText
	// MaxSpelled is the size of its longest spelling: a character by its number takes 8
	// bytes. Anything longer is refused before it is copied.
	MaxSpelled = 8 * LongText
	// maxSpelledName is the same for a name, in which each character may be escaped.
	maxSpelledName = 8 * LongName * 2
)

// ErrTooLong is the error for a text that is too long to be looked at.
var ErrTooLong = fmt.Errorf("a text of %d characters or more: %w", LongText, datacenter.ErrTooLarge)
