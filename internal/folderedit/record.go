package folderedit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"lorefs/internal/filelock"
	"lorefs/internal/journal"
)

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

// identity says which content a file has.
type identity struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// fileRecord says something about a file.
type fileRecord struct {
	File string `json:"file"`
	identity
}

// fileState is what a journal says about a file.
type fileState struct {
	// base is the file that the edits belong to.
	base identity
	// edits is how many are not known to be saved.
	edits int64
	// saved is what the file was about to become with all of them, nil for nothing.
	saved *identity
	// first is the place of the first record of those edits.
	first int
}

// identify reads all of a file, as it is now.
func identify(path string) (identity, error) {
	f, err := filelock.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, filelock.ErrNotRegular) { // a link is followed
		f, err = os.Open(path)
	}
	if err != nil {
		return identity{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return identity{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
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

// digest reads a journal.
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
	if record[0] == recordEdit {
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
		d.files[r.File] = &fileState{base: r.identity, first: place}
	case recordSaving:
		f.saved = &r.identity
	case recordDone:
		f.base, f.edits, f.saved, f.first = r.identity, 0, nil, place
	default:
		return fmt.Errorf("a record of unknown kind %q", record[0])
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
