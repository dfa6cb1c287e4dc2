//go:build unix

package session

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// writable tells early whether a file can be replaced.
func writable(path string) error {
	dir := filepath.Dir(path)
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("the folder %s can't be written to: %w", dir, err)
	}
	if err := unix.Access(path, unix.W_OK); err != nil {
		return fmt.Errorf("%s can't be written to: %w", path, err)
	}
	return nil
}
