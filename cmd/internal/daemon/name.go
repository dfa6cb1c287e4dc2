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
