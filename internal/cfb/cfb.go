// Package cfb decrypts AES-CFB128 at any offset, and encrypts it forward.
//
// Each plain block is its cipher block XORed with the encryption of the cipher block before
// it (the IV for the first). So a read needs only the sixteen cipher bytes before it: NIST
// SP 800-38A, 6.3. The last block may be partial. The standard library's CFB only goes
// forward, is deprecated, and is slower. A cipher of package aes128 makes it faster.
package cfb

import (
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"io"

	"lorefs/internal/aes128"
	"lorefs/internal/readat"
)

// blockSize is the size of a cipher block, a key and an IV in bytes.
const blockSize = 16

// Reader is the plain text of a cipher text. It is safe for parallel use if the source and
// the block are.
type Reader struct {
	src   io.ReaderAt
	block cipher.Block
	iv    [blockSize]byte
}

// NewReader makes a Reader of src, whose offset 0 must be where the encryption began. It
// panics unless block has 128 bits.
func NewReader(src io.ReaderAt, block cipher.Block, iv [blockSize]byte) *Reader {
	if block.BlockSize() != blockSize {
		panic(fmt.Sprintf("cfb: BUG: cipher block of %d bytes", block.BlockSize()))
	}
	return &Reader{src: src, block: block, iv: iv}
}

// ReadAt implements [io.ReaderAt].
func (r *Reader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("cfb: negative offset %d", off)
	}
	n, err := r.src.ReadAt(p, off)
	if n == 0 {
		return 0, err
	}
	// before is the cipher text from the block before off's block up to off.
	lead := int(off % blockSize)
	var before [2 * blockSize]byte
	if berr := r.readBefore(before[:blockSize+lead], off-int64(lead)); berr != nil {
		return 0, berr
	}
	r.decrypt(p[:n], before[:blockSize+lead])
	return n, err
}

// Decrypt decrypts p in place. before is the cipher block before it.
func Decrypt(block cipher.Block, p []byte, before [blockSize]byte) {
	(&Reader{block: block}).decrypt(p, before[:])
}

// readBefore fills b with the cipher text from start-16 on. The IV takes the place of bytes
// before the beginning.
func (r *Reader) readBefore(b []byte, start int64) error {
	if start == 0 {
		copy(b, r.iv[:])
		b = b[blockSize:]
	} else {
		start -= blockSize
	}
	if len(b) == 0 {
		return nil
	}
	return readat.Full(r.src, b, start)
}

// decrypt decrypts p in place. It goes backwards, since each block needs the cipher text of
// the block before it.
func (r *Reader) decrypt(p, before []byte) {
	lead := len(before) - blockSize
	first := blockSize - lead // index in p of the second block's start
	var prev, stream [blockSize]byte
	if len(p) > first {
		last := first + (len(p)-first-1)/blockSize*blockSize
		many, ok := r.block.(*aes128.Blocks)
		for i := last; i >= blockSize; i -= blockSize {
			r.block.Encrypt(stream[:], p[i-blockSize:i])
			xor(p[i:min(i+blockSize, len(p))], &stream)
			if ok {
				i -= many.XORBefore(p[first%blockSize:i]) * blockSize
			}
		}
		if first < blockSize { // the block before it straddles off
			copy(prev[:], before[blockSize:])
			copy(prev[lead:], p[:first])
			r.block.Encrypt(stream[:], prev[:])
			xor(p[first:min(first+blockSize, len(p))], &stream)
		}
	}
	r.block.Encrypt(stream[:], before[:blockSize])
	for i := range p[:min(first, len(p))] {
		p[i] ^= stream[lead+i]
	}
}

func xor(p []byte, stream *[blockSize]byte) {
	if len(p) == blockSize {
		lo := binary.LittleEndian.Uint64(p) ^ binary.LittleEndian.Uint64(stream[:])
		hi := binary.LittleEndian.Uint64(p[8:]) ^ binary.LittleEndian.Uint64(stream[8:])
		binary.LittleEndian.PutUint64(p, lo)
		binary.LittleEndian.PutUint64(p[8:], hi)
		return
	}
	for i := range p {
		p[i] ^= stream[i]
	}
}

// Writer encrypts what is written to it. It is not safe for parallel use.
type Writer struct {
	dst   io.Writer
	block cipher.Block
	// prev collects cipher text; when it is complete it makes the next stream. stream is
	// XORed with plain text, and is used up to used.
	prev, stream [blockSize]byte
	used         int
	buf          []byte
	err          error
}

// NewWriter makes a Writer to dst. It panics unless block has 128 bits.
func NewWriter(dst io.Writer, block cipher.Block, iv [blockSize]byte) *Writer {
	if block.BlockSize() != blockSize {
		panic(fmt.Sprintf("cfb: BUG: cipher block of %d bytes", block.BlockSize()))
	}
	return &Writer{dst: dst, block: block, prev: iv}
}

// Write implements [io.Writer]. An error is final.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.buf = append(w.buf[:0], p...)
	for b := w.buf; len(b) > 0; {
		if w.used == 0 {
			if many, ok := w.block.(*aes128.Blocks); ok && len(b) >= blockSize {
				many.Chain(b, &w.prev)
				b = b[len(b)/blockSize*blockSize:]
				continue
			}
			w.block.Encrypt(w.stream[:], w.prev[:])
		}
		n := min(len(b), blockSize-w.used)
		if n == blockSize {
			xor(b[:n], &w.stream)
		} else {
			for i := range b[:n] {
				b[i] ^= w.stream[w.used+i]
			}
		}
		copy(w.prev[w.used:], b[:n])
		w.used = (w.used + n) % blockSize
		b = b[n:]
	}
	if _, w.err = w.dst.Write(w.buf); w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}
