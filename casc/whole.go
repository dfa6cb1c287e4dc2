package casc

import (
	"context"
	"iter"

	"lorefs/blte"
	"lorefs/casc/keys"
	"lorefs/internal/readat"
)

// Whole is a file to be read as a whole: the beginning of its encoding key, and the size of its
// content.
type Whole struct {
	EKey keys.Short
	Size int64
}

// wholeBytes is how many bytes of encoded files are read before they are decoded.
const wholeBytes = 1 << 20

// ReadWhole yields the contents of small files, each with the file's place in the slice, faster
// than Open and ReadAt do for one after the other. No cache is asked or keeps them. A content is
// valid until yield returns. It leaves out what has to be opened to be read, or to know why
// it can't be: see [blte.DecodeWhole].
func (s *Storage) ReadWhole(ctx context.Context, files []Whole) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		buf := make([]byte, wholeBytes)
		for from := 0; from < len(files) && ctx.Err() == nil; {
			read, places, n := s.readEncoded(ctx, files[from:], buf)
			for i, content := range blte.DecodeWhole(read) {
				if !yield(from+places[i], content) {
					return
				}
			}
			from += n
		}
	}
}

// readEncoded reads encoded files as long as there is room in buf. It returns those that it could
// read with their places in files, and how many it has looked at.
func (s *Storage) readEncoded(ctx context.Context, files []Whole, buf []byte) (read []blte.Whole, places []int, n int) {
	for i := range files {
		f := &files[i]
		p, err := s.archives.Find(ctx, f.EKey[:])
		if err != nil || p.Size > wholeBytes {
			continue
		}
		if p.Size > int64(len(buf)) {
			return read, places, i
		}
		encoded := buf[:p.Size]
		if readat.Full(readat.Bound(ctx, p.ReaderAt), encoded, 0) == nil {
			read, places = append(read, blte.Whole{Encoded: encoded, Key: f.EKey[:], Size: f.Size}), append(places, i)
			buf = buf[p.Size:]
		}
	}
	return read, places, len(files)
}
