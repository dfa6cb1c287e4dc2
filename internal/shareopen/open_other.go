//go:build !windows

package shareopen

import "os"

// Read is [os.OpenFile] with O_RDONLY and further flags.
func Read(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|flag, 0)
}
