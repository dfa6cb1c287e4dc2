//go:build darwin || freebsd || netbsd

package replace

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	// noAttribute is the error of an attribute that is gone.
	noAttribute = unix.ENOATTR
	// accessList is no attribute's name: lists are something else here.
	accessList = ""
)

// takeAccessList does nothing: there are no lists that are known here.
func takeAccessList(_, _ *os.File) error { return nil }
