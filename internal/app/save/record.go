package save

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
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
	recordFile   = 'F' // the file to which the edits behind belong
	recordEdit   = 'E' // an edit
	recordLater  = 'N' // an edit of the file that the next 'S' announces, behind what that holds
	recordSaving = 'S' // the file that is about to take the place
	recordDone   = 'D' // it has taken the place
	recordBase   = 'b' // what the file holds that the edits belong to
)

// header is what a journal begins with.
type header struct {
	// Source is the path of a file, without links, and the Identity what it was; Folder is
	// the path of a folder.
	Source string `json:"source,omitempty"`
	Folder string `json:"folder,omitempty"`
	*Identity
	// Began is when the first edit was made.
	Began time.Time `json:"began"`
}

// fileRecord says something about a file. If the source is a file, it has no name.
type fileRecord struct {
	File string `json:"file,omitempty"`
	Identity
	// Later is how many records right ahead of an announcement are edits of that file. There
	// may be more, of a save that came to nothing before it was announced.
	Later int `json:"later,omitempty"`
}

// fileState is what a journal says about a file.
type fileState struct {
	// base is the file that the edits belong to.
	base Identity
	// edits is how many are not known to be saved.
	edits int64
	// first is the place of the record that base is known from: edits behind it count.
	// Those in later, ahead of it, do as well.
	first int
	later span
	// saved is what the file was about to become with all edits, nil for nothing.
	saved *saving
	// next has how many edits each record has for a file that was not announced so far.
	next []int
	// conflict is where what was edited was rescued to, empty if it was not.
	conflict string
	// unsynced tells that the file that is in place may not outlast a power cut.
	unsynced bool
}

// saving is an announcement.
type saving struct {
	id    Identity
	place int
	later span
}

// span are the places of records, from which on and up to which.
type span struct {
	from, to int
	edits    int64
}

func (s span) has(place int) bool { return s.from <= place && place < s.to }

// become goes on with a file that has taken the place.
func (f *fileState) become(id Identity, place int, later span) {
	*f = fileState{base: id, first: place, later: later, edits: later.edits}
}

// compare tells what the edits of a file are worth, given what the file is now. If that is
// what was announced, those behind it are left.
func (f *fileState) compare(path string) (State, error) {
	if f.edits == 0 {
		return StateSaved, nil
	}
	now, err := identify(path)
	switch {
	case err != nil:
		return StateStale, err
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

// identify reads all of a file, as it is now. A link is followed, as when the file is
// replaced.
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

// aboutFile is a record that says something about a file.
func aboutFile(kind byte, file string, id Identity) []byte {
	return (&fileRecord{File: file, Identity: id}).as(kind)
}

// announcement is the record of a file that is about to take the place, behind so many of
// later edits.
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

// editRecord is the record of an edit. If the source is a file, no name is in it.
func (k *Kind) editRecord(kind byte, file string, record []byte) []byte {
	b := make([]byte, 0, 3+len(file)+len(record))
	b = append(b, kind)
	if k.Many {
		b = binary.LittleEndian.AppendUint16(b, uint16(min(len(file), math.MaxUint16)))
		b = append(b, file...)
	}
	return append(b, record...)
}

// markSize is the size of the mark of a file in a record about what it holds.
const markSize = 8

// mark tells a file from others that were in its place.
func (id *Identity) mark() []byte {
	b, err := hex.DecodeString(id.SHA256)
	if err != nil || len(b) < markSize {
		return make([]byte, markSize) // of a header that nobody here has written
	}
	return b[:markSize]
}

// baseRecord is a record about what a file holds.
func (k *Kind) baseRecord(file string, base *Identity, note []byte) []byte {
	return k.editRecord(recordBase, file, append(base.mark(), note...))
}

// notes gives what a journal says about files that edits belong to. What it says about others
// that were in their places is left out.
func (d *summary) notes(contents *journal.Contents, visit func(file string, note []byte)) error {
	for b, err := range contents.Records() {
		if err != nil {
			return err
		}
		if b[0] != recordBase {
			continue
		}
		file, note, err := d.kind.parseEdit(b)
		if f := d.files[file]; err == nil && f != nil && bytes.HasPrefix(note, f.base.mark()) {
			visit(file, note[markSize:])
		}
	}
	return nil
}

// edited gives the records of the edits in a journal that are not saved.
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

// count is how many edits a record has.
func (k *Kind) count(record []byte) (int, error) {
	if k.Count == nil {
		return 1, nil
	}
	return k.Count(record)
}

// summary is what a journal says, but for the edits themselves.
type summary struct {
	kind *Kind
	header
	files map[string]*fileState
}

// source is the path of what was edited.
func (d *summary) source() string { return d.Source + d.Folder }

// digest reads a journal. Of a damaged one it gives what lies ahead of the damage.
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

// add takes in the record at a place.
func (d *summary) add(place int, record []byte) error {
	switch record[0] {
	case recordEdit, recordLater:
		return d.addEdit(record)
	case recordFile, recordSaving, recordDone:
		return d.addFile(place, record)
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
		f.saved, f.next = nil, nil
		return nil
	}
	f.next = append(f.next, n)
	return nil
}

// addFile takes in a record that says something about a file.
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

// edits counts those that are not known to be saved.
func (d *summary) edits() (n int) {
	for _, f := range d.files {
		n += int(f.edits)
	}
	return n
}

// compare tells what the journal is worth as a whole.
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
