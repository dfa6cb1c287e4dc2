package folder

import (
	"encoding/hex"
	"errors"
	iofs "io/fs"
	"path"
)

// Detect reports whether a folder looks like one of a storage. It lists a few folders and reads no
// file.
func Detect(fsys iofs.FS) (bool, error) {
	if has, err := HasBuildFile(fsys); has || err != nil {
		return has, err
	}
	data, err := FindData(fsys)
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	// Many folders have folders named config and data. In a storage they have folders named
	// after the first byte of a key, or archives with their index.
	if !hasKeys(fsys, path.Join(data, "config")) {
		return false, nil
	}
	archives, err := findArchives(fsys, data)
	if err != nil || archives == "" {
		return false, err
	}
	files, err := idxFiles(fsys, archives)
	return len(files) > 0 || hasKeys(fsys, archives), err
}

// HasBuildFile reports whether a folder has a file that says which build is installed.
func HasBuildFile(fsys iofs.FS) (bool, error) {
	for _, f := range buildFiles {
		if has, err := Exists(fsys, f.name); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// hasKeys reports whether a folder has folders named after the first byte of a key.
func hasKeys(fsys iofs.FS, dir string) bool {
	entries, err := readDir(fsys, dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if b, err := hex.DecodeString(e.Name()); err == nil && len(b) == 1 && isDir(fsys, path.Join(dir, e.Name())) {
			return true
		}
	}
	return false
}
