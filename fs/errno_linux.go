package fs

import "syscall"

// What "not held locally" and "no key" are called here.
const (
	errNoData = syscall.ENODATA
	errNoKey  = syscall.ENOKEY
)
