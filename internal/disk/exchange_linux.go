package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// CanExchange tells that the system can exchange two names, if the file system can.
const CanExchange = true

// Exchange is renameat2 with RENAME_EXCHANGE.
func (OS) Exchange(a, b string) error { return renameat2(a, b, unix.RENAME_EXCHANGE) }

// RenameNew is renameat2 with RENAME_NOREPLACE.
func (OS) RenameNew(from, to string) error { return renameat2(from, to, unix.RENAME_NOREPLACE) }

func renameat2(from, to string, flags uint) error {
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags); err != nil {
		return &os.LinkError{Op: "renameat2", Old: from, New: to, Err: err}
	}
	return nil
}
