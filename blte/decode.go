package blte

import (
	"bytes"
	"crypto/md5"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
)

const (
	// MaxChunk is the largest decoded chunk that is read, in bytes.
	MaxChunk = 1 << 30
	// maxDepth bounds files in files and encrypted chunks in encrypted chunks.
	maxDepth = 4
	// inflateRatio is the most that one byte of deflate can become.
	inflateRatio = 1032
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
}

// decode gives the content of a chunk, which is size bytes, or any number if size
// is -1. The content may share memory with chunk.
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
		content, err = inflate(data, size)
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

// zlibReaders keeps readers, for one is 40 KB.
var zlibReaders sync.Pool

func zlibReader(data []byte) (io.ReadCloser, error) {
	r, _ := zlibReaders.Get().(io.ReadCloser)
	if r == nil {
		return zlib.NewReader(bytes.NewReader(data))
	}
	return r, r.(zlib.Resetter).Reset(bytes.NewReader(data), nil)
}

// inflate reads a zlib stream that must be size bytes, or any number if -1.
func inflate(data []byte, size int64) ([]byte, error) {
	if size > int64(len(data))*inflateRatio {
		return nil, badChunk("mode Z: %d bytes can't become the stated %d", len(data), size)
	}
	r, err := zlibReader(data)
	if err != nil {
		return nil, &errFormat{what: "mode Z", err: noEOF(err)}
	}
	content, err := inflateAll(r, len(data), size)
	if err != nil {
		return nil, err
	}
	zlibReaders.Put(r)
	return content, nil
}

func inflateAll(r io.Reader, encoded int, size int64) ([]byte, error) {
	if size < 0 {
		limit := min(int64(encoded)*inflateRatio, MaxChunk)
		content, err := io.ReadAll(io.LimitReader(r, limit+1))
		if err != nil {
			return nil, &errFormat{what: "mode Z", err: noEOF(err)}
		}
		if int64(len(content)) > limit {
			return nil, badChunk("mode Z: more than %d bytes decoded", limit)
		}
		return content, nil
	}
	// One byte more than stated, to see the end and the checksum behind it.
	content := make([]byte, size+1)
	n, err := io.ReadFull(r, content)
	switch {
	case err == nil:
		return nil, badChunk("mode Z: more than the stated %d bytes decoded", size)
	case err != io.ErrUnexpectedEOF && err != io.EOF:
		return nil, &errFormat{what: "mode Z", err: err}
	}
	// Both ends look alike here: of the stream as it should, or of its input.
	if _, err := r.Read(content[n:]); err != io.EOF {
		return nil, &errFormat{what: "mode Z", err: err}
	}
	return content[:n], nil
}

// noEOF makes an end where none should be an unexpected one.
func noEOF(err error) error {
	if err == io.EOF { //nolint:errorlint // compress gives it bare
		return io.ErrUnexpectedEOF
	}
	return err
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
	var content []byte
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
	if h.Table {
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
