package blte

import (
	"bytes"
	"crypto/md5"
	"iter"
)

// Whole is an encoded file that lies in memory.
type Whole struct {
	Encoded []byte
	// Key is the file's encoding key or its first bytes.
	Key []byte
	// Size is the size of the content.
	Size int64
}

// DecodeWhole yields the contents of files, each with the file's place in the slice. A content
// is valid until yield returns, and may share memory with the encoded file.
//
// It is for small files that are read once, and leaves out those that need more than their
// bytes, such as an encryption key, and those that are damaged. A [Reader] reads the former and
// says what is wrong with the latter.
func DecodeWhole(files []Whole) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		var d wholeDecoder
		for i := range files {
			h := files[i].check()
			if h == nil {
				continue
			}
			if content, ok := d.decode(&files[i], h); ok && !yield(i, content) {
				return
			}
		}
	}
}

type wholeDecoder struct {
	// content has room for one file.
	content []byte
}

// check returns the header of a file that has the bytes and the size that it should have, nil for another.
func (f *Whole) check() *Header {
	h, err := ReadHeader(bytes.NewReader(f.Encoded), int64(len(f.Encoded)))
	if err != nil || !h.Table || h.Long || h.DecodedSize != f.Size || !hasPrefix(h.Key, f.Key) {
		return nil
	}
	for i := range h.Chunks {
		if c := &h.Chunks[i]; md5.Sum(f.chunk(c)) != c.Sum {
			return nil
		}
	}
	return h
}

func (f *Whole) chunk(c *ChunkInfo) []byte { return f.Encoded[c.Off:][:c.EncodedSize] }

// decode decodes a file whose chunks are as the table says.
func (d *wholeDecoder) decode(f *Whole, h *Header) (content []byte, ok bool) {
	if c := &h.Chunks[0]; len(h.Chunks) == 1 && f.chunk(c)[0] == ModePlain {
		content = f.chunk(c)[1:]
		return content, int64(len(content)) == f.Size
	}
	for i := range h.Chunks {
		c := &h.Chunks[i]
		if checkInflated(c.DecodedSize, int(c.EncodedSize)) != nil {
			return nil, false
		}
	}
	content = d.room(f.Size)
	for i := range h.Chunks {
		c := &h.Chunks[i]
		if !decodeInto(content[c.DecodedOff:][:c.DecodedSize], f.chunk(c)) {
			return nil, false
		}
	}
	return content, true
}

// room returns memory for a content.
func (d *wholeDecoder) room(size int64) []byte {
	if size > maxPooled {
		return make([]byte, size)
	}
	if int64(len(d.content)) < size {
		d.content = make([]byte, size)
	}
	return d.content[:size]
}

// decodeInto decodes a chunk that needs nothing but its bytes, and reports whether it fills
// content.
func decodeInto(content, chunk []byte) bool {
	n := 0
	switch data := chunk[1:]; chunk[0] {
	case ModePlain:
		if n = len(data); n == len(content) {
			copy(content, data)
		}
	case ModeZlib:
		decoded, err := decodeZlibInto(content, data)
		if n = len(decoded); err != nil {
			return false
		}
	default:
		return false
	}
	return n == len(content)
}
