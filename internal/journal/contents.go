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

// Contents are what a journal held when it was opened. They may be used from many
// goroutines at once.
type Contents struct {
	r io.ReaderAt
	head

	// promises are none in version 1.
	promises promises
	// end is where the last whole record ends ahead of anything else, size that of the
	// file.
	end, size int64
	records   int
	// damage is set if whole records follow behind end, or were synced there.
	damage error

	close func() error
}

// Read opens a journal for reading; it is not changed. The contents have to be
// closed.
func Read(path string) (*Contents, error) { return read(disk.OS{}, path) }

func read(fs disk.FS, path string) (*Contents, error) {
	c, f, err := open(fs, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	c.close = f.Close
	return c, nil
}

// open opens a journal that is there.
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

// parse reads a journal, all of it. A journal whose header is not whole is a
// *FormatError; what is wrong with the records, the contents tell.
//
// The size is asked for again behind the slots: somebody may append meanwhile, and what
// is promised lies within the file only if the promise was read first.
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

// count reads the whole records that lie ahead of anything else.
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

// broken is the damage if a promise does not hold, or can't be known.
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

// behind says how much lies behind the damage, as far as that is known.
func (c *Contents) behind() string {
	if n := c.Unreadable(); n > 0 {
		return fmt.Sprintf(" (%d bytes are unreadable)", n)
	}
	return ""
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

// Header is what the caller of Create gave. It must not be changed.
func (c *Contents) Header() []byte { return c.about }

// Len is how many records there are, not counting what lies behind damage.
func (c *Contents) Len() int { return c.records }

// Unreadable is how many bytes behind the last record are none, or are records behind
// damage, which are not given; bytes count that are missing although they were synced.
func (c *Contents) Unreadable() int64 { return max(c.size, c.promises.last()) - c.end }

// Resumable tells whether Resume can go on with the journal as it is. One with damage, or
// with a torn tail (then there is no damage, but something unreadable), or of an earlier
// version of the format, has to be renewed before.
func (c *Contents) Resumable() bool {
	return c.version == version && c.damage == nil && c.end == c.size
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
