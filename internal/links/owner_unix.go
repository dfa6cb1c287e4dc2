//go:build unix

package links

import (
	"os"
	"syscall"
)

// mayFollow reports whether a link in a folder may be followed.
func mayFollow(folder, link os.FileInfo) bool {
	const everybody = 0o002
	if folder.Mode()&os.ModeSticky == 0 || folder.Mode().Perm()&everybody == 0 {
		return true
	}
	inside, ok := link.Sys().(*syscall.Stat_t)
	outside, ok2 := folder.Sys().(*syscall.Stat_t)
	return ok && ok2 && (int(inside.Uid) == os.Geteuid() || inside.Uid == outside.Uid)
}
