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
	"lorefs/internal/shown"
)

// Journal describes a journal that is in use or was left by a crash.
type Journal struct {
	Path   string    `json:"path"`
	Source string    `json:"source,omitempty"`
	Began  time.Time `json:"began"`
	Edits  int       `json:"edits"`
	// AtMost says that fewer edits than that may be left: some may undo others, and neither the journal
	// says how many nor is what they were made on there to tell.
	AtMost bool  `json:"edits_at_most,omitempty"`
	State  State `json:"state"`
	// Unreadable is the number of bytes that hold no readable record.
	Unreadable int64 `json:"unreadable_bytes,omitempty"`
	// Problem explains a State that the user has to act on.
	Problem string `json:"problem,omitempty"`
	// Held is when the process that is editing the source took its lock. It is zero unless the
	// State is StateInUse.
	Held time.Time `json:"-"`

	kind *Kind
}

// Kinds are all kinds of sources, in the order in which their journals are listed.
type Kinds []*Kind

// List describes all journals of the user, and those that were put aside because of damage.
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

// Find describes the journal of a source. path is the path of the source without links, or the path
// of a journal as List returns it, whose source may be gone. If there is none, the error matches
// [iofs.ErrNotExist]. Find changes nothing.
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

// same reports whether two paths lead to the same folder.
func same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// describe describes a journal.
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
	j.Source, j.Began = d.source(), d.Began
	j.count(&d)
	if err != nil || j.kept() {
		j.askLeft()
		j.State, j.Unreadable = StateDamaged, contents.Unreadable()
		return err
	}
	err = j.probe()
	if held, ok := errors.AsType[*filelock.HeldError](err); ok {
		j.State, j.Held = StateInUse, held.Since
		j.askLeft()
		return nil
	}
	j.Unreadable = contents.Unreadable() // not while in use, when a record may be half written
	state, compareErr := d.compare()
	j.State = state
	j.count(&d)
	if j.askLeft(); j.Edits == 0 && state == StateOpen {
		j.State = StateSaved
	}
	if err = errors.Join(compareErr, err); err != nil {
		j.Problem = err.Error()
	}
	return nil
}

// IsOfFolder reports whether the source is a folder of files, not a single file.
func (j *Journal) IsOfFolder() bool { return j.kind.Many }

// IsOf reports whether the source is of a kind.
func (j *Journal) IsOf(k *Kind) bool { return j.kind == k }

// Belongs reports whether unsaved edits in the journal belong to the source at a path.
func (j *Journal) Belongs(path string) (bool, error) {
	contents, err := journal.Read(j.Path)
	if err != nil {
		return false, err
	}
	defer contents.Close()
	d, damage := j.kind.digest(contents)
	if damage != nil && !errors.Is(damage, journal.ErrDamaged) {
		return false, damage
	}
	if d.Source != "" {
		d.Source = path
	} else {
		d.Folder = path
	}
	s, err := d.compare()
	return s == StateOpen, err
}

// count makes Edits the number of edits in the journal that are not known to be saved.
func (j *Journal) count(d *summary) {
	j.Edits = d.edits()
	j.AtMost = j.kind.Left != nil && j.Edits > 0 && !d.isCounted()
}

// askLeft makes Edits exact if the journal does not tell, but what the edits were made on does.
func (j *Journal) askLeft() {
	if !j.AtMost {
		return
	}
	base := j.Base()
	if base == "" {
		return
	}
	if n, err := j.kind.Left(j, base); err == nil {
		j.Edits, j.AtMost = n, false
	}
}

// Count says how many edits are left, as in "2 edits".
func (j *Journal) Count() string {
	if j.AtMost {
		return "up to " + shown.Plural(j.Edits, "edit")
	}
	return shown.Plural(j.Edits, "edit")
}

// Unsaved calls edit for each record of an unsaved edit of the source, which is at a path, in their
// order. If the journal is damaged, it does so for the part before the damage, and then returns the
// error.
func (j *Journal) Unsaved(path string, edit func(file string, record []byte) error) error {
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
		if s, _ := f.compare(filepath.Join(path, file)); s == StateSaved {
			delete(d.files, file)
		}
	}
	return d.edited(contents, edit)
}

// nameOfJournal returns the nameOf of a journal's source. It uses the name of the journal's file,
// since the header may be damaged. ok is false if that is not the name of a journal.
func nameOfJournal(file string) (name string, ok bool) {
	name, rest, ok := strings.Cut(file, journalSuffix)
	return name, ok && name != "" && name[0] != '.' && (rest == "" || strings.HasPrefix(rest, damagedSuffix))
}

// kept reports whether the journal was put aside because of damage.
func (j *Journal) kept() bool { return !strings.HasSuffix(j.Path, journalSuffix) }

// name returns the nameOf of the journal's source.
func (j *Journal) name() string {
	name, _ := nameOfJournal(filepath.Base(j.Path))
	return name
}

// probe returns a [*filelock.HeldError] if a process is editing the source. It takes no lock, so
// that a process that only looks is not taken for one that edits.
func (j *Journal) probe() error {
	path, err := lockPath(j.name())
	if err != nil {
		return err
	}
	return filelock.Probe(path)
}

// Drop removes a journal for good, even if it is damaged. If a process is editing its source, the
// error matches [filelock.ErrLocked].
func (j *Journal) Drop() error {
	lock, err := acquire(j.name(), j.Source)
	if err != nil {
		return err
	}
	err = os.Remove(j.Path)
	if err == nil {
		err = dropBases(j.Path)
	}
	if err == nil {
		err = disk.OS{}.SyncDir(filepath.Dir(j.Path))
	}
	return errors.Join(err, lock.Close())
}
