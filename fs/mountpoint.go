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

// CheckMountpoint tells, before any slow work is done, whether source can be
// mounted on dir: dir has to be an empty directory, and neither may be inside
// the other, because a mount that hides its own source cannot be served. What a
// dead mount left behind on dir is detached first.
func CheckMountpoint(dir, source string) error {
	if err := checkDir(dir); err != nil {
		return fmt.Errorf("mount point %s: %w", dir, err)
	}
	if err := checkOverlap(dir, source); err != nil {
		return fmt.Errorf("mount point %s: %w", dir, err)
	}
	return nil
}

func checkDir(dir string) error {
	if isDead(dir) {
		if err := Detach(dir); err != nil {
			return fmt.Errorf("a dead mount is there and cannot be detached: %w", err)
		}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return errors.New("does not exist; create the directory first")
	case err != nil:
		return reason(err)
	case !info.IsDir():
		return errors.New("is not a directory")
	}
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
	dirPath, err := realPath(dir)
	if err != nil {
		return reason(err)
	}
	srcPath, err := realPath(source)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	switch {
	case within(srcPath, dirPath):
		return fmt.Errorf("the source %s is below it and would be hidden", source)
	case within(dirPath, srcPath):
		return fmt.Errorf("it is inside the source %s", source)
	}
	return nil
}

func realPath(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// within reports whether name is dir or below it.
func within(name, dir string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// reason takes the operation and the path, which the caller names, off an error.
func reason(err error) error {
	if pe, ok := errors.AsType[*iofs.PathError](err); ok {
		return pe.Err
	}
	return err
}
