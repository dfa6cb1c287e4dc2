package session

import (
	"lorefs/internal/journal"
	"lorefs/internal/replace"
)

// records is what a session asks of its journal, see [journal.Journal].
type records interface {
	Append(payload []byte) error
	Sync() error
	Remove() error
	Close() error
	Path() string
	Records() int
}

// system is what a session asks of the disk, apart from the new file, for which
// replace has a hook of its own. Tests put one in its place that fails.
type system interface {
	create(path string, header []byte) (records, error)
	resume(path string) (records, *journal.Contents, error)
	syncDir(path string) error
}

// disk is the system that is really there.
type disk struct{}

func (disk) create(path string, header []byte) (records, error) {
	j, err := journal.Create(path, header)
	if err != nil {
		return nil, err // not j, which would be a journal that is nil
	}
	return j, nil
}

func (disk) resume(path string) (records, *journal.Contents, error) {
	j, contents, err := journal.Resume(path)
	if err != nil {
		return nil, nil, err
	}
	return j, contents, nil
}

func (disk) syncDir(path string) error { return replace.SyncDir(path) }
