package datacenter

import (
	"context"
	"crypto/aes"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"

	"lorefs/internal/cfb"
)

// maxSize is what uncompressed_size can state.
const maxSize = 1<<32 - 1

// deflateBlock is how much is compressed at a time of what comes in pieces.
const deflateBlock = 1 << 20

// zlibHeader is what the tools that are picky about it accept.
var zlibHeader = [2]byte{0x78, 0x9c}

// lastBlock is an empty deflate block that is the last one: of the three kinds
// the one with fixed codes, which begin with its end (RFC 1951, 3.2.6).
var lastBlock = [2]byte{0x03, 0x00}

// sealer writes a file: the compression header and the zlib stream, encrypted.
// The stream is put together of blocks that are compressed on all cores.
type sealer struct {
	ctx     context.Context
	deflate *deflater
	w       *cfb.Writer
	// queue are blocks under way, in the order in which they are written.
	queue []*deflated
	piece []byte // of the next block
	size  int64  // of what is written, not compressed
	sum   uint32 // Adler-32 of that
}

// newSealer begins a file whose inflated data has size bytes.
func newSealer(ctx context.Context, w io.Writer, d *deflater, opts WriteOptions, size int64) (*sealer, error) {
	if size > maxSize {
		return nil, fmt.Errorf("datacenter: %d bytes: %w", size, ErrTooLarge)
	}
	block, err := aes.NewCipher(opts.Key.Key[:])
	if err != nil {
		return nil, err
	}
	s := &sealer{ctx: ctx, deflate: d, w: cfb.NewWriter(w, block, opts.Key.IV), sum: emptyAdler}
	head := binary.LittleEndian.AppendUint32(nil, uint32(size))
	_, err = s.w.Write(append(head, zlibHeader[:]...))
	return s, err
}

// Write is [io.Writer]. Its pieces are gathered until they are a block.
func (s *sealer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if s.piece == nil {
			s.piece = make([]byte, 0, deflateBlock)
		}
		k := min(len(p), deflateBlock-len(s.piece))
		s.piece = append(s.piece, p[:k]...)
		p = p[k:]
		if len(s.piece) == deflateBlock {
			if err := s.flush(); err != nil {
				return n - len(p), err
			}
		}
	}
	return n, nil
}

// flush makes a block of the pieces that were gathered.
func (s *sealer) flush() error {
	if len(s.piece) == 0 {
		return nil
	}
	piece := s.piece
	s.piece = nil
	return s.enqueue(s.deflate.start(func(w io.Writer) error {
		_, err := w.Write(piece)
		return err
	}))
}

// block adds a block that is being compressed.
func (s *sealer) block(b *deflated) error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.enqueue(b)
}

// enqueue writes the foremost block when enough are under way.
func (s *sealer) enqueue(b *deflated) error {
	s.queue = append(s.queue, b)
	if len(s.queue) <= 2*runtime.GOMAXPROCS(0) {
		return nil
	}
	return s.next()
}

// next writes the foremost block.
func (s *sealer) next() error {
	b := s.queue[0]
	s.queue = s.queue[1:]
	select {
	case <-b.done:
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	if b.err != nil {
		return b.err
	}
	s.sum = joinAdler(s.sum, b.sum, b.size)
	s.size += b.size
	_, err := s.w.Write(b.data)
	b.data = nil // it is the largest part of what is in memory only now
	return err
}

// close writes what is left, and the end of the stream.
func (s *sealer) close() error {
	if err := s.flush(); err != nil {
		return err
	}
	for len(s.queue) > 0 {
		if err := s.next(); err != nil {
			return err
		}
	}
	end := append([]byte(nil), lastBlock[:]...)
	_, err := s.w.Write(binary.BigEndian.AppendUint32(end, s.sum))
	return err
}

// emptyAdler is the Adler-32 of no bytes.
const emptyAdler = 1

// joinAdler gives the Adler-32 of data in two parts, whose sums are x and y, the
// second being n bytes long. Its two halves are a sum of bytes, which begins
// with 1, and the sum of all values that the first one had (RFC 1950, 8.2).
func joinAdler(x, y uint32, n int64) uint32 {
	const mod = 65521
	// Behind the first part the first sum goes on from x's instead of 1: it is
	// more by that, at each of the n bytes.
	more := uint64(x&0xffff) + mod - 1
	first := (uint64(y&0xffff) + more) % mod
	second := (uint64(x>>16) + uint64(y>>16) + uint64(n%mod)*more) % mod
	return uint32(second<<16 | first)
}
