package pending

import (
	"lorefs/internal/journal"
	"lorefs/internal/replace"
)

// Log is what is asked of a journal, see [journal.Journal].
type Log interface {
	Append(payload []byte) error
	Sync() error
	Remove() error
	Close() error
	Path() string
	Records() int
}

// System is what is asked of the disk, apart from new files, for which replace has a
// hook of its own. Tests put one in its place that fails.
type System interface {
	// Create is [journal.Create], Resume [journal.Resume], SyncDir [replace.SyncDir].
	Create(path string, header []byte) (Log, error)
	Resume(path string) (Log, *journal.Contents, error)
	SyncDir(path string) error
}

// Disk is the System that is really there.
type Disk struct{}

// Create is the System's.
func (Disk) Create(path string, header []byte) (Log, error) {
	j, err := journal.Create(path, header)
	if err != nil {
		return nil, err // not j, which would be a journal that is nil
	}
	return j, nil
}

// Resume is the System's.
func (Disk) Resume(path string) (Log, *journal.Contents, error) {
	j, contents, err := journal.Resume(path)
	if err != nil {
		return nil, nil, err
	}
	return j, contents, nil
}

// SyncDir is the System's.
func (Disk) SyncDir(path string) error { return replace.SyncDir(path) }
