package write

import (
	"encoding/binary"
	"slices"
	"strings"

	"lorefs/casc/root"
)

// The flags of a TVFS manifest, as tvfs.Root has them.
const (
	TVFSCKeys     = 1
	TVFSSpecs     = 2
	TVFSPatches   = 4
	TVFSLowerCase = 8
)

// TVFS writes a manifest of a virtual file system with content keys.
func TVFS(files []root.File) []byte { return TVFSOf(TVFSCKeys, files) }

// TVFSOf writes a manifest with flags. With specs or patches each encoded file has a spec,
// and with patches one patch. They are made up.
func TVFSOf(flags uint32, files []root.File) []byte {
	const specs = "n\x00z\x00"
	w := &tvfsWriter{flags: flags}
	// The sizes of the tables decide how long offsets are, so write them twice, first with
	// offsets of four bytes.
	w.write(files, 1<<24)
	w.write(files, len(w.containers))
	tables := [][]byte{w.path, w.vfs, w.containers}
	head := 38
	if w.hasSpecs() {
		tables, head = append(tables, []byte(specs)), 46
	}
	be := binary.BigEndian
	b := append([]byte("TVFS"), 1, byte(head), 9, 9)
	b = be.AppendUint32(b, flags)
	off := head
	for i, t := range tables {
		if i == 3 {
			b = be.AppendUint16(b, tvfsDepth)
		}
		b = be.AppendUint32(be.AppendUint32(b, uint32(off)), uint32(len(t)))
		off += len(t)
	}
	if len(tables) == 3 {
		b = be.AppendUint16(b, tvfsDepth)
	}
	return append(b, slices.Concat(tables...)...)
}

// tvfsDepth is the depth that the header states. Readers do not need it.
const tvfsDepth = 8

type tvfsWriter struct {
	flags                 uint32
	path, vfs, containers []byte
	offsetSize            int
}

func (w *tvfsWriter) hasSpecs() bool { return w.flags&(TVFSSpecs|TVFSPatches) != 0 }

func (w *tvfsWriter) write(files []root.File, containers int) {
	*w = tvfsWriter{flags: w.flags, offsetSize: 1}
	for limit := 0xFF; containers > limit && w.offsetSize < 4; limit = limit<<8 | 0xFF {
		w.offsetSize++
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b root.File) int { return strings.Compare(a.Name, b.Name) })
	w.path = w.folder(files, 0)
}

// folder writes the nodes of files whose names agree in their first n bytes.
func (w *tvfsWriter) folder(files []root.File, n int) (b []byte) {
	for len(files) > 0 {
		name := files[0].Name[n:]
		part, _, deeper := strings.Cut(name, "/")
		if !deeper {
			b = append(append(b, byte(len(part))), part...)
			b = binary.BigEndian.AppendUint32(append(b, 0xFF), w.spans(files[0].Spans))
			files = files[1:]
			continue
		}
		same := slices.IndexFunc(files, func(f root.File) bool { return !strings.HasPrefix(f.Name[n:], part+"/") })
		if same < 0 {
			same = len(files)
		}
		inside := w.folder(files[:same], n+len(part)+1)
		b = append(append(append(b, byte(len(part))), part...), 0)
		b = binary.BigEndian.AppendUint32(append(b, 0xFF), uint32(len(inside)+4)|1<<31)
		b = append(b, inside...)
		files = files[same:]
	}
	return b
}

func (w *tvfsWriter) spans(spans []root.Span) uint32 {
	off := uint32(len(w.vfs))
	be := binary.BigEndian
	w.vfs = append(w.vfs, byte(len(spans)))
	for _, s := range spans {
		w.vfs = be.AppendUint32(be.AppendUint32(w.vfs, uint32(s.Off)), uint32(s.Size))
		var at [4]byte
		be.PutUint32(at[:], uint32(len(w.containers)))
		w.vfs = append(w.vfs, at[4-w.offsetSize:]...)
		w.container(s)
	}
	return off
}

func (w *tvfsWriter) container(s root.Span) {
	const encodedSize, patch = 4, 27
	w.containers = append(append(w.containers, s.EKey[:9]...), make([]byte, encodedSize)...)
	if w.hasSpecs() {
		w.containers = append(w.containers, 2) // where in the specs
	}
	w.containers = binary.BigEndian.AppendUint32(w.containers, uint32(s.ContentSize))
	if w.flags&TVFSCKeys != 0 {
		w.containers = append(w.containers, s.CKey[:]...)
	}
	if w.flags&TVFSPatches != 0 {
		w.containers = append(append(w.containers, 1), make([]byte, patch)...)
	}
}
