package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is the most symbolic links that are followed.
const maxLinks = 40

// MountOf returns the [Name] of the mount of lorefs that a path is in, and the rest of the
// path below it, which is "." for the mount point. The name is empty if there is none. It asks
// nothing of the mount itself, which may hang or be dead, and neither has the rest to exist.
func MountOf(path string) (name, inside string, err error) {
	points, err := mountPoints()
	if err != nil || len(points) == 0 {
		return "", "", err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", "", err
	}
	at, rest, links := "/", strings.Split(abs, "/"), 0
	for len(rest) > 0 {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		if slices.Contains(points, next) {
			return next, filepath.Join(append([]string{"."}, rest...)...), nil
		}
		link, err := os.Readlink(next)
		if err != nil { // most are no links
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", "", nil
		}
		if filepath.IsAbs(link) {
			at = "/"
		}
		rest = append(strings.Split(link, "/"), rest...)
	}
	return "", "", nil
}

// Mine returns the names of this user's mounts, also of those whose process was killed. What
// has no socket in the state folder is another user's, or nobody can be asked about it.
func Mine() (names []string, err error) {
	points, err := mountPoints()
	for _, name := range points {
		path, err := SocketPath(name)
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(path); err == nil {
			names = append(names, name)
		}
	}
	return names, err
}
