package streamedit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lorefs/internal/cores"
	"lorefs/internal/inflate"
)

// ErrTooMany says that more data has to be encoded anew than the caller wants, or a block that is too
// large for it.
var ErrTooMany = errors.New("splice: too many blocks are touched")

// maxBlock is the number of inflated bytes of the largest block that is read. Writers begin a new
// block much earlier, and all symbols of a block are held in memory.
const maxBlock = 16 << 20

// Edit replaces Len bytes at Off of the inflated data by New. In a list, edits are sorted by
// Off and do not overlap. Len may be 0, which inserts New before the byte at Off. New may be
// empty, which removes bytes. Off may be the end of the data. Of two edits at one Off, the
// first one must be an insertion, and comes first.
type Edit struct {
	Off, Len int64
	New      []byte
}

// Stream is edited.
type Stream struct {
	// Deflate is the deflate stream. Size is its length in bytes and may include what follows it.
	Deflate io.ReaderAt
	Size    int64
	// Blocks are all blocks. The last element is none: it has the ends of the stream, in bits, and
	// of the data.
	Blocks []inflate.Block
	// Data reads inflated data. It may be called by several goroutines.
	Data func(off int64, p []byte) error
}

// Plan says how the new stream is made.
type Plan struct {
	// Blocks are the new blocks, in the form of Stream's.
	Blocks []inflate.Block
	// Pieces are the parts of the new stream.
	Pieces []Piece
	// Touched is the number of old blocks that were encoded anew.
	Touched int

	s *Stream
	m *mapping
	// anew has the new blocks for an old one, none for a block that stays. padded are the stored
	// blocks that stay, but are padded anew.
	anew   [][]newBlock
	padded []bool
	// first has the number of the first new block of each old one.
	first []int
}

// Piece is a part of a new stream: N bits of Bits, or, if that is nil, of the old stream from
// the bit offset From on.
type Piece struct {
	From, N int64
	Bits    []byte
}

// Make plans a new stream. points are checkpoints of the old one that Plan.Point will be asked
// for. It fails with ErrTooMany if blocks of more than most bytes of data have to be encoded anew.
func Make(ctx context.Context, s *Stream, edits []Edit, points []inflate.Point, most int64) (*Plan, error) {
	if err := check(edits, s.size()); err != nil {
		return nil, err
	}
	edits, err := s.trim(ctx, edits)
	if err != nil {
		return nil, err
	}
	m := newMapping(edits, s.size())
	p := &Plan{s: s, m: m, anew: make([][]newBlock, s.count()), padded: make([]bool, s.count())}
	touched := p.touched()
	if p.sizeOf(touched) > most {
		return nil, ErrTooMany
	}
	if err := p.encode(ctx, touched, p.behind(touched), points); err != nil {
		return nil, err
	}
	var anew []int
	for i, blocks := range p.anew {
		if blocks != nil {
			anew = append(anew, i)
		}
	}
	if p.Touched = len(anew); p.sizeOf(anew) > most {
		return nil, ErrTooMany
	}
	p.layOut()
	return p, nil
}

// sizeOf returns how many bytes of data some old blocks have.
func (p *Plan) sizeOf(blocks []int) (n int64) {
	for _, i := range blocks {
		n += p.s.Blocks[i+1].Out - p.s.Blocks[i].Out
	}
	return n
}

// size returns the size of the data.
func (s *Stream) size() int64 { return s.Blocks[s.count()].Out }

// count returns the number of blocks.
func (s *Stream) count() int { return len(s.Blocks) - 1 }

// touched returns the blocks whose own data is edited. What is inserted between two blocks
// belongs to the second one, and what is appended to the last one.
func (p *Plan) touched() (list []int) {
	for _, e := range p.m.edits {
		// The first block that ends behind Off.
		i := sort.Search(p.s.count()-1, func(i int) bool { return p.s.Blocks[i+1].Out > e.Off })
		list = append(list, i)
		for i++; i < p.s.count() && p.s.Blocks[i].Out < e.Off+e.Len; i++ {
			list = append(list, i)
		}
	}
	return slices.Compact(list)
}

// behind returns the other blocks that may copy what was edited.
func (p *Plan) behind(touched []int) (list []int) {
	for _, e := range p.m.edits {
		end := e.Off + e.Len
		i := sort.Search(p.s.count(), func(i int) bool { return p.s.Blocks[i+1].Out > end })
		for ; i < p.s.count() && p.s.Blocks[i].Out < end+inflate.WindowSize; i++ {
			if len(list) > 0 && list[len(list)-1] >= i {
				continue
			}
			if _, ok := slices.BinarySearch(touched, i); !ok && !p.s.Blocks[i].Stored {
				list = append(list, i)
			}
		}
	}
	return list
}

// encode makes the new blocks, on all cores: for all that are touched, and for those behind them
// that are not right any more.
func (p *Plan) encode(ctx context.Context, touched, behind []int, points []inflate.Point) error {
	// In their order: neighbours need the same data, which a cache may hold for a while only.
	list := slices.Concat(touched, behind)
	slices.Sort(list)
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(cores.Count(), len(list)) {
		group.Go(func() error {
			e := &encoder{Plan: p, points: points, retokenizer: retokenizer{mapping: p.m}}
			e.dec = inflate.NewDecoder(p.s.Deflate, p.s.Size)
			for ctx.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= len(list) {
					return nil
				}
				if err := e.visit(list[k]); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// encoder encodes blocks anew, one after another.
type encoder struct {
	*Plan
	retokenizer
	points []inflate.Point // of the old stream
	dec    *inflate.Decoder
	old    []inflate.Token // scratch

	// Of the block that is patched, gaps are those that were found, litLen and dists are its own codes,
	// and last says whether it is the last one. Its data ends at to after the edits.
	gaps          []gap
	litLen, dists code
	last          bool
	to            int64
}

// visit makes the new blocks for old block i, if it is not right any more.
func (e *encoder) visit(i int) error {
	if b := e.s.Blocks[i:]; b[1].Out-b[0].Out > maxBlock {
		return ErrTooMany
	}
	if !e.s.Blocks[i].Stored {
		if done, err := e.patchBlock(i); done || err != nil {
			return err
		}
	}
	c, err := e.read(i)
	if err != nil {
		return err
	}
	return e.encodeBlock(i, c)
}

// read reads old block i.
func (e *encoder) read(i int) (inflate.Content, error) {
	b, next := e.s.Blocks[i], e.s.Blocks[i+1]
	e.dec.Expect(next.Header)
	c, err := e.dec.ReadTokens(b.Header, e.old[:0], int(next.Out-b.Out))
	if err != nil {
		return c, err
	}
	e.old = c.Tokens
	if int64(c.Size) != next.Out-b.Out || c.End != next.Header || c.Stored != b.Stored || c.Final != e.isLast(i) {
		return c, errOther(b)
	}
	return c, nil
}

// isLast reports whether old block i is the last one.
func (e *encoder) isLast(i int) bool { return i+1 == e.s.count() }

// errOther returns the error for an old block that is not as it is said to be.
func errOther(b inflate.Block) error {
	return fmt.Errorf("splice: the block at bit %d is not the one that was there", b.Header)
}

// encodeBlock makes the new blocks for old block i.
func (e *encoder) encodeBlock(i int, c inflate.Content) (err error) {
	u, end := e.s.Blocks[i].Out, e.s.Blocks[i+1].Out
	from, to := e.m.cut(u), e.newEndOf(i)
	if err := e.load(max(from-inflate.WindowSize, 0), to); err != nil {
		return err
	}
	wanted := e.wanted(i)
	if c.Stored {
		e.anew[i] = encodeStored(e.data[from-e.base:], from, c.Final, wanted)
		return nil
	}
	e.begin(u, end, from)
	if err := e.block(c.Tokens, c.Final); err != nil {
		return err
	}
	size := int64(0)
	for _, t := range e.tokens {
		size += int64(t.Len())
	}
	if size != to-from {
		return fmt.Errorf("splice: BUG: tokens for %d bytes instead of %d", size, to-from)
	}
	e.anew[i] = encodeTokens(e.tokens, from, c.Final, wanted)
	return nil
}

// newEndOf returns where the data of old block i ends after the edits.
func (e *encoder) newEndOf(i int) int64 {
	if e.isLast(i) {
		return e.m.size
	}
	return e.m.cut(e.s.Blocks[i+1].Out)
}

// load reads edited data.
func (e *encoder) load(from, to int64) (err error) {
	e.data, err = e.m.data(e.data[:0], from, to, e.s.Data)
	e.base = from
	return err
}

// wanted returns the new offsets of the checkpoints in block i.
func (e *encoder) wanted(i int) (list []int64) {
	for _, p := range e.pointsOf(i) {
		list = append(list, e.m.cut(p.Out))
	}
	return slices.Compact(list)
}

// pointsOf returns the checkpoints in old block i.
func (e *encoder) pointsOf(i int) []inflate.Point {
	at := func(header int64) int {
		return sort.Search(len(e.points), func(k int) bool { return e.points[k].Header >= header })
	}
	return e.points[at(e.s.Blocks[i].Header):at(e.s.Blocks[i+1].Header)]
}
