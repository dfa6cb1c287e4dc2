package manifests

import (
	"encoding/binary"
	"fmt"
	"iter"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/internal/cursor"
)

const patchIndex format.Name = "patch index"

// PatchIndex is the file that a build configuration calls patch-index: a list of patches.
// Only its entries are understood.
type PatchIndex struct {
	entries []byte
}

// PatchIndexEntry is a patch.
type PatchIndexEntry struct {
	// From and To are the encoding keys of the files before and after the patch. The sizes
	// are their decoded sizes.
	From, To         keys.Key
	FromSize, ToSize int64
	// EncodedSize is the encoded size of the file To.
	EncodedSize int64
	// EKey is the encoding key of the patch.
	EKey keys.Key
}

const (
	patchIndexVersion = 1
	patchIndexList    = 2
	// patchIndexEntrySize is from:16 size:4 to:16 size:4 size:4 byte key:16.
	patchIndexEntrySize = 61
	maxPatchIndexBlocks = 64
)

// ParsePatchIndex reads a patch index of version 1. It keeps data, which must not be
// changed. Numbers are little-endian.
func ParsePatchIndex(data []byte) (*PatchIndex, error) {
	c := cursor.New(data)
	head, version, size := c.LE32(), c.LE32(), c.LE32()
	c.Bytes(int(c.LE16()))
	blocks := c.LE32()
	if err := patchIndex.Ends(c, 0); err != nil {
		return nil, err
	}
	switch {
	case version != patchIndexVersion:
		return nil, fmt.Errorf("%w: %w", format.ErrUnsupported, patchIndex.Bad(4, "version %d", version))
	case int64(size) != int64(len(data)):
		return nil, patchIndex.Bad(8, "%d bytes stated, %d there", size, len(data))
	case blocks > maxPatchIndexBlocks || int64(c.Off())+8*int64(blocks) != int64(head):
		return nil, patchIndex.Bad(0, "a header of %d bytes with %d blocks", head, blocks)
	}
	p := &PatchIndex{}
	off := int64(head)
	for range blocks {
		kind, n := c.LE32(), int64(c.LE32())
		if n > int64(len(data))-off {
			return nil, patchIndex.Bad(off, "a block of %d bytes, %d are there", n, int64(len(data))-off)
		}
		if kind == patchIndexList {
			if err := p.parseList(data[off:off+n], off); err != nil {
				return nil, err
			}
		}
		off += n
	}
	if off != int64(len(data)) {
		return nil, patchIndex.Bad(off, "%d bytes behind the last block", int64(len(data))-off)
	}
	return p, nil
}

func (p *PatchIndex) parseList(b []byte, off int64) error {
	c := cursor.New(b)
	count, keySize := c.LE32(), c.U8()
	if err := patchIndex.Ends(c, off); err != nil {
		return err
	}
	if keySize != 16 || int64(count)*patchIndexEntrySize != int64(c.Left()) {
		return patchIndex.Bad(off, "%d entries with keys of %d bytes in %d bytes", count, keySize, c.Left())
	}
	p.entries = c.Bytes(c.Left())
	return nil
}

// Len returns the number of entries.
func (p *PatchIndex) Len() int { return len(p.entries) / patchIndexEntrySize }

// Entries yields all entries in order.
func (p *PatchIndex) Entries() iter.Seq[PatchIndexEntry] {
	return func(yield func(PatchIndexEntry) bool) {
		for b := p.entries; len(b) > 0; b = b[patchIndexEntrySize:] {
			size := func(off int) int64 { return int64(binary.LittleEndian.Uint32(b[off:])) }
			if !yield(PatchIndexEntry{
				From: keys.Key(b), FromSize: size(16), To: keys.Key(b[20:]), ToSize: size(36), EncodedSize: size(40), EKey: keys.Key(b[45:]),
			}) {
				return
			}
		}
	}
}
