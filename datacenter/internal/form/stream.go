package form

import (
	"encoding/binary"
	"io"
)

// stream is the inflated data, as the first pass produces it, for one reader that only
// moves forward. It holds one block at a time.
type stream struct {
	blocks <-chan *passing
	size   int64 // of the whole data

	now     *passing // the current block
	cur     []byte   // the rest of it
	passed  int64    // bytes of the blocks up to and including the current one
	scratch [64]byte
}

// off returns the offset of the next byte.
func (s *stream) off() int64 { return s.passed - int64(len(s.cur)) }

// fill gets the next block when the current one is used up.
func (s *stream) fill() error {
	for len(s.cur) == 0 {
		s.drop()
		b, ok := <-s.blocks
		if !ok {
			return &FormatError{Off: s.passed, What: "the data ends here", Err: io.ErrUnexpectedEOF}
		}
		s.now, s.cur = b, b.data
		s.passed += int64(len(b.data))
	}
	return nil
}

// drop lets go of the current block.
func (s *stream) drop() {
	if s.now != nil {
		s.now.release()
	}
	s.now, s.cur = nil, nil
}

// next returns the next n bytes, at most len(s.scratch). They are valid until the next
// call of any method.
func (s *stream) next(n int) ([]byte, error) {
	if n <= len(s.cur) {
		b := s.cur[:n]
		s.cur = s.cur[n:]
		return b, nil
	}
	b := s.scratch[:0]
	for len(b) < n {
		if err := s.fill(); err != nil {
			return nil, err
		}
		k := min(n-len(b), len(s.cur))
		b = append(b, s.cur[:k]...)
		s.cur = s.cur[k:]
	}
	return b, nil
}

func (s *stream) u32() (uint32, error) {
	b, err := s.next(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (s *stream) skip(n int64) error {
	if left := s.size - s.off(); n > left {
		return &FormatError{
			Off:  s.off(),
			What: "the data ends before what is announced here does", Err: io.ErrUnexpectedEOF,
		}
	}
	for n > 0 {
		if err := s.fill(); err != nil {
			return err
		}
		k := min(n, int64(len(s.cur)))
		s.cur = s.cur[k:]
		n -= k
	}
	return nil
}

// each passes count elements of size bytes to visit, in pieces that lie within one block;
// first is the number of the first element in b.
func (s *stream) each(count, size int, visit func(first int, b []byte)) error {
	for first := 0; first < count; {
		k := min(len(s.cur)/size, count-first)
		if k == 0 { // the element straddles a block's end
			b, err := s.next(size)
			if err != nil {
				return err
			}
			visit(first, b)
			first++
			continue
		}
		visit(first, s.cur[:k*size])
		s.cur = s.cur[k*size:]
		first += k
	}
	return nil
}

// drain reads to the end, so that no sender blocks.
func (s *stream) drain() {
	s.drop()
	for b := range s.blocks {
		b.release()
	}
}
