package streamedit

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"

	"lorefs/internal/inflate"
)

// layOut puts the blocks behind each other.
func (p *Plan) layOut() {
	at := int64(0)
	for i, b := range p.s.Blocks[:p.s.count()] {
		p.first = append(p.first, len(p.Blocks))
		if p.anew[i] == nil {
			p.Blocks = append(p.Blocks, inflate.Block{Header: at, Out: p.m.cut(b.Out), Stored: b.Stored})
			at = p.keep(i, at)
		}
		for _, n := range p.anew[i] {
			p.Blocks = append(p.Blocks, inflate.Block{Header: at, Out: n.out, Stored: n.stored != nil})
			at = p.add(&n, at)
		}
	}
	p.Blocks = append(p.Blocks, inflate.Block{Header: at, Out: p.m.size})
}

// keep adds an old block at a bit offset, and returns the one behind it.
func (p *Plan) keep(i int, at int64) int64 {
	b, end := p.s.Blocks[i], p.s.Blocks[i+1].Header
	if !b.Stored || at&7 == b.Header&7 {
		p.piece(Piece{From: b.Header, N: end - b.Header})
		return at + end - b.Header
	}
	p.padded[i] = true
	p.piece(Piece{From: b.Header, N: headerBits})
	at = p.pad(at + headerBits)
	content := aligned(b.Header + headerBits)
	p.piece(Piece{From: content, N: end - content})
	return at + end - content
}

// add adds a new block at a bit offset, and returns the one behind it.
func (p *Plan) add(b *newBlock, at int64) int64 {
	for _, x := range b.patched {
		p.piece(x)
		at += x.N
	}
	if b.patched != nil {
		return at
	}
	if b.stored == nil {
		p.piece(Piece{Bits: b.bits, N: b.n})
		return at + b.n
	}
	header := byte(typeStored << 1)
	if b.final {
		header |= 1
	}
	p.piece(Piece{Bits: []byte{header}, N: headerBits})
	at = p.pad(at + headerBits)
	n := uint16(len(b.stored))
	content := append([]byte{byte(n), byte(n >> 8), ^byte(n), ^byte(n >> 8)}, b.stored...)
	p.piece(Piece{Bits: content, N: int64(len(content)) * 8})
	return at + int64(len(content))*8
}

// aligned returns the next byte boundary.
func aligned(bit int64) int64 { return (bit + 7) &^ 7 }

// pad adds zeros up to the next byte boundary, and returns it.
func (p *Plan) pad(at int64) int64 {
	p.piece(Piece{Bits: []byte{0}, N: aligned(at) - at})
	return aligned(at)
}

// piece adds a piece, or makes the last one longer.
func (p *Plan) piece(x Piece) {
	if n := len(p.Pieces); n > 0 && x.Bits == nil {
		if last := &p.Pieces[n-1]; last.Bits == nil && last.From+last.N == x.From {
			last.N += x.N
			return
		}
	}
	if x.N > 0 {
		p.Pieces = append(p.Pieces, x)
	}
}

// Point returns the checkpoint of the new stream for one of the old one. It is where the same
// data begins, without what is inserted there.
func (p *Plan) Point(old inflate.Point) (inflate.Point, error) {
	blocks := p.s.Blocks[:p.s.count()]
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].Header >= old.Header })
	if i == len(blocks) || blocks[i].Header != old.Header {
		return old, fmt.Errorf("splice: no block begins at bit %d", old.Header)
	}
	out := p.m.cut(old.Out)
	at := p.Blocks[p.first[i]].Header
	if p.anew[i] == nil {
		old.Out = out
		switch {
		case old.In == old.Header:
			old.In = at
		case blocks[i].Stored:
			old.In += aligned(at+headerBits) - aligned(old.Header+headerBits)
		default:
			old.In += at - old.Header
		}
		old.Header = at
		return old, nil
	}
	for j, b := range p.anew[i] {
		k := slices.IndexFunc(b.points, func(q inflate.Point) bool { return q.Out == out })
		if k < 0 {
			continue
		}
		q := b.points[k]
		q.Header = p.Blocks[p.first[i]+j].Header
		if b.stored != nil {
			q.In += aligned(q.Header+headerBits) + storedExtra
		} else {
			q.In += q.Header
		}
		return q, nil
	}
	return old, fmt.Errorf("splice: BUG: no checkpoint at %d", out)
}

// Size returns the size of the new data.
func (p *Plan) Size() int64 { return p.m.size }

// Untouched reports whether no edit changes data between two offsets or inserts some there.
func (p *Plan) Untouched(from, to int64) bool { return p.m.untouched(from, to) }

// Moves reports whether an edit that changes data between two offsets, or inserts some there, changes a
// length.
func (p *Plan) Moves(from, to int64) bool {
	m := p.m
	for n := m.begun(to); n > 0 && m.ended(n) >= from; n-- {
		if m.before[n] != m.before[n-1] {
			return true
		}
	}
	return false
}

// Anew returns the new blocks that were encoded or padded anew: in Blocks, from the first number on
// and before the second one.
func (p *Plan) Anew() iter.Seq2[int, int] {
	return func(yield func(first, next int) bool) {
		for i, first := range p.first {
			if (p.anew[i] != nil || p.padded[i]) && !yield(first, first+max(len(p.anew[i]), 1)) {
				return
			}
		}
	}
}

// Cut returns where data that is cut before the byte at off is cut after the edits.
func (p *Plan) Cut(off int64) int64 { return p.m.cut(off) }

// Data returns bytes of the new data. They are in buf if that has room.
func (p *Plan) Data(buf []byte, from, to int64) ([]byte, error) {
	return p.m.data(buf, from, to, p.s.Data)
}

// Former returns where data between two new offsets lay before the edits. ok is false if it did not lie
// there as it is now.
func (p *Plan) Former(from, to int64) (old int64, ok bool) { return p.m.former(from, to) }

// Parts yields the parts of the new data between two offsets.
func (p *Plan) Parts(from, to int64) iter.Seq[Part] { return p.m.parts(from, to) }

// joinSize is the number of bytes read and written at a time.
const joinSize = 256 << 10

// Kept returns the number of bytes with which both streams begin.
func (p *Plan) Kept() int64 {
	if first := p.Pieces[0]; first.Bits == nil && first.From == 0 {
		return first.N >> 3
	}
	return 0
}

// Write writes the new stream without its first bytes, of which skip, at most Kept, are left out.
// It adds zeros up to a byte boundary.
func (p *Plan) Write(w io.Writer, skip int64) error {
	j := &joiner{w: w, old: p.s.Deflate, size: p.s.Size}
	for i, x := range p.Pieces {
		if i == 0 {
			x.From += skip << 3
			x.N -= skip << 3
		}
		if err := j.piece(x); err != nil {
			return err
		}
	}
	j.bits.align()
	return j.flush()
}

// joiner puts pieces together.
type joiner struct {
	w    io.Writer
	old  io.ReaderAt
	size int64 // of old
	bits bitBuffer
	// in are old bytes from the offset at on. The next piece often lies in them as well.
	in []byte
	at int64
}

func (j *joiner) piece(x Piece) error {
	if x.Bits != nil {
		j.bits.copyBits(x.Bits, 0, x.N)
		return nil
	}
	for x.N > 0 {
		off := x.From >> 3
		n := min(x.N, joinSize*8-x.From&7)
		in, err := j.bytes(off, int((x.From&7+n+7)>>3))
		if err != nil {
			return err
		}
		j.bits.settle()
		at := j.bits.len()
		j.bits.copyBits(in, x.From&7, n)
		j.bits.settle()
		if !sameBits(in, x.From&7, j.bits.b, at, n&^7) {
			return fmt.Errorf("splice: BUG: bits at %d are not copied as they are", x.From)
		}
		x.From += n
		x.N -= n
		if len(j.bits.b) < joinSize {
			continue
		}
		if err := j.flush(); err != nil {
			return err
		}
	}
	return nil
}

// bytes returns n old bytes, at most joinSize, which are valid until the next call.
func (j *joiner) bytes(off int64, n int) ([]byte, error) {
	if off < j.at || off+int64(n) > j.at+int64(len(j.in)) {
		j.in = slices.Grow(j.in[:0], joinSize)[:min(joinSize, max(j.size-off, 0))]
		j.at = off
		k, err := j.old.ReadAt(j.in, off)
		if j.in = j.in[:k]; k < n {
			return nil, fmt.Errorf("splice: reading at byte %d: %w", off, cmp.Or(err, io.ErrUnexpectedEOF))
		}
	}
	return j.in[off-j.at:][:n], nil
}

// flush writes all whole bytes.
func (j *joiner) flush() error {
	j.bits.settle()
	_, err := j.w.Write(j.bits.b)
	j.bits.b = j.bits.b[:0]
	return err
}
