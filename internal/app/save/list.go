package save

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lorefs/internal/disk"
	"lorefs/internal/filelock"
	"lorefs/internal/journal"
)

// Journal describes one that was left behind, or is in use.
type Journal struct {
	Path   string    `json:"path"`
	Source string    `json:"source,omitempty"`
	Began  time.Time `json:"began"`
	Edits  int       `json:"edits"`
	State  State     `json:"state"`
	// Unreadable is how many bytes hold no edits any more that once did.
	Unreadable int64 `json:"unreadable_bytes,omitempty"`
	// Problem says more of a State that is one.
	Problem string `json:"problem,omitempty"`
	// Held is when whoever has it InUse took it, else zero.
	Held time.Time `json:"-"`

	kind *Kind
}

// Kinds are all that there are, in the order in which they are listed.
type Kinds []*Kind

// List describes all journals of the user, with those that were kept because of damage.
func (all Kinds) List() ([]Journal, error) {
	list := []Journal{}
	for _, k := range all {
		dir, err := statePath(k.Folder, "")
		if err != nil {
			return nil, err
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if _, ok := nameOfJournal(e.Name()); ok {
				list = append(list, k.describe(filepath.Join(dir, e.Name())))
			}
		}
	}
	return list, nil
}

// Find looks for the journal of a source, whose path has no links, or for one by its
// own path as List gives it, also if its source is gone. An error matches
// [iofs.ErrNotExist] if there is none. Nothing is changed.
func (all Kinds) Find(path string) (Journal, error) {
	for _, k := range all {
		found, err := k.JournalPath(path)
		if err != nil {
			return Journal{}, err
		}
		if _, ok := nameOfJournal(filepath.Base(path)); ok && same(filepath.Dir(path), filepath.Dir(found)) {
			found = path
		}
		_, err = os.Lstat(found)
		if err == nil {
			return k.describe(found), nil
		}
		if !errors.Is(err, iofs.ErrNotExist) {
			return Journal{}, err
		}
	}
	return Journal{}, fmt.Errorf("%s has no journal: %w", path, iofs.ErrNotExist)
}

// same tells whether two paths lead to one folder.
func same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// describe looks at a journal.
func (k *Kind) describe(path string) Journal {
	j := Journal{Path: path, kind: k}
	if err := j.describe(); err != nil {
		j.State, j.Problem = StateDamaged, err.Error()
	}
	return j
}

func (j *Journal) describe() error {
	contents, err := journal.Read(j.Path)
	if err != nil {
		if info, statErr := os.Stat(j.Path); statErr == nil {
			j.Unreadable = info.Size()
		}
		return err
	}
	defer contents.Close()
	d, err := j.kind.digest(contents)
	j.Source, j.Began, j.Edits = d.source(), d.Began, d.edits()
	if err != nil || j.kept() {
		j.State, j.Unreadable = StateDamaged, contents.Unreadable()
		return err
	}
	err = j.probe()
	if held, ok := errors.AsType[*filelock.HeldError](err); ok {
		j.State, j.Held = StateInUse, held.Since
		return nil
	}
	j.Unreadable = contents.Unreadable() // torn: what is in use may just be written
	state, compareErr := d.compare()
	j.State, j.Edits = state, d.edits()
	if err = errors.Join(compareErr, err); err != nil {
		j.Problem = err.Error()
	}
	return nil
}

// Unsaved gives what a journal holds of edits that are not saved, as far as it knows: what was
// noted about the files that they belong to ([Set.Note]), then the records of the edits, in
// their order. Of a damaged journal it gives what lies ahead of the damage, and then the error.
func (j *Journal) Unsaved(note func(file string, note []byte), edit func(file string, record []byte) error) error {
	contents, err := journal.Read(j.Path)
	if err != nil {
		return err
	}
	defer contents.Close()
	d, damage := j.kind.digest(contents)
	if damage != nil && !errors.Is(damage, journal.ErrDamaged) {
		return damage
	}
	for file, f := range d.files {
		if s, _ := f.compare(filepath.Join(d.source(), file)); s == StateSaved {
			delete(d.files, file)
		}
	}
	if err := d.notes(contents, note); err != nil && damage == nil {
		return err
	}
	return d.edited(contents, edit)
}

// nameOfJournal is what the files of a journal's source are called by. It goes by the
// name of its file, as its header may be damaged; ok is false if that is none.
func nameOfJournal(file string) (name string, ok bool) {
	name, rest, ok := strings.Cut(file, journalSuffix)
	return name, ok && name != "" && name[0] != '.' && (rest == "" || strings.HasPrefix(rest, damagedSuffix))
}

// kept tells whether the journal is out of use, and kept because of what is wrong with it.
func (j *Journal) kept() bool { return !strings.HasSuffix(j.Path, journalSuffix) }

// name is what the files of the journal's source are called by.
func (j *Journal) name() string {
	name, _ := nameOfJournal(filepath.Base(j.Path))
	return name
}

// probe is a [*filelock.HeldError] while somebody edits the source. Who only looks must
// not be taken for one who does, so that it takes no lock.
func (j *Journal) probe() error {
	path, err := lockPath(j.name())
	if err != nil {
		return err
	}
	return filelock.Probe(path)
}

// Drop removes a journal for good, also one that is damaged. Nobody may be editing its
// source: else the error matches [filelock.ErrLocked].
func (j *Journal) Drop() error {
	lock, err := acquire(j.name(), j.Source)
	if err != nil {
		return err
	}
	err = os.Remove(j.Path)
	if err == nil {
		err = disk.OS{}.SyncDir(filepath.Dir(j.Path))
	}
	return errors.Join(err, lock.Close())
}
