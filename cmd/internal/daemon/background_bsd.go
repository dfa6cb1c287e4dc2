//go:build unix && !linux

package daemon

import (
	"os"

	"golang.org/x/sys/unix"
)

// duplicate makes to another name of the file from.
func duplicate(from, to *os.File) error {
	return unix.Dup2(int(from.Fd()), int(to.Fd()))
}
