//go:build !(darwin || freebsd || linux || windows)

package diskspace

import "errors"

// Of returns an error.
func Of(string) (Space, error) { return Space{}, errors.ErrUnsupported }
