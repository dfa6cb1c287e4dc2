//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package filelock

import "errors"

func tryLock(uintptr, mode) error { return errors.ErrUnsupported }
