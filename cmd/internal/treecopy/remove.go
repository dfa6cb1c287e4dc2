package treecopy

import (
	"os"
	"path/filepath"
	"runtime"
)

// remove removes a file of its own. Where Windows has no POSIX deletion, as on some network
// drives and under wine, [os.Root.Remove] fails, and [os.Remove] does not.
func (t *target) remove(name string) error {
	err := t.root.Remove(name)
	if err == nil || runtime.GOOS != "windows" {
		return err
	}
	return os.Remove(filepath.Join(t.root.Name(), filepath.FromSlash(name)))
}
