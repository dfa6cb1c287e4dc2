package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"lorefs/internal/disk"
)

// Contents holds the records of a journal as it was opened. It is safe for parallel use.
type Contents struct {
	r io.ReaderAt
	head

	// promises are zero in version 1.
	promises promises
	// end is the end of the whole records, before the first that is not whole. size is the size of
	// the file.
	end, size int64
	records   int
	// damage is set if whole records follow after end, or if something after it was
	// synced, or may have been.
	damage error

	close func() error
}

// Read opens a journal for reading, without changing it. The contents must be closed.
func Read(path string) (*Contents, error) { return read(disk.OS{}, path) }

func read(fs disk.FS, path string) (*Contents, error) {
	c, f, err := open(fs, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	c.close = f.Close
	return c, nil
}

// open opens an existing journal.
func open(fs disk.FS, path string, flag int) (*Contents, disk.File, error) {
	f, err := fs.Open(path, flag)
	if err != nil {
		return nil, nil, fmt.Errorf("journal: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		err = trusted(path, info)
	}
	var c *Contents
	if err == nil {
		c, err = parse(f, func() (int64, error) { return sizeOf(f) })
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return c, f, nil
}

func sizeOf(f disk.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("journal: %w", err)
	}
	return info.Size(), nil
}

// parse reads a whole journal. If the header is not whole the error is a *FormatError.
// Faults of records are part of the contents.
//
// It asks for the size again after reading the slots: somebody may append meanwhile, and
// only a promise that was read before the size is sure to lie within the file.
func parse(r io.ReaderAt, sizeNow func() (int64, error)) (*Contents, error) {
	size, err := sizeNow()
	if err != nil {
		return nil, err
	}
	h, err := parseHead(r, size)
	if err != nil {
		return nil, err
	}
	c := &Contents{r: r, head: h, end: h.first, close: func() error { return nil }}
	if h.slots > 0 {
		if c.promises, err = h.readSlots(r); err != nil {
			return nil, err
		}
	}
	if c.size, err = sizeNow(); err != nil {
		return nil, err
	}
	if err := c.count(); err != nil {
		return nil, err
	}
	if c.damage = c.broken(); c.damage == nil {
		c.damage, err = c.search()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// count reads the records up to the first that is not whole.
func (c *Contents) count() error {
	var buf []byte
	for c.end < c.size {
		var err error
		buf, err = readRecord(c.r, c.size, c.end, c.mark, buf)
		if errors.Is(err, errNoRecord) {
			return nil
		}
		if err != nil {
			return err
		}
		c.end += recordSize + int64(len(buf))
		c.records++
	}
	return nil
}

// broken returns the damage if a promise does not hold, or if the promises are not known.
func (c *Contents) broken() error {
	switch p := c.promises; {
	case c.slots == 0:
		return nil
	case p.last() == 0:
		return &FormatError{
			Off: c.slots, Err: ErrDamaged,
			What: "neither of the two is whole that say how much was synced, so that more may be missing at the end" + c.behind(),
		}
	case p.last() > c.end:
		return &FormatError{
			Off: c.end, Err: ErrDamaged,
			What: fmt.Sprintf("it is not whole, but was synced, as all was up to %#x%s", p.last(), c.behind()),
		}
	case !p.whole() && c.end < c.size:
		return &FormatError{
			Off: c.end, Err: ErrDamaged,
			What: "it is not whole, and it may have been synced: one of the two is not whole that say how much was" + c.behind(),
		}
	}
	return nil
}

// behind says how many bytes the damage makes unreadable, for an error text.
func (c *Contents) behind() string {
	if n := c.Unreadable(); n > 0 {
		return fmt.Sprintf(" (%d bytes are unreadable)", n)
	}
	return ""
}

const (
	// searchSize is how much is searched for the mark at once.
	searchSize = 1 << 20
	// maxSearch bounds how many bytes of suspected records are read. Chance makes some
	// suspects in 4 GiB; only a file made for that purpose has many.
	maxSearch = 4 * MaxPayload
)

// search looks for a whole record after the end of the records. err is an error of reading.
func (c *Contents) search() (damage, err error) {
	var mark [markSize]byte
	binary.LittleEndian.PutUint32(mark[:], c.mark)
	chunk := make([]byte, min(searchSize, c.size-c.end))
	var buf []byte
	budget := int64(maxSearch)
	// No whole record begins at the end itself. Chunks overlap, because a mark may lie across two
	// of them.
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
					What: fmt.Sprintf("it is not whole, but at %#x another record begins%s", off+int64(at), c.behind()),
				}, nil
			}
			if !errors.Is(err, errNoRecord) {
				return nil, err
			}
		}
	}
	return nil, nil
}

// Header returns the header given to Create. It must not be changed.
func (c *Contents) Header() []byte { return c.about }

// Len returns the number of records, without those after damage.
func (c *Contents) Len() int { return c.records }

// Unreadable returns how many bytes after the last record are no records, or are records after
// damage. Bytes that were synced but are missing count too.
func (c *Contents) Unreadable() int64 { return max(c.size, c.promises.last()) - c.end }

// Resumable reports whether Resume accepts the journal. A journal with damage, with a torn
// tail (no damage, but something unreadable), or of an earlier version of the format, must
// be renewed first.
func (c *Contents) Resumable() bool {
	return c.version == version && c.damage == nil && c.end == c.size
}

// Damage returns nil, or a *FormatError that matches ErrDamaged: kept records are no longer
// whole. Records ends with it too.
func (c *Contents) Damage() error { return c.damage }

// Records yields the payloads of the records in the order in which they were appended. A
// payload is valid until the next step. An error comes last: one of reading, or the damage,
// behind which there may be more records.
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

// Close closes the file, unless a Journal uses it.
func (c *Contents) Close() error { return c.close() }
