package daemon

import (
	"encoding/json"
	"errors"
	iofs "io/fs"
	"os"
)

// Notes tell other processes what they have to know of a mount once its process was killed, besides
// what the kernel's list of mounts says. They are files beside the socket.
type Notes struct {
	// Beside is the path of what is edited besides the source, or "".
	Beside string
	// Made are the absolute paths of the folders that were made for the mount point, the lowest
	// first.
	Made []string
}

// The names of the files are that of the socket and one of these.
const (
	besideSuffix = ".beside"
	madeSuffix   = ".made"
)

// write writes the files, and removes those of an earlier mount.
func (n *Notes) write(socket string) error {
	if err := removeNotes(socket); err != nil {
		return err
	}
	if n.Beside != "" {
		if err := os.WriteFile(socket+besideSuffix, []byte(n.Beside), 0o600); err != nil {
			return err
		}
	}
	if len(n.Made) == 0 {
		return nil
	}
	text, err := json.Marshal(n.Made)
	if err != nil {
		return err
	}
	return os.WriteFile(socket+madeSuffix, text, 0o600)
}

// removeNotes removes the files, if there are any.
func removeNotes(socket string) error {
	var errs []error
	for _, suffix := range []string{besideSuffix, madeSuffix} {
		if err := os.Remove(socket + suffix); !errors.Is(err, iofs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
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

// TakeMade returns [Notes.Made] of a mount whose process was killed, and forgets them. dir is
// its [Name].
func TakeMade(dir string) (made []string, err error) {
	socket, err := SocketPath(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(socket + madeSuffix)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &made); err != nil {
		made = nil // it was killed while it wrote them
	}
	return made, os.Remove(socket + madeSuffix)
}
