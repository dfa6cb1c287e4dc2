package blte

import (
	"bytes"
	"crypto/md5"
)

const (
	// MaxChunk is the largest decoded chunk that is read, in bytes.
	MaxChunk = 1 << 30
	// maxDepth bounds files in files and encrypted chunks in encrypted chunks.
	maxDepth = 4
)

// The modes of a chunk.
const (
	ModePlain     = 'N'
	ModeZlib      = 'Z'
	ModeLZ4       = '4'
	ModeFrame     = 'F'
	ModeEncrypted = 'E'
)

// decoder decodes the chunks of one file.
type decoder struct {
	keys  Keys
	depth int
	// proven says that the chunks have the MD5s of the table.
	proven bool
}

// decode returns the content of a chunk. It must have size bytes, or any number if size is
// -1. The content may share memory with chunk.
func (d decoder) decode(chunk []byte, index int, size int64) ([]byte, error) {
	if d.depth > maxDepth {
		return nil, badChunk("nested deeper than %d times", maxDepth)
	}
	if len(chunk) == 0 {
		return nil, badChunk("no mode")
	}
	if size > MaxChunk {
		return nil, badChunk("%d bytes decoded, more than the %d that are supported", size, MaxChunk)
	}
	var content []byte
	var err error
	switch data := chunk[1:]; chunk[0] {
	case ModePlain:
		content = data
	case ModeZlib:
		content, err = decodeZlib(data, size)
	case ModeLZ4:
		content, err = decodeLZ4(data, size)
	case ModeFrame:
		content, err = d.decodeFrame(data, size)
	case ModeEncrypted:
		content, err = d.decodeEncrypted(data, index, size)
	default:
		return nil, badChunk("unknown mode %q", chunk[0])
	}
	if err != nil {
		return nil, err
	}
	if size >= 0 && int64(len(content)) != size {
		return nil, badChunk("mode %c: %d bytes decoded, %d stated", chunk[0], len(content), size)
	}
	return content, nil
}

// decodeFrame decodes a file in a chunk.
func (d decoder) decodeFrame(data []byte, size int64) ([]byte, error) {
	src := bytes.NewReader(data)
	h, err := ReadHeader(src, int64(len(data)))
	if err != nil {
		return nil, &errFormat{what: "mode F", err: err}
	}
	if size >= 0 && h.DecodedSize >= 0 && h.DecodedSize != size {
		return nil, badChunk("mode F: %d bytes in the file inside, %d stated", h.DecodedSize, size)
	}
	inner := decoder{keys: d.keys, depth: d.depth + 1}
	if !h.Table {
		return inner.decode(data[h.Size:], 0, size)
	}
	if h.DecodedSize > MaxChunk {
		return nil, badChunk("mode F: %d bytes decoded, more than the %d that are supported", h.DecodedSize, MaxChunk)
	}
	content := []byte{} // nil would say that the chunk was not loaded
	for i := range h.Chunks {
		c := &h.Chunks[i]
		part, err := inner.decodeSummed(data[c.Off:c.Off+c.EncodedSize], i, h)
		if err != nil {
			return nil, &errFormat{what: "mode F: chunk inside", err: err}
		}
		content = append(content, part...)
	}
	return content, nil
}

// decodeSummed decodes chunk i of a file, and checks its sums if it has any.
func (d decoder) decodeSummed(chunk []byte, i int, h *Header) ([]byte, error) {
	c := &h.Chunks[i]
	if h.Table && !d.proven {
		if sum := md5.Sum(chunk); sum != c.Sum {
			return nil, badChunk("the MD5 is %x, the table has %x", sum, c.Sum)
		}
	}
	content, err := d.decode(chunk, i, c.DecodedSize)
	if err != nil {
		return nil, err
	}
	if h.Long {
		if sum := md5.Sum(content); sum != c.DecodedSum {
			return nil, badChunk("the MD5 of the content is %x, the table has %x", sum, c.DecodedSum)
		}
	}
	return content, nil
}
