package save

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"lorefs/internal/filelock"
	"lorefs/internal/jsonout"
	"lorefs/internal/userdir"
)

// Kind describes a kind of sources. The journals of a kind have the same sort of records.
type Kind struct {
	// Folder is the name of the folder of the journals in the state folder.
	Folder string
	// What names a source of the kind in messages: "a data center", "a folder".
	What string
	// Many says that a source is a folder of files, not a single file.
	Many bool
	// Count returns the number of edits in a record. If it is nil, each record is one edit.
	Count func(record []byte) (int, error)
	// Left returns the number of edits that are left of those in a journal that were made on what is at
	// the path base, since some may undo others. It is asked if the journal does not say that. If Left
	// is nil, all edits are left.
	Left func(j *Journal, base string) (int, error)
}

// Folders is the kind of folders whose files are saved one by one.
var Folders = &Kind{Folder: "folder-journal", What: "a folder", Many: true}

// Files is the kind of files that are written as a whole from what they hold.
var Files = &Kind{Folder: "file-journal", What: "a file"}

// State says whether the edits of a journal can be used.
type State string

const (
	// StateOpen means that the edits belong to the source as it is.
	StateOpen State = "not saved yet"
	// StateSaved means that the source has all edits.
	StateSaved State = "saved"
	// StateStale means that the source has changed: it is neither the file that the edits belong to
	// nor the one that they were saved as.
	StateStale State = "stale"
	// StateInUse means that a process is editing the source.
	StateInUse State = "in use"
	// StateDamaged means that the journal can't be read to its end, or was put aside because of
	// damage.
	StateDamaged State = "damaged"
)

// MarshalText returns the state as JSON spells it, such as not_saved_yet.
func (s State) MarshalText() ([]byte, error) { return []byte(jsonout.Word(string(s))), nil }

const (
	journalSuffix = ".journal"
	lockFolder    = "lock"
	lockSuffix    = ".lock"
)

// statePath returns the path of a file in a folder of the state folder.
func statePath(folder, name string) (string, error) {
	dir, err := userdir.State(folder)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	return filepath.Join(dir.Path(), name), nil
}

// nameOf returns the name that all files of a source begin with.
func nameOf(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:8])
}

// JournalPath returns the path of the journal of a source.
func (k *Kind) JournalPath(source string) (string, error) {
	return statePath(k.Folder, nameOf(source)+journalSuffix)
}

// lockPath returns the path of the lock file that belongs to a name made by nameOf.
func lockPath(name string) (string, error) { return statePath(lockFolder, name+lockSuffix) }

// acquire takes the lock of a source, whose nameOf is name.
func acquire(name, source string) (*filelock.Lock, error) {
	path, err := lockPath(name)
	if err != nil {
		return nil, err
	}
	return filelock.Acquire(path, source)
}
