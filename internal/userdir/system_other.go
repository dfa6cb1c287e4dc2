//go:build !unix

package userdir

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// checkModes is false, because modes mean nothing here.
const checkModes = false

func owner(os.FileInfo) (uid int, ok bool) { return 0, false }

// replace replaces a file by hand, because renameio does not support this system.
func (d *Dir) replace(name string, data []byte) error {
	temp := fmt.Sprintf(".%s%d", name, time.Now().UnixNano())
	err := d.root.WriteFile(temp, data, filePerm)
	if err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, d.root.Remove(temp))
	}
	return nil
}
