package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// Contents are what a journal held when it was opened. They may be used from many
// goroutines at once.
type Contents struct {
	r      io.ReaderAt
	mark   uint32
	header []byte

	// first is where the records begin, and end where the last whole one ends
	// ahead of anything else. size is that of the file.
	first, end, size int64
	records          int
	// damage is set if whole records follow behind end.
	damage error

	close func() error
}

// Read opens a journal for reading; it is not changed. The contents have to be
// closed.
func Read(path string) (*Contents, error) {
	c, f, err := open(disk{}, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	c.close = f.Close
	return c, nil
}

// open opens a journal that is there.
func open(sys system, path string, flag int) (*Contents, file, error) {
	f, err := sys.open(path, flag)
	if err != nil {
		return nil, nil, fmt.Errorf("journal: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		err = trusted(path, info)
	}
	var c *Contents
	if err == nil {
		c, err = parse(f, info.Size())
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return c, f, nil
}

// parse reads a journal of size bytes, all of it. A journal whose header is not
// whole is a *FormatError; what is wrong with the records, the contents tell.
func parse(r io.ReaderAt, size int64) (*Contents, error) {
	mark, header, err := parseHeader(r, size)
	if err != nil {
		return nil, err
	}
	c := &Contents{r: r, mark: mark, header: header, size: size, close: func() error { return nil }}
	c.first = headerSize + int64(len(header))
	c.end = c.first
	var buf []byte
	for c.end < size {
		buf, err = readRecord(r, size, c.end, mark, buf)
		if errors.Is(err, errNoRecord) {
			break
		}
		if err != nil {
			return nil, err
		}
		c.end += recordSize + int64(len(buf))
		c.records++
	}
	c.damage, err = c.search()
	if err != nil {
		return nil, err
	}
	return c, nil
}

const (
	// searchSize is how much is searched for the mark at once.
	searchSize = 1 << 20
	// maxSearch bounds how many bytes of suspected records are read. Chance makes
	// some suspects in 4 GiB; only a file made for that purpose has many.
	maxSearch = 4 * MaxPayload
)

// search looks for a whole record behind the end of the records. The error of it
// is the damage, if that is one, or else one of reading.
func (c *Contents) search() (damage, err error) {
	var mark [markSize]byte
	binary.LittleEndian.PutUint32(mark[:], c.mark)
	chunk := make([]byte, min(searchSize, c.size-c.end))
	var buf []byte
	budget := int64(maxSearch)
	// At the end itself there is none. Chunks overlap, as a mark may lie across.
	for off := c.end + 1; c.size-off >= recordSize; off += int64(len(chunk)) - markSize + 1 {
		chunk = chunk[:min(int64(len(chunk)), c.size-off)]
		if err := readFull(c.r, chunk, off); err != nil {
			return nil, err
		}
		for at := 0; ; at++ {
			next := bytes.Index(chunk[at:], mark[:])
			if next < 0 {
				break
			}
			at += next
			buf, err = readRecord(c.r, c.size, off+int64(at), c.mark, buf)
			if budget -= recordSize + int64(len(buf)); err == nil || budget < 0 {
				return &FormatError{
					Off: c.end, Err: ErrDamaged,
					What: fmt.Sprintf("it is not whole, but at %#x another record begins", off+int64(at)),
				}, nil
			}
			if !errors.Is(err, errNoRecord) {
				return nil, err
			}
		}
	}
	return nil, nil
}

// Header is what the caller of Create gave. It must not be changed.
func (c *Contents) Header() []byte { return c.header }

// Len is how many records there are, not counting what lies behind damage.
func (c *Contents) Len() int { return c.records }

// Torn is how many bytes at the end are no record, because whoever wrote them
// died before they were written. It is 0 if the journal is damaged.
func (c *Contents) Torn() int64 {
	if c.damage != nil {
		return 0
	}
	return c.size - c.end
}

// Damage is nil, or a *FormatError that matches ErrDamaged: records that were
// kept are not whole any more. Records ends with it too.
func (c *Contents) Damage() error { return c.damage }

// Records yields the payloads of the records in the order in which they were
// appended. A payload is good until the next one is asked for. An error is yielded
// last: one of reading, or the damage, behind which there may be more records
// that are not given.
func (c *Contents) Records() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var buf []byte
		for off := c.first; off < c.end; off += recordSize + int64(len(buf)) {
			var err error
			buf, err = readRecord(c.r, c.end, off, c.mark, buf)
			if errors.Is(err, errNoRecord) {
				err = &FormatError{Off: off, Err: ErrDamaged, What: "it was whole when the journal was opened"}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(buf, nil) {
				return
			}
		}
		if c.damage != nil {
			yield(nil, c.damage)
		}
	}
}

// Close closes the file, unless a Journal has it.
func (c *Contents) Close() error { return c.close() }
