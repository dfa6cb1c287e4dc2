// Package links follows symbolic links to files that are to be written, as the kernel does
// with fs.protected_symlinks, whether that is set or not. In a folder in which everybody
// may make files and nobody may remove those of others, such as /tmp, a link is followed
// only if it belongs to the user of this process or to the owner of the folder. Otherwise
// another user could redirect what is written there.
//
// Unlike the kernel it checks all links of a path, not only the last, because a folder can
// be redirected as easily as a file. On systems without such folders all links are
// followed.
package links

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrPlanted means that a link is not followed because another user has made it in a folder
// in which everybody may.
var ErrPlanted = errors.New("a link of another user in a folder that everybody may write to is not followed")

// most is how many links are followed: as many as [filepath.EvalSymlinks] follows.
const most = 255

// Resolve returns the absolute path that a path leads to, without links. If it leads to
// nothing the error matches [iofs.ErrNotExist].
func Resolve(path string) (string, error) {
	whole, missing, err := resolve(path)
	if err == nil && missing != "" {
		err = &iofs.PathError{Op: "lstat", Path: filepath.Join(whole, missing), Err: iofs.ErrNotExist}
	}
	return filepath.Join(whole, missing), err
}

// MakeDir makes a folder and its parents if needed, and returns its path without links.
func MakeDir(path string, perm os.FileMode) (string, error) {
	whole, missing, err := resolve(path)
	if err != nil {
		return "", err
	}
	whole = filepath.Join(whole, missing)
	if err := os.MkdirAll(whole, perm); err != nil {
		return "", err
	}
	// Somebody may have made a link where there was nothing.
	if now, err := Resolve(whole); err != nil || now != whole {
		return "", errors.Join(fmt.Errorf("%s: %w", whole, ErrPlanted), err)
	}
	return whole, nil
}

// resolve resolves the first part of a path. missing is empty, or the rest of the path,
// whose names do not exist.
func resolve(path string) (whole, missing string, err error) {
	if !filepath.IsAbs(path) {
		wd, err := os.Getwd()
		if err != nil {
			return "", "", err
		}
		path = wd + string(filepath.Separator) + path // not cleaned: ".." is relative to where a link leads
	}
	whole = filepath.VolumeName(path) + string(filepath.Separator)
	rest := names(path)
	for followed := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			whole = filepath.Dir(whole)
			continue
		}
		next := filepath.Join(whole, name)
		info, err := os.Lstat(next)
		if errors.Is(err, iofs.ErrNotExist) {
			return whole, filepath.Join(append([]string{name}, rest...)...), nil
		}
		if err != nil {
			return "", "", err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			whole = next
			continue
		}
		if followed++; followed > most {
			return "", "", &iofs.PathError{Op: "lstat", Path: path, Err: syscall.ELOOP}
		}
		to, err := follow(whole, next, info)
		if err != nil {
			return "", "", err
		}
		if filepath.IsAbs(to) {
			whole = filepath.VolumeName(to) + string(filepath.Separator)
		}
		rest = append(names(to), rest...)
	}
	return whole, "", nil
}

// follow returns what a link in a folder leads to.
func follow(dir, link string, info os.FileInfo) (string, error) {
	folder, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !mayFollow(folder, info) {
		return "", fmt.Errorf("%s: %w", link, ErrPlanted)
	}
	return os.Readlink(link)
}

// names returns the names in a path, which may be absolute.
func names(path string) []string {
	path = filepath.ToSlash(path[len(filepath.VolumeName(path)):])
	var names []string
	for name := range strings.SplitSeq(path, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names
}

// OpenLog opens a file to append to, which may also be a pipe or a device, and makes it if
// needed.
func OpenLog(path string, perm os.FileMode) (*os.File, error) {
	const flag = os.O_WRONLY | os.O_APPEND
	f, err := os.OpenFile(path, flag|os.O_CREATE|os.O_EXCL, perm) // which follows no link
	if !errors.Is(err, iofs.ErrExist) {
		return f, err
	}
	// Some links, such as /dev/stderr, lead to what has no path.
	whole, err := Resolve(path)
	switch {
	case err == nil:
		path = whole
	case !errors.Is(err, iofs.ErrNotExist):
		return nil, err
	}
	return os.OpenFile(path, flag|os.O_CREATE, perm)
}
