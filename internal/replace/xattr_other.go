//go:build !linux && !darwin && !freebsd && !netbsd

package replace

import "os"

// takeAccessList does nothing: there are no lists that are known here.
func takeAccessList(_, _ *os.File) error { return nil }

// takeAttributes does nothing: there are none that are known here.
func takeAttributes(_, _ *os.File) error { return nil }
