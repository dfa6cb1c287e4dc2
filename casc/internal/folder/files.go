package folder

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"lorefs/casc/internal/store"
	"lorefs/internal/readat"
	"lorefs/internal/shown"
)

// file is a file of the source, open for reading anywhere.
type file struct {
	io.ReaderAt
	io.Closer
	store.Stamp
}

// stampOf returns the stamp of the file that name leads to now.
func stampOf(fsys iofs.FS, name string) (store.Stamp, error) {
	info, err := iofs.Stat(fsys, name)
	if err != nil {
		return store.Stamp{}, fmt.Errorf("casc: %w", err)
	}
	return store.Stamp{Size: info.Size(), ModTime: info.ModTime()}, nil
}

// openFile opens a file of a source, which must be a regular file. It checks that first,
// because opening a pipe would wait for a writer.
func openFile(fsys iofs.FS, name string) (*file, error) {
	info, err := iofs.Stat(fsys, name)
	if err == nil {
		err = regular(name, info)
	}
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(name, info)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("casc: %w", err), f.Close())
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("casc: %s: no file that can be read from anywhere", name), f.Close())
	}
	return &file{r, f, store.Stamp{Size: info.Size(), ModTime: info.ModTime()}}, nil
}

func regular(name string, info iofs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is %s: want a regular file", name, shown.Kind(info.Mode()))
	}
	return nil
}

// readDir lists a folder. Like openFile it checks first that it is one.
func readDir(fsys iofs.FS, dir string) ([]iofs.DirEntry, error) {
	info, err := iofs.Stat(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("casc: %s is no folder (%v)", dir, info.Mode().Type())
	}
	entries, err := iofs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("casc: %w", err)
	}
	return entries, nil
}

// readFile reads a file of a source as a whole.
func readFile(fsys iofs.FS, name string, limit int64) ([]byte, error) {
	f, err := openFile(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size > limit {
		return nil, fmt.Errorf("casc: %s: %d bytes, more than the %d that are read", name, f.Size, limit)
	}
	b := make([]byte, f.Size)
	if err := readat.Full(f, b, 0); err != nil {
		return nil, fmt.Errorf("casc: %s: %w", name, err)
	}
	return b, nil
}

// Open opens a folder of the operating system, and finds its files in any case. It
// follows links wherever they lead, because people keep game data on other disks. That is safe
// since all content is checked by its MD5: a link to another file only makes one that can't be
// read.
func Open(dir string) (fsys AnyCase, err error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &iofs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return fsys, fmt.Errorf("casc: %w", err)
	}
	// The working directory may change later.
	if dir, err = filepath.Abs(dir); err != nil {
		return fsys, fmt.Errorf("casc: %w", err)
	}
	return AnyCase{os.DirFS(dir)}, nil
}

// maxKeyFolders is how many folders deep files named by their keys lie: ab/cd/KEY.
const maxKeyFolders = 2

// walkKeys visits the files of a folder that have paths as of config.Path, also behind
// links. It calls fault for folders and links that it can't follow.
func walkKeys(fsys iofs.FS, dir string, visit func(name string), fault func(error)) {
	walkBelow(fsys, dir, maxKeyFolders, visit, fault)
}

func walkBelow(fsys iofs.FS, dir string, depth int, visit func(name string), fault func(error)) {
	entries, err := iofs.ReadDir(fsys, dir)
	if err != nil {
		fault(fmt.Errorf("casc: the files in a folder count as not local: %w", err))
	}
	for _, e := range entries {
		name, mode := path.Join(dir, e.Name()), e.Type()
		if mode&iofs.ModeSymlink != 0 {
			info, err := iofs.Stat(fsys, name)
			if err != nil {
				fault(fmt.Errorf("casc: a link leads nowhere: %w", err))
				continue
			}
			mode = info.Mode()
		}
		switch {
		case !mode.IsDir():
			visit(name)
		case depth > 0:
			walkBelow(fsys, name, depth-1, visit, fault)
		}
	}
}

// AnyCase finds files whatever the case of their names and folders. Games are made for systems
// that ignore it, and their copies on others may have names in any.
type AnyCase struct{ iofs.FS }

// Open implements [iofs.FS].
func (a AnyCase) Open(name string) (iofs.File, error) { return inAnyCase(a, name, a.FS.Open) }

// Stat implements [iofs.StatFS].
func (a AnyCase) Stat(name string) (iofs.FileInfo, error) {
	return inAnyCase(a, name, func(name string) (iofs.FileInfo, error) { return iofs.Stat(a.FS, name) })
}

// ReadDir implements [iofs.ReadDirFS].
func (a AnyCase) ReadDir(name string) ([]iofs.DirEntry, error) {
	return inAnyCase(a, name, func(name string) ([]iofs.DirEntry, error) { return iofs.ReadDir(a.FS, name) })
}

// inAnyCase calls do with name, and if there is no such file with the name of one that differs in
// case only.
func inAnyCase[T any](a AnyCase, name string, do func(string) (T, error)) (T, error) {
	v, err := do(name)
	if !errors.Is(err, iofs.ErrNotExist) {
		return v, err
	}
	found, why := a.find(name)
	switch {
	case errors.Is(why, iofs.ErrNotExist) || found == name:
		return v, err
	case why != nil:
		return v, why
	}
	return do(found)
}

// find returns the name that a file has.
func (a AnyCase) find(name string) (string, error) {
	at := "."
	for part := range strings.SplitSeq(name, "/") {
		next := path.Join(at, part)
		_, err := iofs.Stat(a.FS, next)
		if errors.Is(err, iofs.ErrNotExist) {
			next, err = a.findEntry(at, part)
		}
		if err != nil {
			return "", err
		}
		at = next
	}
	return at, nil
}

func (a AnyCase) findEntry(dir, name string) (string, error) {
	entries, err := iofs.ReadDir(a.FS, dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if strings.EqualFold(e.Name(), name) {
			return path.Join(dir, e.Name()), nil
		}
	}
	return "", iofs.ErrNotExist
}

// Exists reports whether there is a file or folder. A link that leads nowhere is none.
func Exists(fsys iofs.FS, name string) (bool, error) {
	_, err := iofs.Stat(fsys, name)
	switch {
	case errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("casc: %w", err)
	}
	return true, nil
}

// dataFolders are the folders of an install that may have its archives.
var dataFolders = []string{"data/casc", "Data", "SC2Data", "HeroesData", "BNTData", "."}

// FindData looks for the folder with the configurations and the archives.
func FindData(fsys iofs.FS) (string, error) {
	for _, folder := range dataFolders {
		config := path.Join(folder, "config")
		has, err := Exists(fsys, config)
		if err != nil {
			return "", err
		}
		if has && isDir(fsys, config) {
			return folder, nil
		}
	}
	return "", fmt.Errorf("casc: no folder with a folder config in it: %w", iofs.ErrNotExist)
}

// findArchives looks for the folder of the archives below the folder of findData. It
// returns "" if there is none.
func findArchives(fsys iofs.FS, data string) (string, error) {
	for _, name := range []string{"data", "darch"} {
		at := path.Join(data, name)
		if has, err := Exists(fsys, at); has || err != nil {
			return at, err
		}
	}
	return "", nil
}

func isDir(fsys iofs.FS, name string) bool {
	info, err := iofs.Stat(fsys, name)
	return err == nil && info.IsDir()
}
