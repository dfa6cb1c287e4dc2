//go:build !windows

package colors

import "os"

// prepare has nothing to do: all terminals take escapes for colours.
func prepare(*os.File) error { return nil }
