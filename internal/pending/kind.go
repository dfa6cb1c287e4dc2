package pending

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"time"

	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/userdir"
)

// Kind is a kind of sources, whose journals say the same things.
type Kind struct {
	// Folder is that of the journals, in the state folder.
	Folder string
	// Digest reads a journal. Of a damaged one it gives what lies ahead of the
	// damage, and the error.
	Digest func(contents *journal.Contents) (Summary, error)
}

// Summary is what a journal says, but for the edits themselves.
type Summary struct {
	// Source is the path of the source, without links.
	Source string
	// Began is when the first edit was made.
	Began time.Time
	// Edits is how many are not known to be saved.
	Edits int
	// Compare tells what the edits are worth, given what the source is now, and why
	// they are stale if it can't be read.
	Compare func() (State, error)
}

// State is what the edits of a journal are worth.
type State string

const (
	// Open tells that the edits belong to the source as it is.
	Open State = "not saved yet"
	// Saved tells that the source is what the edits were saved as.
	Saved State = "saved"
	// Stale tells that the source is neither.
	Stale State = "stale"
	// InUse tells that somebody edits the source.
	InUse State = "in use"
	// Damaged tells that the journal can't be read, or not to its end, or is one that was
	// kept because of that.
	Damaged State = "damaged"
)

// UnknownKind is what to say of a record of a kind that the caller does not know, which
// is its first byte: nil if it is a small letter, as who does not know that one can do
// without.
func UnknownKind(kind byte) error {
	if kind >= 'a' && kind <= 'z' {
		return nil
	}
	return &journal.UnsupportedError{What: fmt.Sprintf("a record of the kind %q, which is not known", kind)}
}

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
