package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"

	"lorefs/internal/userdir"
)

// Name returns the form of a mount point that mount and unmount agree on: absolute, without
// links. It asks nothing of the mount itself, which may hang.
func Name(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	up, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		if pe, ok := errors.AsType[*iofs.PathError](err); ok {
			err = pe.Err
		}
		return "", fmt.Errorf("mount point %s: %w", dir, err)
	}
	name := filepath.Join(up, filepath.Base(abs))
	if _, err := os.Readlink(name); err == nil {
		return filepath.EvalSymlinks(name)
	}
	return name, nil
}

// SocketPath returns the path of the socket of the mount on dir, a [Name].
func SocketPath(dir string) (string, error) {
	run, err := userdir.State("run")
	if err != nil {
		return "", err
	}
	defer run.Close()
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(run.Path(), hex.EncodeToString(sum[:8])+".sock"), nil
}

// besideSuffix is appended to the socket's name for the file with the path of what is
// edited besides the source, because the kernel's list of mounts has only the source.
const besideSuffix = ".beside"

// noteBeside writes that file, or removes that of an earlier mount.
func noteBeside(socket, beside string) error {
	if beside != "" {
		return os.WriteFile(socket+besideSuffix, []byte(beside), 0o600)
	}
	if err := os.Remove(socket + besideSuffix); !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return nil
}

// editedBeside returns what the mount on dir, a [Name], edits besides its source, from the
// file that its process has written; "" for nothing.
func editedBeside(dir string) string {
	socket, err := SocketPath(dir)
	if err != nil {
		return ""
	}
	path, err := os.ReadFile(socket + besideSuffix)
	if err != nil {
		return "" // most mounts have none
	}
	return string(path)
}
