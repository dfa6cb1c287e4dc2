package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// CanExchange says whether the system can exchange two names. The file system may still be unable
// to.
const CanExchange = true

// Exchange calls renameat2 with RENAME_EXCHANGE.
func (OS) Exchange(a, b string) error { return renameat2(a, b, unix.RENAME_EXCHANGE) }

// RenameNew calls renameat2 with RENAME_NOREPLACE.
func (OS) RenameNew(from, to string) error { return renameat2(from, to, unix.RENAME_NOREPLACE) }

func renameat2(from, to string, flags uint) error {
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags); err != nil {
		return &os.LinkError{Op: "renameat2", Old: from, New: to, Err: err}
	}
	return nil
}
