//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir is fsync of the folder. File systems that do not know how to are believed to do it
// by themselves.
func (OS) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	return err
}
