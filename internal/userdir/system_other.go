//go:build !unix

package userdir

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// checkModes is false, as modes say nothing here.
const checkModes = false

func owner(os.FileInfo) (uid int, ok bool) { return 0, false }

// replace does by hand what renameio does on the systems that it knows.
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
