//go:build darwin || freebsd || netbsd

package replace

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	// noAttribute is the error for an attribute that does not exist.
	noAttribute = unix.ENOATTR
	// accessList names no attribute: here lists are not attributes.
	accessList = ""
)

// takeAccessList does nothing: access control lists are not supported here.
func takeAccessList(_, _ *os.File) error { return nil }
