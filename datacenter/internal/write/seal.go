package write

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"lorefs/datacenter/internal/form"
	"lorefs/internal/aes128"
	"lorefs/internal/cfb"
	"lorefs/internal/cores"
)

// deflateBlock is the size of the blocks in which small pieces are compressed.
const deflateBlock = 1 << 20

// zlibHeader is the header that all tools accept, even the strict ones.
var zlibHeader = [2]byte{0x78, 0x9c}

// lastBlock is an empty last deflate block. It uses fixed codes, where the end of the block
// is the first code (RFC 1951, 3.2.6).
var lastBlock = [2]byte{0x03, 0x00}

// sealer writes a file: the compression header and the zlib stream, encrypted. The stream
// consists of blocks that are compressed on all cores.
type sealer struct {
	ctx     context.Context
	deflate *deflater
	w       *cfb.Writer
	// queue has the blocks that are being compressed, in the order in which they are
	// written.
	queue []*deflated
	piece []byte // the start of the next block, at most room bytes
	room  int    // less than deflateBlock for a small file
	size  int64  // of the written data, uncompressed
	sum   uint32 // Adler-32 of that data
}

// newSealer starts a file whose inflated data has size bytes.
func newSealer(ctx context.Context, w io.Writer, d *deflater, opts Options, size int64) (*sealer, error) {
	if size > form.MaxSize {
		return nil, fmt.Errorf("datacenter: %d bytes: %w", size, form.ErrTooLarge)
	}
	block, err := aes128.New(opts.Key.Key)
	if err != nil {
		return nil, err
	}
	s := &sealer{ctx: ctx, deflate: d, w: cfb.NewWriter(w, block, opts.Key.IV), sum: form.EmptyAdler}
	s.room = int(min(max(size, 1), deflateBlock))
	head := binary.LittleEndian.AppendUint32(nil, uint32(size))
	_, err = s.w.Write(append(head, zlibHeader[:]...))
	return s, err
}

// Write implements [io.Writer]. It gathers small pieces into blocks.
func (s *sealer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if s.piece == nil {
			s.piece = make([]byte, 0, s.room)
		}
		k := min(len(p), s.room-len(s.piece))
		s.piece = append(s.piece, p[:k]...)
		p = p[k:]
		if len(s.piece) == s.room {
			if err := s.flush(); err != nil {
				return n - len(p), err
			}
		}
	}
	return n, nil
}

// flush makes a block of the gathered pieces.
func (s *sealer) flush() error {
	if len(s.piece) == 0 {
		return nil
	}
	piece := s.piece
	s.piece = nil
	return s.enqueue(s.deflate.startBytes(s.deflate.level, piece))
}

// segments implements [imageTarget]. They are being compressed.
func (s *sealer) segments(of *segmentStore) error { return s.blocks(of.blocks) }

// table implements [imageTarget].
func (s *sealer) table(t writtenTable) error {
	if _, err := s.Write(t.content); err != nil {
		return err
	}
	return s.blocks(t.blocks)
}

// blocks adds blocks that are being compressed.
func (s *sealer) blocks(blocks []*deflated) error {
	if len(blocks) == 0 {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	for _, b := range blocks {
		if err := s.enqueue(b); err != nil {
			return err
		}
	}
	return nil
}

// enqueue adds a block. If enough blocks are in the queue, it writes the first one.
func (s *sealer) enqueue(b *deflated) error {
	s.queue = append(s.queue, b)
	if len(s.queue) <= 2*cores.Count() {
		return nil
	}
	return s.next()
}

// next writes the first block of the queue.
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
	s.sum = form.JoinAdler(s.sum, b.sum, b.size)
	s.size += b.size
	_, err := s.w.Write(b.data)
	b.data = nil // frees the largest part of the block's memory
	return err
}

// close writes the remaining blocks and the end of the stream.
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
