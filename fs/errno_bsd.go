//go:build darwin || freebsd

package fs

import "syscall"

// What "not held locally" and "no key" are called here, where neither ENODATA
// (FreeBSD) nor ENOKEY exists.
const (
	errNoData = syscall.ENXIO
	errNoKey  = syscall.EACCES
)
