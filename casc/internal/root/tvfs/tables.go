package tvfs

import (
	"encoding/binary"
	"fmt"

	"lorefs/casc/internal/format"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/cursor"
)

const tvfs format.Name = "TVFS"

const (
	// Magic is TVFS as a little-endian number.
	Magic = 0x53465654

	tvfsVersion = 1
	tvfsHeader  = 38
	// tvfsHeaderSpecs is the header with the place of the table of specs.
	tvfsHeaderSpecs = 46

	tvfsHasCKeys   = 1
	tvfsHasSpecs   = 2
	tvfsHasPatches = 4
	// tvfsLowerCase says that all names were made lower case.
	tvfsLowerCase  = 8
	tvfsKnownFlags = tvfsHasCKeys | tvfsHasSpecs | tvfsHasPatches | tvfsLowerCase

	// tvfsPatch is the size of a patch of a container entry.
	tvfsPatch = 27

	tvfsValue  = 0xFF
	tvfsFolder = 1 << 31

	// maxSpans is the highest number of spans of a file. Higher numbers are deleted files
	// and other things.
	maxSpans = 224
	// maxTVFSDepth bounds folders in folders.
	maxTVFSDepth = 128
)

// tvfsTables are the tables of one manifest.
type tvfsTables struct {
	keySize int
	flags   uint32
	// path, vfs and files are the tables. specs is the size of the table of specs, which
	// exists if hasSpecs.
	path, vfs, files []byte
	specs            int
	hasSpecs         bool
	pathOff, vfsOff  int64
	// many has the files of several spans, by their offset in vfs, since any number of
	// names may share one. vfsRead is how much of vfs was read for them.
	many    map[uint32][]root.Span
	vfsRead int
}

func parseTVFSHeader(data []byte) (*tvfsTables, error) {
	c := cursor.New(data)
	magic, version, size, keySize, _ := c.LE32(), c.U8(), c.U8(), c.U8(), c.U8()
	t := &tvfsTables{keySize: int(keySize), flags: c.BE32()}
	var err error
	table := func(c *cursor.Cursor) (b []byte, off int64) {
		at := int64(c.Off())
		off, n := int64(c.BE32()), int64(c.BE32())
		if err == nil && (off > int64(len(data)) || n > int64(len(data))-off) {
			err = tvfs.Bad(at, "a table of %d bytes at %#x in a file of %d", n, off, len(data))
			return nil, 0
		}
		if err != nil {
			return nil, 0
		}
		return data[off : off+n], off
	}
	t.path, t.pathOff = table(c)
	t.vfs, t.vfsOff = table(c)
	t.files, _ = table(c)
	c.BE16()
	// Patches require specs, whether the flags say so or not: then the header has room for
	// their table.
	t.hasSpecs = t.flags&tvfsHasSpecs != 0 || t.flags&tvfsHasPatches != 0 && size >= tvfsHeaderSpecs
	if t.hasSpecs {
		specs, _ := table(c)
		t.specs = len(specs)
	}
	if ended := tvfs.Ends(c, 0); ended != nil {
		return nil, ended
	}
	switch {
	case magic != Magic:
		return nil, tvfs.Bad(0, "found % x instead of %q", data[:4], "TVFS")
	case version != tvfsVersion || keySize < keys.ShortSize || int(keySize) > len(keys.Key{}):
		return nil, fmt.Errorf("%w: %w", format.ErrUnsupported, tvfs.Bad(4, "version %d, flags %#x, keys of %d bytes", version, t.flags, keySize))
	case int(size) < c.Off():
		return nil, tvfs.Bad(5, "a header of %d bytes with flags %#x", size, t.flags)
	}
	return t, err
}

// offsetSize returns the number of bytes of an offset in a table.
func offsetSize(table int) int {
	switch {
	case table > 0xFFFFFF:
		return 4
	case table > 0xFFFF:
		return 3
	case table > 0xFF:
		return 2
	}
	return 1
}

// tvfsVisitor receives the entries of a path table.
type tvfsVisitor struct {
	// found is called for each file, with its name and the offset of its spans. Its error
	// ends the walk.
	found func(name string, vfs uint32) error
	// fault is called for damage that hides the rest of a folder.
	fault func(folder string, err error)
}

// walk visits everything in the path table that can be read.
func (t *tvfsTables) walk(v tvfsVisitor) error {
	return t.walkFolder(t.path, 0, nil, 0, v)
}

// walkFolder visits the nodes of a folder, from off of the path table on. A node without
// value is a prefix of the next one.
func (t *tvfsTables) walkFolder(b []byte, off int, name []byte, depth int, v tvfsVisitor) error {
	lost := func(at int, text string, args ...any) error {
		v.fault(string(name), tvfs.Bad(t.pathOff+int64(at), text, args...))
		return nil
	}
	if depth > maxTVFSDepth {
		return lost(off, "folders deeper than %d", maxTVFSDepth)
	}
	own := len(name)
	for at := 0; at < len(b); {
		n, err := t.node(b[at:], off+at)
		if err != nil {
			v.fault(string(name), err)
			return nil
		}
		at += n.size
		name = n.append(name)
		if len(name) > root.MaxName {
			name = name[:own]
			return lost(off+at, "a name of more than %d bytes", root.MaxName)
		}
		if !n.valued {
			continue
		}
		if n.value&tvfsFolder == 0 {
			err = v.found(root.CleanName(string(name)), n.value)
		} else {
			inside := int(n.value&^tvfsFolder) - 4
			if inside < 0 || inside > len(b)-at {
				return lost(off+at-4, "a folder of %d bytes, %d are there", inside, len(b)-at)
			}
			err = t.walkFolder(b[at:at+inside], off+at, name, depth+1, v)
			at += inside
		}
		if err != nil {
			return err
		}
		name = name[:own]
	}
	return nil
}

// tvfsNode is a node of the path table.
type tvfsNode struct {
	fragment      []byte
	before, after bool // whether a separator stands there
	valued        bool
	value         uint32
	size          int
}

func (n *tvfsNode) append(name []byte) []byte {
	if n.before {
		name = append(name, '/')
	}
	name = append(name, n.fragment...)
	if n.after {
		name = append(name, '/')
	}
	return name
}

// node reads a node: [0] [length fragment] [0] [0xFF value:4].
func (t *tvfsTables) node(b []byte, off int) (tvfsNode, error) {
	var n tvfsNode
	at := 0
	if b[at] == 0 {
		n.before = true
		at++
	}
	if at < len(b) && b[at] != tvfsValue {
		length := int(b[at])
		at++
		if length > len(b)-at {
			return n, tvfs.Bad(t.pathOff+int64(off+at-1), "a name of %d bytes, %d are there", length, len(b)-at)
		}
		n.fragment = b[at : at+length]
		at += length
	}
	if at < len(b) && b[at] == 0 {
		n.after = true
		at++
	}
	if at < len(b) {
		if b[at] == tvfsValue {
			if len(b)-at < 5 {
				return n, tvfs.Bad(t.pathOff+int64(off+at), "a value of %d bytes, expected 4", len(b)-at-1)
			}
			n.valued, n.value = true, binary.BigEndian.Uint32(b[at+1:])
			at += 5
		} else {
			n.after = true
		}
	}
	n.size = at
	return n, nil
}

// spans returns the spans of a file, which must not be changed. Deleted files and other
// things that are no files have none.
func (t *tvfsTables) spans(off uint32) ([]root.Span, error) {
	if spans, ok := t.many[off]; ok {
		return spans, nil
	}
	at := t.vfsOff + int64(off)
	if int64(off) >= int64(len(t.vfs)) {
		return nil, tvfs.Bad(at, "spans behind the table of %d bytes", len(t.vfs))
	}
	c := cursor.New(t.vfs[off:])
	n := int(c.U8())
	if n == 0 || n > maxSpans {
		return nil, nil
	}
	spans := make([]root.Span, n)
	next := uint32(0)
	for i := range spans {
		from, size, entry := c.BE32(), c.BE32(), c.Big(offsetSize(len(t.files)))
		if err := tvfs.Ends(c, at); err != nil {
			return nil, err
		}
		s, err := t.container(entry)
		if err != nil {
			return nil, err
		}
		if err := placeSpan(&s, from, next, size); err != nil {
			return nil, &format.Error{Format: string(tvfs), Off: at, What: fmt.Sprintf("span %d", i), Err: err}
		}
		next += size
		spans[i] = s
	}
	if n == 1 {
		return spans, nil
	}
	if t.vfsRead += c.Off(); t.vfsRead > len(t.vfs) {
		return nil, tvfs.Bad(at, "spans that overlap those of other files")
	}
	if t.many == nil {
		t.many = map[uint32][]root.Span{}
	}
	t.many[off] = spans
	return spans, nil
}

// placeSpan sets which part of its content a span is. What from means is not proven: it is
// an offset in the content, as one description has it, or in the file, where the span
// before ends. In all files that were there it is 0.
func placeSpan(s *root.Span, from, next, size uint32) error {
	content := s.ContentSize
	s.Size = int64(size)
	switch {
	case int64(from)+int64(size) <= content:
		s.Off = int64(from)
	case from != next || int64(size) > content:
		return fmt.Errorf("%d bytes at %d of a content of %d", size, from, content)
	}
	return nil
}

// container reads an entry of the table of encoded files.
func (t *tvfsTables) container(off uint64) (root.Span, error) {
	base := int64(off)
	if off >= uint64(len(t.files)) {
		return root.Span{}, tvfs.Bad(base, "an entry behind the container table of %d bytes", len(t.files))
	}
	c := cursor.New(t.files[off:])
	s := root.Span{KeySize: t.keySize}
	copy(s.EKey[:], c.Bytes(t.keySize))
	c.BE32() // the encoded size
	if t.hasSpecs {
		c.Bytes(offsetSize(t.specs))
	}
	s.ContentSize = int64(c.BE32())
	if t.flags&tvfsHasCKeys != 0 {
		copy(s.CKey[:], c.Bytes(len(s.CKey)))
	}
	if t.flags&tvfsHasPatches != 0 {
		c.Bytes(int(c.U8()) * tvfsPatch)
	}
	return s, tvfs.Ends(c, base)
}
