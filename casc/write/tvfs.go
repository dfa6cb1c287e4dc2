package write

import (
	"encoding/binary"
	"slices"
	"strings"

	"lorefs/casc"
)

// TVFS writes a manifest of a virtual file system with content keys, for files
// with names and spans.
func TVFS(files []casc.File) []byte {
	w := &tvfsWriter{}
	// The tables' sizes decide how long offsets are, so they are written twice: the
	// first time with offsets of four bytes.
	w.write(files, 1<<24)
	w.write(files, len(w.containers))
	be := binary.BigEndian
	b := append([]byte("TVFS"), 1, 38, 9, 9)
	b = be.AppendUint32(b, 1)
	off := 38
	for _, t := range [][]byte{w.path, w.vfs, w.containers} {
		b = be.AppendUint32(be.AppendUint32(b, uint32(off)), uint32(len(t)))
		off += len(t)
	}
	b = be.AppendUint16(b, 8)
	return slices.Concat(b, w.path, w.vfs, w.containers)
}

type tvfsWriter struct {
	path, vfs, containers []byte
	offsetSize            int
}

func (w *tvfsWriter) write(files []casc.File, containers int) {
	*w = tvfsWriter{offsetSize: 1}
	for limit := 0xFF; containers > limit && w.offsetSize < 4; limit = limit<<8 | 0xFF {
		w.offsetSize++
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b casc.File) int { return strings.Compare(a.Name, b.Name) })
	w.path = w.folder(files, 0)
}

// folder writes the nodes of files whose names agree in their first n bytes.
func (w *tvfsWriter) folder(files []casc.File, n int) (b []byte) {
	for len(files) > 0 {
		name := files[0].Name[n:]
		part, _, deeper := strings.Cut(name, "/")
		if !deeper {
			b = append(append(b, byte(len(part))), part...)
			b = binary.BigEndian.AppendUint32(append(b, 0xFF), w.spans(files[0].Spans))
			files = files[1:]
			continue
		}
		same := slices.IndexFunc(files, func(f casc.File) bool { return !strings.HasPrefix(f.Name[n:], part+"/") })
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

func (w *tvfsWriter) spans(spans []casc.Span) uint32 {
	off := uint32(len(w.vfs))
	be := binary.BigEndian
	w.vfs = append(w.vfs, byte(len(spans)))
	for _, s := range spans {
		w.vfs = be.AppendUint32(be.AppendUint32(w.vfs, uint32(s.Off)), uint32(s.Size))
		var at [4]byte
		be.PutUint32(at[:], uint32(len(w.containers)))
		w.vfs = append(w.vfs, at[4-w.offsetSize:]...)
		w.containers = append(w.containers, s.EKey[:9]...)
		w.containers = be.AppendUint32(be.AppendUint32(w.containers, 0), uint32(s.ContentSize))
		w.containers = append(w.containers, s.CKey[:]...)
	}
	return off
}
