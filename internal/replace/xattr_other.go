//go:build !linux && !darwin && !freebsd && !netbsd

package replace

import "os"

// takeAccessList does nothing: access control lists are not supported here.
func takeAccessList(_, _ *os.File) error { return nil }

// takeAttributes does nothing: extended attributes are not supported here.
func takeAttributes(_, _ *os.File) error { return nil }
