package save

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"lorefs/internal/filelock"
	"lorefs/internal/userdir"
)

// Kind is a kind of sources, whose journals say the same things.
type Kind struct {
	// Folder is that of the journals, in the state folder.
	Folder string
	// What is a source of the kind: "a data center", "a folder".
	What string
	// Many tells that a source is a folder of files, and not a file.
	Many bool
	// Count tells how many edits a record has. Default: one.
	Count func(record []byte) (int, error)
}

// Folders are folders of files, each of which is saved by itself.
var Folders = &Kind{Folder: "folder-journal", What: "a folder", Many: true}

// State is what the edits of a journal are worth.
type State string

const (
	// StateOpen tells that the edits belong to the source as it is.
	StateOpen State = "not saved yet"
	// StateSaved tells that the source is what the edits were saved as.
	StateSaved State = "saved"
	// StateStale tells that the source is neither.
	StateStale State = "stale"
	// StateInUse tells that somebody edits the source.
	StateInUse State = "in use"
	// StateDamaged tells that the journal can't be read, or not to its end, or is one that was
	// kept because of that.
	StateDamaged State = "damaged"
)

const (
	journalSuffix = ".journal"
	lockFolder    = "lock"
	lockSuffix    = ".lock"
)

// statePath is the path of a file in a folder of the state folder.
func statePath(folder, name string) (string, error) {
	dir, err := userdir.State(folder)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	return filepath.Join(dir.Path(), name), nil
}

// nameOf is what the files of a source are called by.
func nameOf(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:8])
}

// JournalPath is where the journal of a source is.
func (k *Kind) JournalPath(source string) (string, error) {
	return statePath(k.Folder, nameOf(source)+journalSuffix)
}

// lockPath is the lock file of whoever edits the source that a name is made of.
func lockPath(name string) (string, error) { return statePath(lockFolder, name+lockSuffix) }

// acquire takes that lock.
func acquire(name, source string) (*filelock.Lock, error) {
	path, err := lockPath(name)
	if err != nil {
		return nil, err
	}
	return filelock.Acquire(path, source)
}
