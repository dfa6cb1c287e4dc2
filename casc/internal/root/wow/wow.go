// Package wow reads the root of World of Warcraft.
package wow

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

const wowRoot format.Name = "WoW root"

const (
	// Magic is TSFM as it stands in the file.
	Magic = 0x4D465354

	wowHeader82 = 12
	// wowHeaderLeast is the least header_size. wowHeaderMost is more than any that was
	// seen: larger numbers are numbers of files.
	wowHeaderLeast = 20
	wowHeaderMost  = 256
	// wowVersionMost is the highest number that is read as a version.
	wowVersionMost = 16
	wowBlock       = 12
	wowBlock2      = 17
)

// Root is the root of World of Warcraft: IDs and hashes of names. The names themselves
// come from a ListFile. It keeps the file's bytes.
//
// There are four layouts. All consist of blocks of files of the same languages and flags.
// In a block, an ID is stated by its distance from the one before.
//
//	before 8.2   ( count:4 flags:4 locale:4 delta:4×n ( ckey:16 hash:8 )×n )…
//	8.2          "TSFM" total:4 named:4 ( count:4 flags:4 locale:4 delta:4×n ckey:16×n [ hash:8×n ] )…
//	10.1.7       "TSFM" header_size:4 version:4 total:4 named:4 padding:4, blocks as 8.2
//	11.1         version 2: blocks begin with count:4 locale:4 flags:4 flags:4 flags:1
//
// header_size has been 24 so far; blocks begin where it says. Hashes exist unless the flags
// have ContentNoNames. Numbers are little-endian.
type Root struct {
	// Version is 0 before 8.2, 1 for 8.2, 2 for 10.1.7, and 3 for 11.1.
	Version int
	// Total and Named are the numbers of files, and of files with hashes, that the header
	// states; 0 before 8.2. They are not compared with the actual numbers.
	Total, Named int
	blocks       []wowFiles
}

// wowFiles is a block of files.
type wowFiles struct {
	locale root.Locale
	flags  root.ContentFlags
	count  int
	deltas []byte
	// keys and hashes are rows of keyStep and hashStep bytes; hashes may be nil.
	keys, hashes      []byte
	keyStep, hashStep int
}

// Parse reads a root of any of the four layouts.
func Parse(data []byte) (*Root, error) {
	if len(data) == 0 {
		return nil, wowRoot.Bad(0, "no bytes")
	}
	if len(data) < wowHeader82 || binary.LittleEndian.Uint32(data) != Magic {
		r := &Root{}
		if err := r.parseBlocks(data, 0); err != nil {
			return nil, err
		}
		return r, nil
	}
	return parseWoWHeader(data)
}

// parseWoWHeader reads a root with a header. The two numbers behind the magic are either
// the header's size and a version or, in 8.2, two numbers of files. Small numbers are a
// header, unless the root has just as many files.
func parseWoWHeader(data []byte) (*Root, error) {
	le := binary.LittleEndian
	size, version := le.Uint32(data[4:]), le.Uint32(data[8:])
	small := size >= wowHeaderLeast && size <= wowHeaderMost && int64(size) <= int64(len(data)) && version <= wowVersionMost
	var err error
	switch {
	case !small:
	case version == 1 || version == 2:
		r := &Root{Version: int(version) + 1, Total: int(le.Uint32(data[12:])), Named: int(le.Uint32(data[16:]))}
		if err = r.parseBlocks(data, int(size)); err == nil {
			return r, nil
		}
	default:
		err = fmt.Errorf("%w: %w", format.ErrUnsupported, wowRoot.Bad(8, "version %d", version))
	}
	r := &Root{Version: 1, Total: int(size), Named: int(version)}
	err82 := r.parseBlocks(data, wowHeader82)
	if err82 == nil && (!small || r.count() == r.Total) {
		return r, nil
	}
	return nil, cmp.Or(err, err82)
}

func (r *Root) count() (n int) {
	for i := range r.blocks {
		n += r.blocks[i].count
	}
	return n
}

// parseBlocks reads the blocks from off on.
func (r *Root) parseBlocks(data []byte, off int) error {
	total := 0
	for off < len(data) {
		b, n, err := r.parseBlock(data[off:], int64(off))
		if err != nil {
			return err
		}
		off += n
		total += b.count
		if total > root.MaxFiles {
			return wowRoot.Bad(int64(off), "more than %d files", root.MaxFiles)
		}
		r.blocks = append(r.blocks, b)
	}
	return nil
}

// parseBlock reads the block at off of the file, and returns its size.
func (r *Root) parseBlock(data []byte, off int64) (wowFiles, int, error) {
	head := wowBlock
	if r.Version == 3 {
		head = wowBlock2
	}
	if len(data) < head {
		return wowFiles{}, 0, wowRoot.Bad(off, "%d bytes are no header of a block", len(data))
	}
	b := wowFiles{keyStep: 16, hashStep: 8}
	count := int64(binary.LittleEndian.Uint32(data))
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
	if r.Version == 3 {
		b.locale, b.flags = root.Locale(u32(4)), root.ContentFlags(u32(8)|u32(12)|uint32(data[16])<<17)
	} else {
		b.flags, b.locale = root.ContentFlags(u32(4)), root.Locale(u32(8))
	}
	hashed := r.Version == 0 || b.flags&root.ContentNoNames == 0
	each := int64(4 + 16)
	if hashed {
		each += 8
	}
	if count > int64(len(data)-head)/each {
		return b, 0, wowRoot.Bad(off, "a block of %d files in %d bytes", count, len(data)-head)
	}
	b.count = int(count)
	b.deltas, data = data[head:head+4*b.count], data[head+4*b.count:]
	switch {
	case r.Version == 0:
		b.keyStep, b.hashStep = 24, 24
		b.keys, b.hashes = data, data[min(16, len(data)):]
	case hashed:
		b.keys, b.hashes = data, data[16*b.count:]
	default:
		b.keys = data
	}
	return b, head + int(each)*b.count, b.checkIDs(off + int64(head))
}

// checkIDs checks that no distance leads out of 32 bits.
func (b *wowFiles) checkIDs(off int64) error {
	id := int64(-1)
	for i := range b.count {
		id += 1 + int64(int32(binary.LittleEndian.Uint32(b.deltas[4*i:])))
		if id < 0 || id > 0xFFFFFFFF {
			return wowRoot.Bad(off+int64(4*i), "file %d of the block has the ID %d", i, id)
		}
	}
	return nil
}

// Kind returns "wow".
func (r *Root) Kind() string { return "wow" }

// Files yields the files of all blocks.
func (r *Root) Files() iter.Seq2[root.File, error] {
	return func(yield func(root.File, error) bool) {
		for i := range r.blocks {
			if !r.blocks[i].each(yield) {
				return
			}
		}
	}
}

func (b *wowFiles) each(yield func(root.File, error) bool) bool {
	id := int64(-1)
	for i := range b.count {
		id += 1 + int64(int32(binary.LittleEndian.Uint32(b.deltas[4*i:])))
		f := root.File{ID: uint32(id), HasID: true, Locale: b.locale, Flags: b.flags, CKey: keys.Key(b.keys[i*b.keyStep:]), Size: -1}
		if b.hashes != nil {
			f.NameHash = binary.LittleEndian.Uint64(b.hashes[i*b.hashStep:])
			f.HasHash = f.NameHash != 0
		}
		if !yield(f, nil) {
			return false
		}
	}
	return true
}
