//go:build unix

package userdir

import (
	"os"
	"syscall"

	"github.com/google/renameio/v2"
)

const checkModes = true

func owner(info os.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

func (d *Dir) replace(name string, data []byte) error {
	f, err := renameio.NewPendingFile(name, renameio.WithRoot(d.root), renameio.WithStaticPermissions(filePerm))
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if cleanErr := f.Cleanup(); err == nil {
		err = cleanErr
	}
	return err
}
