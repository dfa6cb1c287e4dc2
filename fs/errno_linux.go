package fs

import "syscall"

// Error numbers for "not held locally" and "no key".
const (
	errNoData = syscall.ENODATA
	errNoKey  = syscall.ENOKEY
)
