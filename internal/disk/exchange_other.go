//go:build !linux

package disk

import "errors"

// CanExchange is false: here, renaming replaces whatever file is at the new name.
const CanExchange = false

// Exchange is not supported here.
func (OS) Exchange(_, _ string) error { return errors.ErrUnsupported }

// RenameNew is not supported here.
func (OS) RenameNew(_, _ string) error { return errors.ErrUnsupported }
