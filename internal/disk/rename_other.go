//go:build !windows

package disk

import "os"

// Rename calls [os.Rename].
func (OS) Rename(from, to string) error { return os.Rename(from, to) }
