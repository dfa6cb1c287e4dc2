package replace

import (
	"os"

	"golang.org/x/sys/unix"
)

// canExchange tells that two files can swap their names at once, if the file system
// knows how to.
const canExchange = true

// exchange has two names swap the files that they lead to, at one moment.
func exchange(a, b string) error { return renameat2(a, b, unix.RENAME_EXCHANGE) }

// renameNew renames a file to a name that there is not yet, and replaces nothing.
func renameNew(from, to string) error { return renameat2(from, to, unix.RENAME_NOREPLACE) }

func renameat2(from, to string, flags uint) error {
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags); err != nil {
		return &os.LinkError{Op: "renameat2", Old: from, New: to, Err: err}
	}
	return nil
}
