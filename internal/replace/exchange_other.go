//go:build !linux

package replace

import "errors"

// canExchange is false: what is renamed over a file replaces whatever is there.
const canExchange = false

func exchange(_, _ string) error { return errors.ErrUnsupported }

func renameNew(_, _ string) error { return errors.ErrUnsupported }
