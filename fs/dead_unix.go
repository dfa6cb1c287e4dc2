//go:build linux || darwin || freebsd

package fs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// isDead tells whether dir is a mount whose server has gone. It asks by statfs,
// because the kernel would answer stat from what a dead server once told it.
func isDead(dir string) bool {
	var st unix.Statfs_t
	return errors.Is(unix.Statfs(dir, &st), unix.ENOTCONN)
}
