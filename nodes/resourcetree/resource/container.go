package resource

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"unicode/utf16"

	"lorefs/internal/readat"
)

const (
	// maxDirectory and maxFiles limit what is held of a directory.
	maxDirectory = 64 << 20
	maxFiles     = 1 << 20
	// maxOffset is the largest size or offset, and limits all sizes together, so that what was read
	// can be written, and files of the same bytes do not make a small container endless.
	maxOffset = math.MaxInt32
)

// Container is an open container. It is safe for parallel use.
type Container struct {
	r       io.ReaderAt
	entries []entry
}

// entry is an entry of the directory. at is its own offset in the container.
type entry struct {
	name             string
	size, offset, at int64
}

// Detect reports whether a file ends as containers do.
func Detect(r io.ReaderAt, size int64) (bool, error) {
	_, err := readTrailer(r, size)
	if _, bad := errors.AsType[*FormatError](err); bad {
		return false, nil
	}
	return err == nil, err
}

// readTrailer reads the end of a container, and checks it.
func readTrailer(r io.ReaderAt, size int64) (trailer, error) {
	const where = "the end of the file"
	if size < trailerSize {
		return trailer{}, badf(0, where, "%d bytes: want at least %d", size, trailerSize)
	}
	at := size - trailerSize
	var b [trailerSize]byte
	if err := readFull(r, b[:], at); err != nil {
		return trailer{}, err
	}
	t := parseTrailer(&b)
	switch {
	case t.magic != magic:
		return t, badf(at+4, where, "the magic %#08x: want %#08x", t.magic, magic)
	case int64(t.directorySize) > at:
		return t, badf(at, where, "a directory of %d bytes: want up to the %d that precede it", t.directorySize, at)
	}
	return t, nil
}

// readFull reads all of p.
func readFull(r io.ReaderAt, p []byte, off int64) error {
	if err := readat.Full(r, p, off); err != nil {
		return fmt.Errorf("resource: %d bytes at offset %d: %w", len(p), off, err)
	}
	return nil
}

// Open reads the directory of a container. A container that breaks the format is a [*FormatError].
func Open(r io.ReaderAt, size int64) (*Container, error) {
	d, err := readDirectory(r, size)
	if err != nil {
		return nil, err
	}
	c := &Container{r: r}
	for e, problem := range d.entries() {
		if problem != nil {
			return nil, problem
		}
		c.entries = append(c.entries, e)
	}
	return c, nil
}

// Len returns how many files there are, in the order of the directory.
func (c *Container) Len() int { return len(c.entries) }

// Name returns the name of file i.
func (c *Container) Name(i int) string { return c.entries[i].name }

// Size returns the size of file i.
func (c *Container) Size(i int) int64 { return c.entries[i].size }

// ReadAt reads from file i as an [io.ReaderAt] does.
func (c *Container) ReadAt(i int, p []byte, off int64) (int, error) {
	e := &c.entries[i]
	switch {
	case off < 0:
		return 0, fmt.Errorf("resource: negative offset %d", off)
	case off >= e.size:
		return 0, io.EOF
	}
	atEnd := error(nil)
	if int64(len(p)) > e.size-off {
		p, atEnd = p[:e.size-off], io.EOF
	}
	if err := readFull(c.r, p, e.offset+off); err != nil {
		return 0, fmt.Errorf("%s: %w", e.name, err)
	}
	crypt(p, off)
	return len(p), atEnd
}

// directory is a decrypted directory.
type directory struct {
	data []byte
	// at is its offset in the container, where contents end at the latest.
	at int64
}

func readDirectory(r io.ReaderAt, size int64) (directory, error) {
	t, err := readTrailer(r, size)
	if err != nil {
		return directory{}, err
	}
	n := int64(t.directorySize)
	if n > maxDirectory {
		return directory{}, badf(size-trailerSize, "the end of the file", "a directory of %d bytes: want up to %d", n, maxDirectory)
	}
	d := directory{make([]byte, n), size - trailerSize - n}
	if err := readFull(r, d.data, d.at); err != nil {
		return d, err
	}
	crypt(d.data, 0)
	return d, nil
}

// entries yields the entries and what is wrong with them. After a directory that is cut short
// there is nothing more.
func (d directory) entries() iter.Seq2[entry, *FormatError] {
	return func(yield func(entry, *FormatError) bool) {
		names, before := map[string]int{}, int64(0)
		for i, rest := 0, d.data; len(rest) > 0; i++ {
			e := entry{at: d.at + int64(len(d.data)-len(rest))}
			where := "entry " + strconv.Itoa(i)
			if i == maxFiles {
				yield(e, badf(e.at, where, "another file: want up to %d", maxFiles))
				return
			}
			end := nameEnd(rest)
			if end < 0 {
				yield(e, badf(e.at, where, "the last %d bytes of the directory: want a size, an offset, and a name that ends with a NUL", len(rest)))
				return
			}
			problem := e.parse(rest[:end], d.at, where)
			if first, twice := names[e.name]; twice && problem == nil {
				problem = badf(e.at, where, "the name %q: want one that no other file has, but entry %d has it", e.name, first)
			} else if !twice {
				names[e.name] = i
			}
			if problem == nil && e.size > maxOffset-before {
				problem = badf(e.at, where, "%q has %d bytes, and those before it %d: want up to %d together", e.name, e.size, before, maxOffset)
			} else if problem == nil {
				before += e.size
			}
			if !yield(e, problem) {
				return
			}
			rest = rest[end+nulSize:]
		}
	}
}

// nameEnd returns where the name of the entry ends with which b begins, or -1.
func nameEnd(b []byte) int {
	for end := entrySize; end+nulSize <= len(b); end += nulSize {
		if b[end] == 0 && b[end+1] == 0 {
			return end
		}
	}
	return -1
}

// parse decodes an entry without the end of its name. limit is where contents end at the latest.
func (e *entry) parse(b []byte, limit int64, where string) *FormatError {
	e.size, e.offset = int64(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint32(b[4:]))
	if n := len(b[entrySize:]) / 2; n > maxName { // each is a byte at least
		return badf(e.at+entrySize, where, "a name of %d UTF-16 units: want up to %d", n, maxName)
	}
	units := make([]uint16, 0, len(b[entrySize:])/2)
	for name := b[entrySize:]; len(name) > 0; name = name[2:] {
		units = append(units, binary.LittleEndian.Uint16(name))
	}
	runes := utf16.Decode(units)
	e.name = string(runes)
	if err := CheckName(e.name); err != nil {
		return badf(e.at+entrySize, where, "%v", err)
	}
	if !isWellFormed(units, runes) {
		return badf(e.at+entrySize, where, "the name %q: want UTF-16", e.name)
	}
	switch {
	case e.size > maxOffset:
		return badf(e.at, where, "%q has %d bytes: want up to %d", e.name, e.size, maxOffset)
	case e.offset > maxOffset:
		return badf(e.at+4, where, "%q is at %d: want up to %d", e.name, e.offset, maxOffset)
	case e.offset+e.size > limit:
		return badf(e.at, where, "%q has %d bytes at %d: want it to end by %d, where the directory begins", e.name, e.size, e.offset, limit)
	}
	return nil
}

// isWellFormed reports whether runes were decoded without a surrogate that stands alone.
func isWellFormed(units []uint16, runes []rune) bool {
	back := utf16.Encode(runes)
	for i := range back {
		if i >= len(units) || back[i] != units[i] {
			return false
		}
	}
	return len(back) == len(units)
}
