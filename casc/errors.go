package casc

import (
	"errors"

	"lorefs/casc/internal/format"
)

// FormatError reports data that breaks its format. Its text begins with the name of the structure
// and an offset in it.
type FormatError = format.Error

// What errors match.
var (
	// ErrNotFound means that the storage does not know a name or key.
	ErrNotFound = format.ErrNotFound
	// ErrNotLocal means that a file is known, but its data is not here.
	ErrNotLocal = format.ErrNotLocal
	// ErrNoRoot means that there are no names, because no root can be read.
	ErrNoRoot = errors.New("names are missing, for the root can't be read")
	// ErrChanged means that an index file was written to or cut since its hashes were checked.
	ErrChanged = format.ErrChanged
	// ErrUnsupported means that data seems valid but has a form that this package can't read.
	ErrUnsupported = format.ErrUnsupported
)
