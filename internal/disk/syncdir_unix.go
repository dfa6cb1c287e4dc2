//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir calls fsync on the folder. Some file systems don't support that; they are assumed to need
// none.
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
