//go:build !windows

package diskspace

import "syscall"

var fullErrors = []error{syscall.ENOSPC, syscall.EDQUOT}
