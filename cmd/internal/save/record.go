package save

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"lorefs/internal/journal"
	"lorefs/internal/source"
)

// Kinds of records: their first byte.
const (
	recordFile   = 'F' // the file that the following edits belong to
	recordEdit   = 'E' // an edit
	recordLater  = 'N' // an edit made after the snapshot of the file that the next 'S' announces
	recordSaving = 'S' // the new file that is about to replace the old one
	recordDone   = 'D' // the new file is in place
	recordCount  = 'c' // how many edits the file has
)

// header is the header of a journal.
type header struct {
	// Source is the path of a file, without links, and Identity its content before the edits.
	// Folder is the path of a folder.
	Source string `json:"source,omitempty"`
	Folder string `json:"folder,omitempty"`
	*Identity
	// Began is the time of the first edit.
	Began time.Time `json:"began"`
}

// fileRecord is a record about a file. If the source is a file, File is empty.
type fileRecord struct {
	File string `json:"file,omitempty"`
	Identity
	// Later is the number of records right before an announcement that are edits of the announced
	// file. There may be more such records before these, of a save that failed before its
	// announcement.
	Later int `json:"later,omitempty"`
}

// fileState tells what a journal says about a file.
type fileState struct {
	// base identifies the file that the edits belong to.
	base Identity
	// edits is the number of edits that are not known to be saved. It is 0 as well if those that
	// are in the journal undo each other.
	edits int64
	// isCounted says that edits comes from a record of how many there are, after the last of them.
	isCounted bool
	// first is the place of the record that base comes from. The unsaved edits are the 'E' after
	// it, and the 'N' in later, before it.
	first int
	later span
	// saved is the file that was announced with all edits so far, nil if there is none.
	saved *saving
	// next has the number of edits of each 'N' since the last announcement.
	next []int
	// conflict is the path to which the edits were rescued, empty if they were not.
	conflict string
	// unsynced is the file in place if that may not survive a power cut, else nil.
	unsynced *placed
}

// placed is a new file in place: its identity, its folder, and the number of edits that it lacks.
type placed struct {
	id    Identity
	dir   string
	later int64
}

// saving is an announcement: the new file, the place of the record, and the edits of the new file.
type saving struct {
	id    Identity
	place int
	later span
}

// span is a range of places of records, from included, to excluded, and the number of edits there.
type span struct {
	from, to int
	edits    int64
}

func (s span) has(place int) bool { return s.from <= place && place < s.to }

// become continues with a new file, which is in place.
func (f *fileState) become(id Identity, place int, later span) {
	*f = fileState{base: id, first: place, later: later, edits: later.edits}
}

// compare reads the file and says whether its edits are unsaved, saved or stale. If the file is the
// one that was announced, f becomes the state of that file.
func (f *fileState) compare(path string) (State, error) {
	if f.edits == 0 && f.saved == nil {
		return StateSaved, nil
	}
	now, err := identify(path)
	switch {
	case err != nil:
		return StateStale, err
	case now == f.base && f.edits == 0:
		return StateSaved, nil
	case now == f.base:
		return StateOpen, nil
	case f.saved == nil || now != f.saved.id:
		return StateStale, nil
	case f.saved.later.edits == 0:
		return StateSaved, nil
	}
	f.become(now, f.saved.place, f.saved.later)
	return StateOpen, nil
}

// identify reads the whole file and returns its identity. It follows links, as replacing the file
// does.
func identify(path string) (Identity, error) {
	f, err := source.Open(path)
	if err != nil {
		return Identity{}, err
	}
	defer f.Close()
	sum := newSummer(io.Discard)
	_, err = io.Copy(sum, f.Opened())
	return sum.identity(), err
}

// aboutFile returns a record of some kind about a file.
func aboutFile(kind byte, file string, id Identity) []byte {
	return (&fileRecord{File: file, Identity: id}).as(kind)
}

// announcement returns the record of a new file that is about to replace the old one. later is the
// number of records right before it that are edits of the new file.
func announcement(file string, id Identity, later int) []byte {
	return (&fileRecord{file, id, later}).as(recordSaving)
}

func (r *fileRecord) as(kind byte) []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("BUG: %q is no JSON: %v", r.File, err))
	}
	return append([]byte{kind}, b...)
}

// editRecord returns the record of an edit. It has the name of the file only if the source is a
// folder.
func (k *Kind) editRecord(kind byte, file string, record []byte) []byte {
	b := make([]byte, 0, 3+len(file)+len(record))
	b = append(b, kind)
	if k.Many {
		b = binary.LittleEndian.AppendUint16(b, uint16(min(len(file), math.MaxUint16)))
		b = append(b, file...)
	}
	return append(b, record...)
}

// countRecord returns the record of how many edits a file has with all records before.
func (k *Kind) countRecord(file string, edits int64) []byte {
	return k.editRecord(recordCount, file, binary.AppendUvarint(nil, uint64(edits)))
}

// edited calls visit for each record of unsaved edits.
func (d *summary) edited(contents *journal.Contents, visit func(file string, record []byte) error) error {
	place := -1
	for b, err := range contents.Records() {
		if place++; err != nil {
			return err
		}
		if b[0] != recordEdit && b[0] != recordLater {
			continue
		}
		file, record, err := d.kind.parseEdit(b)
		if err != nil {
			return fmt.Errorf("record %d: %w: %w", place, journal.ErrDamaged, err)
		}
		f := d.files[file]
		if f == nil || b[0] == recordEdit && place < f.first || b[0] == recordLater && !f.later.has(place) {
			continue
		}
		if err := visit(file, record); err != nil {
			return err
		}
	}
	return nil
}

// parseEdit is the inverse of editRecord.
func (k *Kind) parseEdit(b []byte) (file string, record []byte, err error) {
	if !k.Many {
		return "", b[1:], nil
	}
	if len(b) < 3 || len(b)-3 < int(binary.LittleEndian.Uint16(b[1:])) {
		return "", nil, errors.New("a record of an edit that is cut off")
	}
	n := 3 + int(binary.LittleEndian.Uint16(b[1:]))
	return string(b[3:n]), b[n:], nil
}

// count returns the number of edits in a record.
func (k *Kind) count(record []byte) (int, error) {
	if k.Count == nil {
		return 1, nil
	}
	return k.Count(record)
}

// summary is the content of a journal without the edits themselves.
type summary struct {
	kind *Kind
	header
	files map[string]*fileState
}

// source returns the path of the source.
func (d *summary) source() string { return d.Source + d.Folder }

// digest reads a journal. If the journal is damaged, it returns the summary of the records before
// the damage, and the error.
func (k *Kind) digest(contents *journal.Contents) (summary, error) {
	d := summary{kind: k, files: map[string]*fileState{}}
	err := json.Unmarshal(contents.Header(), &d.header)
	if err == nil && !k.Many && d.Identity == nil {
		err = errors.New("it does not say which file was edited")
	}
	if err != nil {
		return d, fmt.Errorf("not the journal of %s: %w", k.What, err)
	}
	if !k.Many {
		d.files[""] = &fileState{base: *d.Identity, first: -1}
	}
	place := 0
	for record, err := range contents.Records() {
		if err == nil {
			err = d.add(place, record)
		}
		if err != nil {
			return d, err
		}
		place++
	}
	return d, contents.Damage()
}

// add applies the record at a place.
func (d *summary) add(place int, record []byte) error {
	switch record[0] {
	case recordEdit, recordLater:
		return d.addEdit(record)
	case recordFile, recordSaving, recordDone:
		return d.addFile(place, record)
	case recordCount:
		return d.addCount(record)
	}
	if kind := record[0]; kind < 'a' || kind > 'z' {
		return &journal.UnsupportedError{What: fmt.Sprintf("a record of the kind %q, which is not known", kind)}
	}
	return nil
}

func (d *summary) addEdit(record []byte) error {
	file, edit, err := d.kind.parseEdit(record)
	if err != nil {
		return err
	}
	f := d.files[file]
	if f == nil {
		return fmt.Errorf("an edit of %q, of which nothing is known", file)
	}
	n, err := d.kind.count(edit)
	if err != nil {
		return fmt.Errorf("edit %d: %w", f.edits+int64(n)+1, err)
	}
	if record[0] == recordEdit {
		f.edits += int64(n)
		f.saved, f.next, f.isCounted = nil, nil, false
		return nil
	}
	f.next = append(f.next, n)
	return nil
}

// mostEdits is the highest number of edits that a journal may say a file has. The sum over all files
// fits an int.
const mostEdits = math.MaxInt32

func (d *summary) addCount(record []byte) error {
	file, count, err := d.kind.parseEdit(record)
	if err != nil {
		return err
	}
	n, size := binary.Uvarint(count)
	f := d.files[file]
	switch {
	case f == nil:
		return fmt.Errorf("a count of the edits of %q, of which nothing is known", file)
	case size != len(count) || n > mostEdits:
		return fmt.Errorf("a count of the edits of %q: want a number up to %d", file, mostEdits)
	}
	f.edits, f.isCounted = int64(n), true
	return nil
}

// addFile applies a record about a file.
func (d *summary) addFile(place int, record []byte) error {
	var r fileRecord
	if err := json.Unmarshal(record[1:], &r); err != nil {
		return fmt.Errorf("a record about a file: %w", err)
	}
	f := d.files[r.File]
	if f == nil && record[0] != recordFile {
		return fmt.Errorf("a record about %q, of which nothing is known", r.File)
	}
	switch record[0] {
	case recordFile:
		if d.kind.Many && !filepath.IsLocal(r.File) || strings.ContainsAny(r.File, `/\`) {
			return fmt.Errorf("%q is no name of a file", r.File)
		}
		d.files[r.File] = &fileState{base: r.Identity, first: place}
	case recordSaving:
		first := len(f.next) - r.Later
		if r.Later < 0 || first < 0 {
			return fmt.Errorf("%d edits of %q are noted for a file that is to have %d", len(f.next), r.File, r.Later)
		}
		later := span{from: place - r.Later, to: place}
		for _, n := range f.next[first:] {
			later.edits += int64(n)
		}
		f.saved, f.next = &saving{r.Identity, place, later}, nil
	case recordDone:
		later := span{}
		if f.saved != nil && f.saved.id == r.Identity {
			later = f.saved.later
		}
		f.become(r.Identity, place, later)
	}
	return nil
}

// edits returns the number of edits that are not known to be saved.
func (d *summary) edits() (n int) {
	for _, f := range d.files {
		n += int(f.edits)
	}
	return n
}

// isCounted reports whether the journal says how many edits each file has.
func (d *summary) isCounted() bool {
	for _, f := range d.files {
		if !f.isCounted {
			return false
		}
	}
	return true
}

// compare returns the state of the whole journal: stale if one file is, else open if one is.
func (d *summary) compare() (State, error) {
	worth := StateSaved
	for file, f := range d.files {
		s, err := f.compare(filepath.Join(d.source(), file))
		switch {
		case err != nil || s == StateStale:
			return StateStale, err
		case s == StateOpen:
			worth = StateOpen
		}
	}
	return worth, nil
}
