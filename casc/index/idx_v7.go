package index

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"lorefs/casc/internal/format"
	"lorefs/casc/internal/lookup3"
	"lorefs/casc/keys"
)

const (
	idxVersion7 = 7
	idxVersion8 = 8

	// idxGuardedSize is the size of the header's block at the beginning of the file.
	idxGuardedSize = 0x10
	// idxEntriesOff is where the sorted entries begin.
	idxEntriesOff = 0x28

	// idxPageSize is the size and the alignment of the update section's pages.
	idxPageSize = 0x200
	// idxUpdateSize is the size of guard:4 key:9 place:5 size:4 status:1 and an unused
	// byte.
	idxUpdateSize = 24
	// maxIdxProblems is how many damaged entries are reported.
	maxIdxProblems = 8
	// idxGuardSet is set in every guard.
	idxGuardSet = 1 << 31
)

func parseIdx7(data []byte) (*Idx, error) {
	if len(data) < idxEntriesOff {
		return nil, IdxFormat.Bad(0, "%d bytes are no header", len(data))
	}
	if n := binary.LittleEndian.Uint32(data); n != idxGuardedSize {
		return nil, IdxFormat.Bad(0, "a header of %#x bytes, expected %#x", n, idxGuardedSize)
	}
	header := data[8 : 8+idxGuardedSize]
	if h, want := lookup3.Hash(header, 0), binary.LittleEndian.Uint32(data[4:]); h != want {
		return nil, IdxFormat.Bad(4, "the header has the hash %08x, stated is %08x", h, want)
	}
	switch v := binary.LittleEndian.Uint16(header); v {
	case idxVersion7:
	case idxVersion8:
		return nil, fmt.Errorf("%w: %w", format.ErrUnsupported, IdxFormat.Bad(8, "version 8, an index of resident files"))
	default:
		return nil, IdxFormat.Bad(8, "version %d, expected %d", v, idxVersion7)
	}
	x := &Idx{Version: idxVersion7, Bucket: int(header[2])}
	if err := checkWidths(12, header[4:8]); err != nil {
		return nil, err
	}
	return x, x.parseSorted(data)
}

func (x *Idx) parseSorted(data []byte) error {
	size := int64(binary.LittleEndian.Uint32(data[0x20:]))
	if size%idxEntrySize != 0 || size > int64(len(data)-idxEntriesOff) {
		return IdxFormat.Bad(0x20, "%d bytes of entries in a file of %d", size, len(data))
	}
	run := data[idxEntriesOff : idxEntriesOff+size]
	want := binary.LittleEndian.Uint32(data[0x24:])
	if h, ok := entriesHash(run, want); !ok {
		return IdxFormat.Bad(0x24, "the entries have the hash %08x, stated is %08x", h, want)
	}
	if err := checkSorted(run, idxEntriesOff); err != nil {
		return err
	}
	x.runs = []*idxRun{newIdxRun(idxEntriesOff, run)}
	x.parseUpdates(data, idxEntriesOff+int(size))
	return nil
}

// parseUpdates reads the update section. Descriptions differ on where it begins: one rounds
// up to 0x1000, one to 0x10000. So it looks at all pages behind the sorted entries, and
// recognizes an entry by its guard. Later entries win.
func (x *Idx) parseUpdates(data []byte, end int) {
	for page := (end + idxPageSize - 1) / idxPageSize * idxPageSize; page+idxPageSize <= len(data); page += idxPageSize {
		x.parseUpdatePage(data[page:page+idxPageSize], page)
	}
}

// parseUpdatePage reads the page of the update section at off, up to the last byte that is
// not zero: a damaged entry hides none of those behind it.
func (x *Idx) parseUpdatePage(page []byte, off int) {
	used := len(bytes.TrimRight(page, "\x00"))
	for at := 0; at < used && at+idxUpdateSize <= len(page); at += idxUpdateSize {
		u := page[at : at+idxUpdateSize]
		if !guarded(u) {
			if len(x.Problems) < maxIdxProblems {
				x.Problems = append(x.Problems, IdxFormat.Bad(int64(off+at), "an update entry with a wrong guard"))
			}
			continue
		}
		if x.updates == nil {
			x.updates = map[keys.Short]IdxEntry{}
		}
		e := idxEntry(u[4:])
		e.Status = u[4+idxEntrySize]
		x.updates[e.Key] = e
	}
}

// guarded checks the guard of an update entry: the hash of the 19 bytes after it, or of 20
// as one description has it.
func guarded(u []byte) bool {
	want := binary.LittleEndian.Uint32(u)
	return want == idxGuard(u[4:23]) || want == idxGuard(u[4:24])
}

func idxGuard(b []byte) uint32 { return lookup3.Hash(b, 0) | idxGuardSet }
