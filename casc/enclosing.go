package casc

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

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
	fsys, err := openFolder(dir)
	if err != nil {
		return false
	}
	name, err := findName(fsys, ".", ".build.config")
	return err == nil && name != ""
}

// maxDataFolders is how many folders deep the data folder of an install is.
const maxDataFolders = 2

// wholeInstall returns the install that a folder is the data folder of, or the folder.
func wholeInstall(dir string) string {
	if has, err := hasBuildFile(os.DirFS(dir)); has || err != nil {
		return dir
	}
	up := dir
	for range maxDataFolders {
		up = filepath.Dir(up)
		fsys := os.DirFS(up)
		if has, err := hasBuildFile(fsys); !has || err != nil {
			continue
		}
		if data, err := findData(fsys); err == nil && filepath.Join(up, filepath.FromSlash(data)) == dir {
			return up
		}
	}
	return dir
}

// ownFile matches the names of files that only installs have.
var ownFile = regexp.MustCompile(`(?i)^(\.build\.info|\.build\.db|\.product\.db|\.flavor\.info|\.build\.config|shmem|data\.\d{3}|[0-9a-f]{10}\.idx|[0-9a-f]{32}(\.index)?)$`)

// EnclosingFile is Enclosing for a file of which only the name is known. It returns "" for
// names that files of other kinds may have too.
func EnclosingFile(name string) (string, error) {
	if !ownFile.MatchString(filepath.Base(name)) {
		return "", nil
	}
	return Enclosing(name)
}
