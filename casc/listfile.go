package casc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
)

const listFile format = "list file"

// ListFile has names for the files of roots that have none. It keeps its text,
// and a few bytes for each line. The nil ListFile is empty.
type ListFile struct {
	text string
	// ids are the lines ID;NAME by ID; hashes those of a name only, by its hash.
	ids    []listName
	hashes []listName
}

// listName is a name in the text by the number it is known by.
type listName struct {
	number   uint64
	off, end uint32
}

// maxListFile bounds a list file, for offsets are of 32 bits.
const maxListFile = 1<<31 - 1

var errNoID = errors.New("no file data ID")

// ReadListFile reads lines of either form, ID;NAME or NAME, from r, which has about
// size bytes. Empty lines and those that begin with # are skipped. If an ID stands
// twice the first line counts.
func ReadListFile(r io.Reader, size int64) (*ListFile, error) {
	var b strings.Builder
	b.Grow(int(min(max(size, 0), maxListFile)))
	n, err := io.Copy(&b, io.LimitReader(r, maxListFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("casc: list file: %w", err)
	case n > maxListFile:
		return nil, listFile.bad(maxListFile, "more than the %d bytes that are read", maxListFile)
	}
	return parseListFile(b.String())
}

// ParseListFile is ReadListFile of data, which it does not keep.
func ParseListFile(data []byte) (*ListFile, error) {
	return ReadListFile(bytes.NewReader(data), int64(len(data)))
}

func parseListFile(text string) (*ListFile, error) {
	l := &ListFile{text: strings.TrimPrefix(text, "\ufeff")}
	if lines := strings.Count(l.text, "\n") + 1; strings.Contains(l.text[:min(len(l.text), 256)], ";") {
		l.ids = make([]listName, 0, lines)
	} else {
		l.hashes = make([]listName, 0, lines)
	}
	for off := 0; off < len(l.text); {
		line := l.text[off:]
		next := strings.IndexByte(line, '\n') + 1
		if next == 0 {
			next = len(line)
		}
		if err := l.add(off, strings.TrimRight(line[:next], "\r\n")); err != nil {
			return nil, err
		}
		off += next
	}
	sortNames(l.ids)
	sortNames(l.hashes)
	return l, nil
}

// sortNames sorts by number, and leaves those of one number in their order. Lists
// of IDs usually are sorted.
func sortNames(names []listName) {
	byNumber := func(a, b listName) int { return cmp.Compare(a.number, b.number) }
	if !slices.IsSortedFunc(names, byNumber) {
		slices.SortStableFunc(names, byNumber)
	}
}

func (l *ListFile) add(off int, line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	end := uint32(off + len(line))
	id, name, ok := strings.Cut(line, ";")
	if !ok {
		l.hashes = append(l.hashes, listName{NameHash(line), uint32(off), end})
		return nil
	}
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return &FormatError{Format: string(listFile), Off: int64(off), What: strconv.Quote(id), Err: errNoID}
	}
	l.ids = append(l.ids, listName{n, end - uint32(len(name)), end})
	return nil
}

// Len is the number of names.
func (l *ListFile) Len() int {
	if l == nil {
		return 0
	}
	return len(l.ids) + len(l.hashes)
}

// Name gives the name of a file by its ID or by its hash, or "".
func (l *ListFile) Name(f *File) string {
	if l == nil {
		return ""
	}
	name := ""
	if f.HasID {
		name = l.find(l.ids, uint64(f.ID))
	}
	if name == "" && f.HasHash {
		name = l.find(l.hashes, f.NameHash)
	}
	return name
}

func (l *ListFile) find(names []listName, number uint64) string {
	i := sort.Search(len(names), func(i int) bool { return names[i].number >= number })
	if i == len(names) || names[i].number != number {
		return ""
	}
	return l.text[names[i].off:names[i].end]
}
