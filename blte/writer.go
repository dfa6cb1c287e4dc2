package blte

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/pierrec/lz4/v4"
)

// Chunk is content and the way to encode it.
type Chunk struct {
	// Content is at most MaxChunk bytes.
	Content []byte
	// Mode is ModePlain, ModeZlib or ModeLZ4. Default: ModePlain.
	Mode byte
	// LZ4Blocks makes ModeLZ4 write the layout of blocks. Default: one block.
	LZ4Blocks bool
	// Encrypt encrypts the encoded chunk, with Key. Default: it is not encrypted.
	Encrypt *Encryption
	Key     EncryptionKey
}

// WriteOptions are the options of Append. The zero value is right.
type WriteOptions struct {
	// NoTable writes one chunk without table.
	NoTable bool
	// Long writes entries with the MD5 of the decoded chunk.
	Long bool
}

// Append encodes chunks, at least one, as a file and appends it to dst.
func Append(dst []byte, chunks []Chunk, opts WriteOptions) ([]byte, error) {
	if opts.NoTable {
		return appendNoTable(dst, chunks)
	}
	if len(chunks) == 0 || len(chunks) > maxChunks {
		return nil, fmt.Errorf("blte: a table of %d chunks, it holds 1 to %d", len(chunks), maxChunks)
	}
	infos := make([]ChunkInfo, len(chunks))
	var body []byte
	for i := range chunks {
		from := len(body)
		var err error
		if body, err = chunks[i].append(body, i); err != nil {
			return nil, err
		}
		infos[i] = ChunkInfo{
			EncodedSize: int64(len(body) - from), DecodedSize: int64(len(chunks[i].Content)),
			Sum:        md5.Sum(body[from:]),
			DecodedSum: md5.Sum(chunks[i].Content),
		}
	}
	return append(appendHeader(dst, infos, opts.Long), body...), nil
}

func appendNoTable(dst []byte, chunks []Chunk) ([]byte, error) {
	if len(chunks) != 1 {
		return nil, fmt.Errorf("blte: a file without table has one chunk, not %d", len(chunks))
	}
	return chunks[0].append(append(dst, noTable...), 0)
}

// FileKey returns the encoding key of an encoded file.
func FileKey(file []byte) (MD5, error) {
	h, err := ReadHeader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return MD5{}, err
	}
	if !h.Table {
		return md5.Sum(file), nil
	}
	return h.Key, nil
}

// append encodes the chunk, the file's chunk number index.
func (c *Chunk) append(dst []byte, index int) ([]byte, error) {
	if len(c.Content) > MaxChunk {
		return nil, fmt.Errorf("blte: a chunk of %d bytes, more than %d", len(c.Content), MaxChunk)
	}
	encoded, err := c.encode(nil)
	if err != nil || c.Encrypt == nil {
		return append(dst, encoded...), err
	}
	if n := len(c.Encrypt.IV); n != 4 && n != 8 {
		return nil, fmt.Errorf("blte: an IV of %d bytes, it has 4 or 8", n)
	}
	dst = c.Encrypt.appendHeader(append(dst, ModeEncrypted))
	if err := c.Encrypt.xor(encoded, encoded, c.Key, index); err != nil {
		return nil, fmt.Errorf("blte: %w", err)
	}
	return append(dst, encoded...), nil
}

func (c *Chunk) encode(dst []byte) ([]byte, error) {
	switch c.Mode {
	case 0, ModePlain:
		return append(append(dst, ModePlain), c.Content...), nil
	case ModeZlib:
		return appendZlib(append(dst, ModeZlib), c.Content)
	case ModeLZ4:
		return c.appendLZ4(append(dst, ModeLZ4))
	}
	return nil, fmt.Errorf("blte: mode %q can't be written", c.Mode)
}

// zlibWriters are used again, for making one takes longer than to compress a small chunk.
var zlibWriters = sync.Pool{New: func() any { return zlib.NewWriter(nil) }}

func appendZlib(dst, content []byte) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	w := zlibWriters.Get().(*zlib.Writer)
	w.Reset(buf)
	defer func() {
		w.Reset(nil) // it must not keep what it has written
		zlibWriters.Put(w)
	}()
	_, err := w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("blte: %w", err)
	}
	return buf.Bytes(), nil
}

// lz4Shift is the block size of the layout of blocks, when it is written.
const lz4Shift = 16

func (c *Chunk) appendLZ4(dst []byte) ([]byte, error) {
	if !c.LZ4Blocks {
		return appendLZ4Block(binary.LittleEndian.AppendUint64(dst, uint64(len(c.Content))), c.Content)
	}
	dst = append(dst, lz4Version)
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(c.Content)))
	dst = append(dst, lz4Shift)
	for rest := c.Content; len(rest) > 0; {
		block := rest[:min(len(rest), 1<<lz4Shift)]
		rest = rest[len(block):]
		var err error
		if dst, err = appendLZ4Block(dst, block); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func appendLZ4Block(dst, content []byte) ([]byte, error) {
	from := len(dst)
	dst = append(dst, make([]byte, lz4.CompressBlockBound(len(content)))...)
	n, err := lz4.CompressBlock(content, dst[from:], nil)
	if err != nil {
		return nil, fmt.Errorf("blte: %w", err)
	}
	return dst[:from+n], nil
}
