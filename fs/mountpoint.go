package fs

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoMountpoint means that there is nothing to mount on.
var ErrNoMountpoint = errors.New("does not exist")

// CheckMountpoint checks, before any slow work is done, that source can be mounted on dir.
// dir must be an empty directory that is not inside the source, because a mount that hides
// its own source can't be served. (A source below dir makes that not empty.) source is empty
// if it is on no file system. A dead mount on dir is removed first, see [Clear].
func CheckMountpoint(dir, source string) error {
	place, err := resolve(dir)
	if err == nil {
		err = checkDir(place)
	}
	if err == nil && source != "" {
		err = checkOverlap(place, source)
	}
	if err != nil {
		return fmt.Errorf("mount point %s: %w", dir, reason(err))
	}
	return nil
}

// checkDir checks a resolved mount point.
func checkDir(dir string) error {
	if err := Clear(dir); err != nil {
		return err
	}
	if isOurs(dir) {
		return errors.New("lorefs has mounted something there already; unmount it first")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return ErrNoMountpoint
	case err != nil:
		return reason(err)
	case !info.IsDir():
		return errors.New("is not a directory")
	}
	if err := checkEmpty(dir); err != nil {
		return err
	}
	return checkUserMayMount(dir)
}

func checkEmpty(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return reason(err)
	}
	defer func() { _ = d.Close() }()
	switch _, err := d.Readdirnames(1); {
	case err == nil:
		return errors.New("is not empty")
	case !errors.Is(err, io.EOF):
		return reason(err)
	}
	return nil
}

func checkOverlap(dir, source string) error {
	src, err := filepath.Abs(source)
	if err == nil {
		src, err = filepath.EvalSymlinks(src)
	}
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if within(dir, src) {
		return fmt.Errorf("it is inside the source %s", source)
	}
	return nil
}

// maxLinks is the most symbolic links that are followed.
const maxLinks = 40

// resolve makes a path absolute and free of symbolic links, so that every part of lorefs
// means the same place. The last element need not exist. It is only checked for being a
// link, because a dead mount answers no other question.
func resolve(name string) (string, error) {
	name, err := filepath.Abs(name)
	for range maxLinks {
		if err != nil {
			return "", err
		}
		var parent string
		if parent, err = filepath.EvalSymlinks(filepath.Dir(name)); err != nil {
			return "", err
		}
		name = filepath.Join(parent, filepath.Base(name))
		link, notLink := os.Readlink(name)
		if notLink != nil {
			return name, nil //nolint:nilerr // then this is where the path leads
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(parent, link)
		}
		name = link
	}
	return "", fmt.Errorf("%s: too many symbolic links", name)
}

// within reports whether name is dir or below it.
func within(name, dir string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// reason removes the operation and the path, which the caller names, from an error.
func reason(err error) error {
	if pe, ok := errors.AsType[*iofs.PathError](err); ok {
		return pe.Err
	}
	return err
}
