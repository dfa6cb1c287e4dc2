//go:build !(darwin || freebsd || linux || windows)

package replace

import "errors"

func freeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
