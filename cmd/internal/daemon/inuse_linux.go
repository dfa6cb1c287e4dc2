package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mostUsers is how many programs are named that use a mount.
const mostUsers = 5

// UsersOf names programs that have files open in the mount on dir, or work in it, as far as this
// user may know. It reads links only, and asks nothing of the mount.
func UsersOf(dir string) (users []string) {
	within := func(link string) bool {
		path, err := os.Readlink(link)
		return err == nil && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
	}
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		of := filepath.Join("/proc", p.Name())
		uses := within(filepath.Join(of, "cwd")) || within(filepath.Join(of, "root")) || within(filepath.Join(of, "exe"))
		open, _ := os.ReadDir(filepath.Join(of, "fd")) // others' can't be read
		for _, fd := range open {
			uses = uses || within(filepath.Join(of, "fd", fd.Name()))
		}
		if !uses {
			continue
		}
		if len(users) == mostUsers {
			return append(users, "others")
		}
		name, _ := os.ReadFile(filepath.Join(of, "comm")) // it may have ended
		users = append(users, fmt.Sprintf("%s (process %s)", strings.TrimSpace(string(name)), p.Name()))
	}
	return users
}
