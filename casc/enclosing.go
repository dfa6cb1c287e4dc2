package casc

import (
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"regexp"

	"lorefs/casc/internal/folder"
)

// Detect reports whether a folder looks like something that OpenPath opens. It lists a few
// folders and reads no file.
func Detect(dir string) (bool, error) {
	fsys, err := folder.Open(dir)
	if err != nil {
		return false, err
	}
	return folder.Detect(fsys)
}

// StaticError reports a game as Steam installs it. Its archives are static containers: the
// keys of files say where they are, and there is no index.
type StaticError struct {
	// Dir is the folder of the game.
	Dir string
}

func (e *StaticError) Error() string {
	return fmt.Sprintf("%s is a game that Steam installed: its archives have no index, so they can't be read; only those that Battle.net installs can", e.Dir)
}

// Is makes a StaticError match ErrUnsupported.
func (e *StaticError) Is(target error) bool { return target == ErrUnsupported }

// Enclosing returns the folder of the storage that a file or folder is in, which may be the
// folder itself, or "" if there is none. If there is a game that Steam has installed instead,
// the error is a *StaticError.
func Enclosing(name string) (string, error) {
	at, err := filepath.Abs(name)
	if err == nil {
		at, err = filepath.EvalSymlinks(at) // what a link leads to is in a storage, not the link
	}
	if err != nil {
		return "", fmt.Errorf("casc: %w", err)
	}
	if info, err := os.Stat(at); err != nil {
		return "", fmt.Errorf("casc: %w", err)
	} else if !info.IsDir() {
		at = filepath.Dir(at)
	}
	for {
		if is, err := Detect(at); err == nil && is {
			return wholeInstall(at), nil
		}
		if IsStatic(at) {
			return "", &StaticError{at}
		}
		up := filepath.Dir(at)
		if up == at {
			return "", nil
		}
		at = up // also from folders that only others may list
	}
}

// IsStatic reports whether a folder has a game as Steam installs it.
func IsStatic(dir string) bool {
	fsys, err := folder.Open(dir)
	if err != nil {
		return false
	}
	for _, name := range []string{".build.config", "Data/.build.config"} {
		if has, err := folder.Exists(fsys, name); has && err == nil {
			return true
		}
	}
	return false
}

// maxDataFolders is how many folders deep the data folder of an install is.
const maxDataFolders = 2

// wholeInstall returns the install that a folder is the data folder of, or the folder.
func wholeInstall(dir string) string {
	here, err := os.Stat(dir)
	if err != nil {
		return dir
	}
	up := dir
	for range maxDataFolders + 1 {
		fsys := folder.AnyCase{FS: os.DirFS(up)}
		if has, err := folder.HasBuildFile(fsys); has && err == nil {
			data, err := folder.FindData(fsys)
			if up == dir || err == nil && isSame(fsys, data, here) {
				return up
			}
		}
		up = filepath.Dir(up)
	}
	return dir
}

// isSame reports whether a name leads to a file.
func isSame(fsys iofs.FS, name string, file iofs.FileInfo) bool {
	info, err := iofs.Stat(fsys, name)
	return err == nil && os.SameFile(info, file)
}

// buildFile matches the names of other files that list builds, as .build.info does.
var buildFile = regexp.MustCompile(`(?i)^(.+\.build\.info|versions)$`)

// BuildFileOf returns the Options.BuildFile that opens the storage in the folder dir by a file, or
// "" if that is no list of builds in that folder.
func BuildFileOf(dir, name string) string {
	base := filepath.Base(name)
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || !buildFile.MatchString(base) {
		return ""
	}
	if in, err := os.Stat(filepath.Dir(name)); err != nil || !isSame(os.DirFS(dir), ".", in) {
		return ""
	}
	return base
}

// ownFile matches the names of files that only installs have.
var ownFile = regexp.MustCompile(`(?i)^(.*\.build\.info|versions|\.build\.db|\.product\.db|\.flavor\.info|\.build\.config|shmem|data\.\d{3}|[0-9a-f]{2}-[0-9a-f]{8}\.data|[0-9a-f]{10}\.idx|[0-9a-f]{32}(\.index)?)$`)

// EnclosingFile is Enclosing for a file of which only the name is known. It returns "" for
// names that files of other kinds may have too.
func EnclosingFile(name string) (string, error) {
	if !ownFile.MatchString(filepath.Base(name)) {
		return "", nil
	}
	return Enclosing(name)
}
