package casctree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"lorefs/casc/keys"
)

// The table has all directories and files of files/, unnamed/ and install/, in
// little-endian numbers but for sizes:
//
//	kind:16 dirs:4 files:4 dir_names:4 file_names:4 more:4
//	root_rows:4 named:4 unnamed:4 ids:4
//	( name:4 parent:4 first_dir:4 first_file:4 )×(dirs+1)
//	( name:4 )×(files+1)  ( flags:1 ekey:9 size:5 )×files
//	dir_names file_names more ( id:4 file:4 )×ids
//
// Directory 0 is the root of the mount. The directories in a directory are consecutive and
// sorted, and so are its files: they end where those of the next directory begin. The same
// goes for names. IDs are sorted; of the files of one, the one that the game would load comes
// first. more has what does not fit into a record:
//
//	forms   count:1 ( ekey:9 )×count
//	spans   count:1 ( ekey:9 off:5 size:5 content_size:5 )×count
type table struct {
	header
	dirs, nameOffs, entries      []byte
	dirNames, fileNames, further []byte
	ids                          []byte
	// faults are the reasons why files with flagFault can't be read.
	faults []error
}

// header is the beginning of the table.
type header struct {
	// kind is the kind of the root.
	kind string
	// nDirs and nFiles are the numbers of directories and files, nIDs that of files with IDs.
	nDirs, nFiles, nIDs int
	// rootRows is how many files the root has. named and unnamed are those that are shown.
	rootRows, named, unnamed int
}

const (
	// tableKind must change whenever the meaning of a table changes.
	tableKind      = "casc names 6"
	kindSize       = 16
	tableHead      = kindSize + 9*4
	dirSize        = 16
	idSize         = 8
	entrySize      = 1 + keys.ShortSize + sizeSize
	sizeSize       = 5
	spanSize       = keys.ShortSize + 3*sizeSize
	maxTableString = 1<<32 - 1
)

// The flags of a file of the table.
const (
	// flagForms means that there are several encoded forms. The first four bytes of the key
	// are their place in more.
	flagForms = 1 << iota
	// flagSpans means that the file consists of spans, which are in more like forms.
	flagSpans
	// flagNoForm means that no encoded form is known.
	flagNoForm
	// flagEncrypted means that some of it may be encrypted.
	flagEncrypted
	// flagFault means that it can't be read. The first four bytes of the key are the number
	// of the reason. A table with such a file is not saved.
	flagFault
	// flagStandIn means that it is for a language that stands for the one that the user wants,
	// and that there is a file for that itself, which may not be installed. Both have one name,
	// unless the languages are in the names.
	flagStandIn
)

// sections returns the sizes of the parts behind the header.
func sections(nDirs, nFiles, dirNames, fileNames, further, nIDs int) [7]int {
	return [...]int{(nDirs + 1) * dirSize, (nFiles + 1) * 4, nFiles * entrySize, dirNames, fileNames, further, nIDs * idSize}
}

// openTable checks everything in a table that reading it relies on. It keeps data.
func openTable(data []byte) (*table, error) {
	if len(data) < tableHead {
		return nil, fmt.Errorf("%d bytes, want at least %d", len(data), tableHead)
	}
	t := &table{}
	t.kind = string(bytes.TrimRight(data[:kindSize], "\x00"))
	var n [9]int
	for i := range n {
		n[i] = int(binary.LittleEndian.Uint32(data[kindSize+4*i:]))
	}
	t.nDirs, t.nFiles, t.rootRows, t.named, t.unnamed, t.nIDs = n[0], n[1], n[5], n[6], n[7], n[8]
	rest := data[tableHead:]
	for i, size := range sections(n[0], n[1], n[2], n[3], n[4], n[8]) {
		if size > len(rest) {
			return nil, fmt.Errorf("%d bytes, %d more are stated", len(data), size-len(rest))
		}
		*[...]*[]byte{&t.dirs, &t.nameOffs, &t.entries, &t.dirNames, &t.fileNames, &t.further, &t.ids}[i] = rest[:size]
		rest = rest[size:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes too many", len(rest))
	}
	for i := range t.nIDs {
		if _, file := t.id(i); file >= t.nFiles {
			return nil, fmt.Errorf("ID %d of %d is of file %d of %d", i, t.nIDs, file, t.nFiles)
		}
	}
	return t, t.checkOrder()
}

// id returns entry i of the IDs.
func (t *table) id(i int) (id uint32, file int) {
	b := t.ids[i*idSize:][:idSize]
	return binary.LittleEndian.Uint32(b), int(binary.LittleEndian.Uint32(b[4:]))
}

// checkOrder checks that no place leads out of the table.
func (t *table) checkOrder() error {
	le := binary.LittleEndian
	if t.nDirs == 0 {
		return errors.New("no root")
	}
	var last [4]uint32
	last[2] = 1 // the first directory in the root is the one behind it
	for i := range t.nDirs + 1 {
		d := t.dirs[i*dirSize:]
		for _, f := range [...]int{0, 2, 3} {
			v := le.Uint32(d[4*f:])
			if v < last[f] {
				return fmt.Errorf("directory %d is not behind the one before it", i)
			}
			last[f] = v
		}
		// Directories stand before their children, so they can't form a circle.
		if p, first := int(le.Uint32(d[4:])), int(last[2]); p >= max(i, 1) || i < t.nDirs && first <= i {
			return fmt.Errorf("directory %d is in %d and has %d", i, p, first)
		}
	}
	if int(last[0]) != len(t.dirNames) || int(last[2]) != t.nDirs || int(last[3]) != t.nFiles {
		return errors.New("the directories do not end where the table does")
	}
	name := uint32(0)
	for i := range t.nFiles + 1 {
		v := le.Uint32(t.nameOffs[4*i:])
		if v < name {
			return fmt.Errorf("file %d is not behind the one before it", i)
		}
		name = v
	}
	if int(name) != len(t.fileNames) {
		return errors.New("the names do not end where the table does")
	}
	return nil
}

// span is a range of numbers, without its end.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

func (t *table) dirField(i, field int) int {
	return int(binary.LittleEndian.Uint32(t.dirs[i*dirSize+4*field:]))
}

func (t *table) dirName(i int) []byte { return t.dirNames[t.dirField(i, 0):t.dirField(i+1, 0)] }

func (t *table) parent(i int) int { return t.dirField(i, 1) }

// dirsIn and filesIn return the directories and files in a directory.
func (t *table) dirsIn(i int) span { return span{t.dirField(i, 2), t.dirField(i+1, 2)} }

func (t *table) filesIn(i int) span { return span{t.dirField(i, 3), t.dirField(i+1, 3)} }

func (t *table) fileName(i int) []byte {
	return t.fileNames[binary.LittleEndian.Uint32(t.nameOffs[4*i:]):binary.LittleEndian.Uint32(t.nameOffs[4*i+4:])]
}

// entry returns the record of file i.
func (t *table) entry(i int) entry { return entry(t.entries[i*entrySize:][:entrySize]) }

// entry is flags:1 ekey:9 size:5.
type entry []byte

func (e entry) flags() byte { return e[0] }

func (e entry) ekey() []byte { return e[1 : 1+keys.ShortSize] }

// size returns the size of the content, from the encoding file or the root.
func (e entry) size() int64 { return be40(e[1+keys.ShortSize:]) }

func be40(b []byte) int64 { return int64(b[0])<<32 | int64(binary.BigEndian.Uint32(b[1:])) }

func putBE40(b []byte, v int64) {
	b[0] = byte(v >> 32)
	binary.BigEndian.PutUint32(b[1:], uint32(v))
}

// more returns the records, of a given size, that an entry refers to.
func (t *table) more(e entry, size int) ([]byte, error) {
	at := int64(binary.LittleEndian.Uint32(e.ekey()))
	if at >= int64(len(t.further)) {
		return nil, fmt.Errorf("casctree: the table has %d further bytes, a file refers to byte %d", len(t.further), at)
	}
	b := t.further[at:]
	n := int(b[0]) * size
	if n > len(b)-1 {
		return nil, fmt.Errorf("casctree: the table has %d further bytes, a file refers to %d from byte %d on", len(t.further), n+1, at)
	}
	return b[1 : 1+n], nil
}

// find looks for a name among numbers sorted by name: an exact match, and the first that
// differs only in case.
func find(in span, name []byte, nameOf func(i int) []byte) (exact, folded int) {
	at := in.from + sort.Search(in.len(), func(i int) bool { return compareFolded(nameOf(in.from+i), name) >= 0 })
	folded = -1
	for i := at; i < in.to && compareFolded(nameOf(i), name) == 0; i++ {
		if folded < 0 {
			folded = i
		}
		if bytes.Equal(nameOf(i), name) {
			return i, folded
		}
	}
	return -1, folded
}

// dirOf returns the directory of file i.
func (t *table) dirOf(i int) int {
	return sort.Search(t.nDirs, func(d int) bool { return t.dirField(d+1, 3) > i })
}

// path returns the path of file i in the mount, for logs.
func (t *table) path(i int) string {
	parts := [][]byte{t.fileName(i)}
	for d := t.dirOf(i); d > 0; d = t.parent(d) {
		parts = append(parts, t.dirName(d))
	}
	slices.Reverse(parts)
	return string(bytes.Join(parts, []byte("/")))
}
