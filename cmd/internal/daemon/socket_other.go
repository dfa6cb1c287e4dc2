//go:build !linux

package daemon

import "fmt"

// maxSocketName is how long the name of a socket may be, with the zero behind it.
const maxSocketName = 104

// socketName calls use with path, the path of a socket, unless that is too long for the system.
func socketName(path string, use func(name string) error) error {
	if len(path) >= maxSocketName {
		return fmt.Errorf("the path %s is longer than the %d bytes that a socket may have: set XDG_STATE_HOME to a shorter folder", path, maxSocketName-1)
	}
	return use(path)
}
