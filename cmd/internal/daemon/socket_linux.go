package daemon

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// socketName calls use with a name of the socket at path that is short enough for the kernel:
// path itself or, if that is too long, one by way of a descriptor of its folder.
func socketName(path string, use func(name string) error) error {
	if len(path) < maxSocketName {
		return use(path)
	}
	dir, err := os.OpenFile(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)))
}

// maxSocketName is how long the name of a socket may be, with the zero behind it.
const maxSocketName = len(unix.RawSockaddrUnix{}.Path)
