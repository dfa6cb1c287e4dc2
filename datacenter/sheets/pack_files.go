package sheets

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"strings"

	"lorefs/datacenter"
)

// sheetFiles are the files of a folder that are to be packed.
type sheetFiles struct {
	fsys    iofs.FS
	files   []sheetFile // in the order in which they are packed
	ignored []string
	size    int64 // of all files together, in bytes
}

type sheetFile struct {
	path string
	size int64
}

// findSheets looks for sheets.
func findSheets(ctx context.Context, fsys iofs.FS) (*sheetFiles, error) {
	s := &sheetFiles{fsys: fsys}
	err := iofs.WalkDir(fsys, ".", func(name string, d iofs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			if isHidden(name) {
				s.ignored = append(s.ignored, name)
				return iofs.SkipDir
			}
			return nil
		}
		return s.add(name)
	})
	if err != nil {
		return nil, fmt.Errorf("sheets: looking for sheets: %w", err)
	}
	if len(s.files) == 0 {
		return nil, fmt.Errorf("sheets: %w", ErrNoSheets)
	}
	slices.SortFunc(s.files, func(a, b sheetFile) int { return CompareNames(a.path, b.path) })
	slices.Sort(s.ignored)
	if len(s.files) > maxRun {
		return nil, fmt.Errorf("sheets: %s is sheet number %d: %w", s.files[maxRun].path, maxRun+1, datacenter.ErrTooLarge)
	}
	return s, nil
}

func isHidden(name string) bool { return strings.HasPrefix(path.Base(name), ".") }

// add takes a file in, or notes that it does not. Only regular files are opened:
// reading from others may never end.
func (s *sheetFiles) add(name string) error {
	isSheet, err := path.Match("?*-?*.xml", path.Base(name))
	if err != nil {
		return err
	}
	if !isSheet || isHidden(name) {
		if path.Ext(name) != ".xsd" {
			s.ignored = append(s.ignored, name)
		}
		return nil
	}
	info, err := iofs.Stat(s.fsys, name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		s.ignored = append(s.ignored, name)
		return nil
	}
	s.files = append(s.files, sheetFile{name, info.Size()})
	s.size += info.Size()
	return nil
}

// maxFile bounds a file, in bytes. The largest real sheet has 116 MB.
const maxFile = 1 << 30

// readFile reads a file into buf, which it may replace by a larger one.
func readFile(fsys iofs.FS, name string, buf []byte) (data []byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("sheets: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("sheets: %w", err)
	}
	size := info.Size()
	if size > maxFile {
		return nil, fmt.Errorf("sheets: %s has %d bytes, more than %d: %w", name, size, maxFile, datacenter.ErrTooLarge)
	}
	// One byte more than there is tells the end of the file without growing.
	data = slices.Grow(buf[:0], int(max(size, 0))+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, fmt.Errorf("sheets: %w", err)
		case len(data) > maxFile:
			return nil, fmt.Errorf("sheets: %s has more than %d bytes: %w", name, maxFile, datacenter.ErrTooLarge)
		case len(data) == cap(data):
			data = slices.Grow(data, len(data))
		}
	}
}
