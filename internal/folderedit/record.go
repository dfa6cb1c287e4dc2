package folderedit

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lorefs/internal/journal"
	"lorefs/internal/pending"
	"lorefs/internal/source"
)

// Journals are those of folders.
var Journals = &pending.Kind{
	Folder: "folder-journal",
	Digest: func(contents *journal.Contents) (pending.Summary, error) {
		d, err := digest(contents)
		return pending.Summary{Source: d.Folder, Began: d.Began, Edits: d.edits(), Compare: d.state}, err
	},
}

// Kinds of records: their first byte.
const (
	recordFile   = 'F'
	recordEdit   = 'E'
	recordSaving = 'S'
	recordDone   = 'D'
)

// header is what a journal begins with.
type header struct {
	// Folder is its path, without links.
	Folder string `json:"folder"`
	// Began is when the first edit was made.
	Began time.Time `json:"began"`
}

// fileRecord says something about a file.
type fileRecord struct {
	File string `json:"file"`
	pending.Identity
}

// fileState is what a journal says about a file.
type fileState struct {
	// base is the file that the edits belong to.
	base pending.Identity
	// edits is how many are not known to be saved.
	edits int64
	// saved is what the file was about to become with all of them, nil for nothing.
	saved *pending.Identity
	// first is the place of the first record of those edits.
	first int
	// conflict is where what was edited was rescued to, empty if it was not.
	conflict string
}

// identify reads all of a file, as it is now. A link is followed, as when the file is
// replaced.
func identify(path string) (pending.Identity, error) {
	f, err := source.Open(path)
	if err != nil {
		return pending.Identity{}, err
	}
	defer f.Close()
	sum := pending.NewSummer(io.Discard)
	_, err = io.Copy(sum, f.Opened())
	return sum.Identity(), err
}

// state tells what the edits of a file are worth, given what the file is now.
func (f *fileState) state(path string) (pending.State, error) {
	if f.edits == 0 {
		return pending.Saved, nil
	}
	now, err := identify(path)
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return pending.Stale, err
	case err == nil && now == f.base:
		return pending.Open, nil
	case err == nil && f.saved != nil && now == *f.saved:
		return pending.Saved, nil
	}
	return pending.Stale, nil
}

// aboutFile is a record that says something about a file.
func aboutFile(kind byte, file string, id pending.Identity) []byte {
	b, err := json.Marshal(fileRecord{file, id})
	if err != nil {
		panic(fmt.Sprintf("BUG: %q is no JSON: %v", file, err))
	}
	return append([]byte{kind}, b...)
}

// editRecord is the record of an edit.
func editRecord(file string, record []byte) []byte {
	b := binary.LittleEndian.AppendUint16(make([]byte, 0, 3+len(file)+len(record)), uint16(min(len(file), math.MaxUint16)))
	b = append([]byte{recordEdit}, b...)
	return append(append(b, file...), record...)
}

// parseEdit is the inverse of editRecord.
func parseEdit(b []byte) (file string, record []byte, err error) {
	if len(b) < 3 || len(b)-3 < int(binary.LittleEndian.Uint16(b[1:])) {
		return "", nil, errors.New("a record of an edit that is cut off")
	}
	n := 3 + int(binary.LittleEndian.Uint16(b[1:]))
	return string(b[3:n]), b[n:], nil
}

// summary is what a journal says, but for the edits themselves.
type summary struct {
	header
	files map[string]*fileState
}

// digest reads a journal. Of a damaged one it gives what lies ahead of the damage.
func digest(contents *journal.Contents) (summary, error) {
	d := summary{files: map[string]*fileState{}}
	if err := json.Unmarshal(contents.Header(), &d.header); err != nil {
		return d, fmt.Errorf("not the journal of a folder: %w", err)
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
	case recordEdit:
		return d.addEdit(record)
	case recordFile, recordSaving, recordDone:
		return d.addFile(place, record)
	}
	return pending.UnknownKind(record[0])
}

func (d *summary) addEdit(record []byte) error {
	file, _, err := parseEdit(record)
	if err != nil {
		return err
	}
	f := d.files[file]
	if f == nil {
		return fmt.Errorf("an edit of %q, of which nothing is known", file)
	}
	f.edits++
	f.saved = nil
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
		if !filepath.IsLocal(r.File) || strings.ContainsAny(r.File, `/\`) {
			return fmt.Errorf("%q is no name of a file", r.File)
		}
		d.files[r.File] = &fileState{base: r.Identity, first: place}
	case recordSaving:
		f.saved = &r.Identity
	case recordDone:
		f.base, f.edits, f.saved, f.first = r.Identity, 0, nil, place
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

// state is what the journal is worth as a whole.
func (d *summary) state() (pending.State, error) {
	worth := pending.Saved
	for file, f := range d.files {
		s, err := f.state(filepath.Join(d.Folder, file))
		switch {
		case err != nil || s == pending.Stale:
			return pending.Stale, err
		case s == pending.Open:
			worth = pending.Open
		}
	}
	return worth, nil
}
