package manifests

import (
	"bytes"
	"fmt"

	"lorefs/casc/config"
	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/internal/cursor"
)

const patch format.Name = "patch manifest"

// Patch is the patch manifest: which patches lead to which files. It is stored plain, not
// as BLTE.
type Patch struct {
	Version int
	// Key is the MD5 of the header and the table of blocks. It is the file's name.
	Key keys.Key
	// Encoding is the encoding file after the patches; its Name is the ESpec. It is zero if
	// the manifest does not state it.
	Encoding config.Ref
	Files    []PatchFile
}

// PatchFile is a file that patches can make.
type PatchFile struct {
	CKey    keys.Key
	Size    int64
	Patches []PatchStep
}

// PatchStep is a patch that makes the file from another.
type PatchStep struct {
	// From is the encoding key of the other file, FromSize its decoded size.
	From     keys.Key
	FromSize int64
	// EKey is the encoding key of the patch, and Size its size.
	EKey keys.Key
	Size int64
	// Index orders the patches of a file.
	Index uint8
}

const (
	// PatchMagic begins a patch manifest.
	PatchMagic       = "PA"
	patchHasEncoding = 2
	maxPatchBlock    = 24
)

// ParsePatch reads a patch manifest of version 1 or 2 and checks the MD5 of all its blocks.
func ParsePatch(data []byte) (*Patch, error) {
	c := cursor.New(data)
	magic, version := c.Bytes(2), c.U8()
	var sizes [3]int
	for i := range sizes {
		sizes[i] = int(c.U8())
	}
	bits, blocks, flags := c.U8(), c.BE16(), c.U8()
	if err := patch.Ends(c, 0); err != nil {
		return nil, err
	}
	if string(magic) != PatchMagic {
		return nil, patch.Bad(0, "found %q instead of %q", magic, PatchMagic)
	}
	if version < 1 || version > 2 || sizes != [3]int{16, 16, 16} || bits > maxPatchBlock {
		return nil, fmt.Errorf("%w: %w", format.ErrUnsupported, patch.Bad(2, "version %d with keys of %v bytes and blocks of 1<<%d", version, sizes, bits))
	}
	p := &Patch{Version: int(version)}
	if flags&patchHasEncoding != 0 {
		p.Encoding = patchEncoding(c)
	}
	table := c.Bytes(int(blocks) * patchBlockSize)
	if err := patch.Ends(c, 0); err != nil {
		return nil, err
	}
	p.Key = keys.Of(data[:c.Off()])
	return p, p.parseBlocks(data, table, int64(c.Off()-len(table)), 1<<bits)
}

func patchEncoding(c *cursor.Cursor) config.Ref {
	var r config.Ref
	copy(r.CKey[:], c.Bytes(16))
	copy(r.EKey[:], c.Bytes(16))
	r.Size, r.EncodedSize = int64(c.BE32()), int64(c.BE32())
	r.Name = string(c.Bytes(int(c.U8())))
	return r
}

// patchBlockSize is the size of last_key:16 md5:16 offset:4.
const patchBlockSize = 36

func (p *Patch) parseBlocks(data, table []byte, tableOff int64, limit int) error {
	c := cursor.New(table)
	end := tableOff + int64(len(table)) // of the block before
	for i := 0; c.Left() > 0; i++ {
		last, sum, off := c.Bytes(16), c.Bytes(16), int64(c.BE32())
		if off < end {
			return patch.Bad(tableOff+int64(i*patchBlockSize)+32, "block %d begins at %#x, what is before it ends at %#x", i, off, end)
		}
		if off > int64(len(data)) {
			return patch.Bad(tableOff+int64(i*patchBlockSize)+32, "block %d begins at %#x, the file ends at %#x", i, off, len(data))
		}
		size, err := p.parseBlock(data[off:min(off+int64(limit), int64(len(data)))], off)
		if err != nil {
			return err
		}
		end = off + int64(size)
		block := data[off:end]
		if got := keys.Of(block); !bytes.Equal(got[:], sum) {
			return patch.Bad(off, "block %d of %d bytes has the MD5 %v, stated is %x", i, size, got, sum)
		}
		if n := len(p.Files); n > 0 && !bytes.Equal(p.Files[n-1].CKey[:], last) {
			return patch.Bad(off, "block %d ends with the key %v, stated is %x", i, p.Files[n-1].CKey, last)
		}
	}
	return nil
}

// parseBlock reads files up to the end mark, and returns the size of the block.
func (p *Patch) parseBlock(data []byte, off int64) (int, error) {
	c := cursor.New(data)
	for c.Left() > 0 {
		n := c.U8()
		if n == 0 {
			break
		}
		var f PatchFile
		copy(f.CKey[:], c.Bytes(16))
		f.Size = int64(c.Big(5))
		for range n {
			var s PatchStep
			copy(s.From[:], c.Bytes(16))
			s.FromSize = int64(c.Big(5))
			copy(s.EKey[:], c.Bytes(16))
			s.Size, s.Index = int64(c.BE32()), c.U8()
			f.Patches = append(f.Patches, s)
		}
		if err := patch.Ends(c, off); err != nil {
			return 0, err
		}
		p.Files = append(p.Files, f)
	}
	return c.Off(), nil
}
