//go:build !linux

package disk

import "errors"

// CanExchange is false: what is renamed over a file replaces whatever is there.
const CanExchange = false

// Exchange is not known here.
func (OS) Exchange(_, _ string) error { return errors.ErrUnsupported }

// RenameNew is not known here.
func (OS) RenameNew(_, _ string) error { return errors.ErrUnsupported }
