package root

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"

	"lorefs/casc/internal/format"
	"lorefs/internal/shown"
)

const listFile format.Name = "list file"

// ListFile has names for the files of roots without names. It keeps the names, and a few
// bytes for each line. The nil ListFile is empty.
type ListFile struct {
	text string
	// ids are the lines ID;NAME, by ID. hashes are the lines with a name only, by its hash.
	ids    []listName
	hashes []listName
}

// listName is the offset of a name in the text, and its ID or hash.
type listName struct {
	number   uint64
	off, end uint32
}

// maxListFile bounds the names of a list file, because offsets have 32 bits.
const maxListFile = 1<<31 - 1

var errNoID = errors.New("no file data ID")

// maxListLine bounds a line of a list file, in bytes.
const maxListLine = 1 << 16

// ListLine is a line of a list file.
type ListLine struct {
	// ID is the file data ID if HasID is set. A line without ID is known by the hash of its
	// name.
	ID    uint32
	HasID bool
	// Name is valid until the next line is read, and may be overwritten.
	Name []byte
}

// ListLines yields the lines of r, which have the form ID;NAME or NAME. Empty lines, lines
// that begin with #, and a title on the first line are skipped. bad is called for each line
// with a bad ID. An error, such as that of a text that is no UTF-8 but UTF-16, comes last.
func ListLines(r io.Reader, bad func(line int, err error)) iter.Seq2[ListLine, error] {
	return func(yield func(ListLine, error) bool) {
		off, lines := int64(0), 0
		in := bufio.NewScanner(r)
		in.Buffer(make([]byte, maxListLine), maxListLine)
		in.Split(func(data []byte, atEOF bool) (int, []byte, error) {
			n, line, err := bufio.ScanLines(data, atEOF)
			off += int64(n)
			return n, line, err
		})
		mark := []byte("\ufeff")
		for at := off; in.Scan(); at = off {
			lines++
			text := in.Bytes()
			if at == 0 && (bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF})) {
				yield(ListLine{}, listFile.Bad(0, "the text is UTF-16: want UTF-8"))
				return
			}
			if at == 0 {
				text = bytes.TrimPrefix(text, mark)
			}
			if text = bytes.TrimRight(text, "\r"); len(text) == 0 || text[0] == '#' {
				continue
			}
			line, err := parseListLine(text, at)
			if err != nil {
				if lines > 1 {
					bad(lines, err)
				}
				continue
			}
			if !yield(line, nil) {
				return
			}
		}
		switch err := in.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(ListLine{}, listFile.Bad(off, "a line of more than %d bytes", maxListLine))
		case err != nil:
			yield(ListLine{}, fmt.Errorf("casc: list file: %w", err))
		}
	}
}

// parseListLine reads the line at off.
func parseListLine(text []byte, off int64) (ListLine, error) {
	digits, name, ok := bytes.Cut(text, []byte(";"))
	if !ok {
		return ListLine{Name: text}, nil
	}
	id, err := strconv.ParseUint(string(digits), 10, 32)
	if err != nil {
		return ListLine{}, &format.Error{Format: string(listFile), Off: off, What: shown.Quote(digits), Err: errNoID}
	}
	return ListLine{ID: uint32(id), HasID: true, Name: name}, nil
}

// ReadListFile reads the lines of r, which has about size bytes. If an ID occurs twice the
// first line counts. bad is called for each line that is left out.
func ReadListFile(r io.Reader, size int64, bad func(line int, err error)) (*ListFile, error) {
	l := &ListFile{}
	var text strings.Builder
	text.Grow(int(min(max(size, 0), maxListFile)))
	for line, err := range ListLines(r, bad) {
		if err != nil {
			return nil, err
		}
		off := text.Len()
		text.Write(line.Name)
		if text.Len() > maxListFile {
			return nil, listFile.Bad(int64(off), "more than the %d bytes of names that are kept", maxListFile)
		}
		name := listName{uint64(line.ID), uint32(off), uint32(text.Len())}
		if line.HasID {
			l.ids = append(l.ids, name)
			continue
		}
		name.number = NameHash(string(line.Name))
		l.hashes = append(l.hashes, name)
	}
	l.text = text.String()
	sortNames(l.ids)
	sortNames(l.hashes)
	return l, nil
}

// ParseListFile is ReadListFile of data, which it does not keep. It reports no bad lines.
func ParseListFile(data []byte) (*ListFile, error) {
	return ReadListFile(bytes.NewReader(data), int64(len(data)), func(int, error) {})
}

// sortNames sorts by number and keeps the order of equal numbers. Lists of IDs usually are
// sorted already.
func sortNames(names []listName) {
	byNumber := func(a, b listName) int { return cmp.Compare(a.number, b.number) }
	if !slices.IsSortedFunc(names, byNumber) {
		slices.SortStableFunc(names, byNumber)
	}
}

// Len returns the number of names.
func (l *ListFile) Len() int {
	if l == nil {
		return 0
	}
	return len(l.ids) + len(l.hashes)
}

// Name returns the name of a file by its ID or by its hash, or "".
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
