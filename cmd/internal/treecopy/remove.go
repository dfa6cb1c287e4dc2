package treecopy

import (
	"os"
	"path/filepath"
	"runtime"
)

// remove removes a file of its own.
func (t *target) remove(name string) error { return Remove(t.root, name) }

// Remove removes a file or an empty folder. Where Windows has no POSIX deletion, as on some network
// drives and under wine, [os.Root.Remove] fails, and [os.Remove] does not.
func Remove(root *os.Root, name string) error {
	err := root.Remove(name)
	if err == nil || runtime.GOOS != "windows" {
		return err
	}
	return os.Remove(filepath.Join(root.Name(), filepath.FromSlash(name)))
}
