//go:build unix

package filelock

import "syscall"

const noFollow = syscall.O_NOFOLLOW
