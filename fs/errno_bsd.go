//go:build darwin || freebsd

package fs

import "syscall"

// Error numbers for "not held locally" and "no key", where neither ENODATA (FreeBSD) nor
// ENOKEY exists.
const (
	errNoData = syscall.ENXIO
	errNoKey  = syscall.EACCES
)
