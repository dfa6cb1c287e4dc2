//go:build !(darwin || freebsd || linux || windows)

package diskspace

import "errors"

// Of asks the file system of a folder.
func Of(string) (Space, error) { return Space{}, errors.ErrUnsupported }
