package form

import (
	"cmp"
	"encoding/binary"
	"slices"

	"lorefs/internal/inflate"
)

const (
	// defaultBlockSize is the number of bytes inflated at a time, and the distance between
	// checkpoints. Splicing moves checkpoints, so blocks of a spliced file differ in size.
	defaultBlockSize = 1 << 20

	// MaxBlockSize bounds the blocks of a spliced file.
	MaxBlockSize = 4 * defaultBlockSize

	// WindowSize is how far back a block may refer to what was inflated before it.
	WindowSize = inflate.WindowSize

	// maxDeflateBlocks is the number of deflate blocks that are remembered: real files have
	// some thousands. A file that has more can't be spliced.
	maxDeflateBlocks = 1 << 17

	// nearShift is the distance of the places in checkpoints.near, as a power of two.
	nearShift = 16
)

// Checkpoints are the places where blocks begin, at which inflating can begin unless they are bare, and what
// is known of the stream.
type Checkpoints struct {
	Points []inflate.Point // of ascending Out, from 0 on
	// bare is set if blocks do not begin with the history that inflating them needs, because none is
	// inflated.
	bare bool
	// Adlers are the Adler-32 of each block: together they are that of the stream, and each says
	// whether a block that is inflated again is still the same.
	Adlers []uint32
	// Windows holds the history that each block but the first needs,
	// WindowSize bytes each, of which the last ones count.
	Windows []byte
	// DeflateBlocks are the blocks of the deflate stream. The last element is none: it has the
	// ends of the stream and of the data. There is no element at all if there are too many.
	DeflateBlocks []inflate.Block

	// near has the number of the block at every 1<<nearShift bytes.
	near []uint32
}

// Window returns the history of block n, that is, the bytes before it.
func (c *Checkpoints) Window(n int) []byte {
	if n == 0 {
		return nil
	}
	w := c.Windows[(n-1)*WindowSize : n*WindowSize]
	return w[WindowSize-min(c.Points[n].Out, WindowSize):]
}

// reserve makes room for some blocks. Their number comes from the stated size, which is bounded by
// that of the file. Without this, inflating waits while some MB of windows are copied again and again.
func (c *Checkpoints) reserve(blocks int64) {
	c.Points = make([]inflate.Point, 0, blocks)
	c.Windows = make([]byte, 0, max(blocks-1, 0)*WindowSize)
}

// AddBlock adds the block that begins at p to those before it. before is the data before it.
func (c *Checkpoints) AddBlock(p inflate.Point, before []byte) {
	if len(c.Points) > 0 {
		w := before[len(before)-min(len(before), WindowSize):]
		c.Windows = append(c.Windows, make([]byte, WindowSize-len(w))...)
		c.Windows = append(c.Windows, w...)
	}
	c.Points = append(c.Points, p)
}

// addDeflateBlock adds a block of the deflate stream to those before it.
func (c *Checkpoints) addDeflateBlock(b inflate.Block) {
	if len(c.DeflateBlocks) <= maxDeflateBlocks {
		c.DeflateBlocks = append(c.DeflateBlocks, b)
	}
}

// endDeflateBlocks adds the ends of the stream, in bits, and of the data.
func (c *Checkpoints) endDeflateBlocks(header, out int64) {
	c.addDeflateBlock(inflate.Block{Header: header, Out: out})
	if len(c.DeflateBlocks) > maxDeflateBlocks {
		c.DeflateBlocks = nil
	}
}

// End returns where block n of size inflated bytes ends.
func (c *Checkpoints) End(n int, size int64) int64 {
	if n+1 < len(c.Points) {
		return c.Points[n+1].Out
	}
	return size
}

// Adler returns the Adler-32 of the size bytes of data.
func (c *Checkpoints) Adler(size int64) uint32 {
	sum := uint32(EmptyAdler)
	for i, a := range c.Adlers {
		sum = JoinAdler(sum, a, c.End(i, size)-c.Points[i].Out)
	}
	return sum
}

// Locate prepares BlockAt. size is the size of the inflated data.
func (c *Checkpoints) Locate(size int64) {
	c.near = make([]uint32, (size+1<<nearShift-1)>>nearShift)
	n := 0
	for i := range c.near {
		for n+1 < len(c.Points) && c.Points[n+1].Out <= int64(i)<<nearShift {
			n++
		}
		c.near[i] = uint32(n)
	}
}

// BlockAt returns the number of the block that holds an offset, and the offset in the block.
// For an offset outside the data there may be no such block.
func (c *Checkpoints) BlockAt(off int64) (n uint64, at int) {
	place := uint64(off) >> nearShift
	if place >= uint64(len(c.near)) {
		return uint64(len(c.Points)), 0
	}
	i := int(c.near[place])
	for i+1 < len(c.Points) && c.Points[i+1].Out <= off {
		i++
	}
	return uint64(i), int(off - c.Points[i].Out)
}

// appendCheckpoints writes the checkpoints for an index.
func (c *Checkpoints) appendCheckpoints(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(len(c.Points)))
	for i, p := range c.Points {
		b = le.AppendUint64(b, uint64(p.Out))
		b = le.AppendUint64(b, uint64(p.In))
		b = le.AppendUint64(b, uint64(p.Header))
		b = le.AppendUint16(b, p.Len)
		b = le.AppendUint16(b, p.Dist)
		b = le.AppendUint32(b, c.Adlers[i])
	}
	b = append(b, c.Windows...)
	b = le.AppendUint32(b, uint32(len(c.DeflateBlocks)))
	for _, d := range c.DeflateBlocks {
		b = le.AppendUint64(b, uint64(d.Header))
		b = le.AppendUint64(b, uint64(d.Out))
		b = append(b, Bit(d.Stored))
	}
	return b
}

// Checkpoints reads what appendCheckpoints wrote for a file of size inflated bytes.
func (c indexReader) checkpoints(p *Checkpoints, size int64) {
	const record = 8 + 8 + 8 + 2 + 2 + 4
	n := int64(c.LE32())
	if n > int64(c.Left())/record {
		c.Fail("%d blocks, %d bytes there", n, c.Left())
		return
	}
	p.Points = make([]inflate.Point, n)
	p.Adlers = make([]uint32, n)
	for i := range p.Points {
		p.Points[i] = inflate.Point{
			Out: int64(c.LE64()), In: int64(c.LE64()), Header: int64(c.LE64()), Len: c.LE16(), Dist: c.LE16(),
		}
		p.Adlers[i] = c.LE32()
	}
	c.checkPoints(p, size)
	p.Windows = c.Bytes(max(len(p.Points)-1, 0) * WindowSize)
	c.deflateBlocks(p, size)
	if c.Err() == nil {
		p.Locate(size)
	}
}

// checkPoints checks that the blocks divide the data.
func (c indexReader) checkPoints(p *Checkpoints, size int64) {
	begin := int64(0)
	for i, q := range p.Points {
		end := p.End(i, size)
		if q.Out != begin || end <= begin || end-begin > MaxBlockSize {
			c.Fail("a block from %#x to %#x", q.Out, end)
			return
		}
		begin = end
	}
	if begin != size {
		c.Fail("blocks of %d bytes: there are %d", begin, size)
	}
}

func (c indexReader) deflateBlocks(p *Checkpoints, size int64) {
	const record = 8 + 8 + 1
	n := int64(c.LE32())
	if n > maxDeflateBlocks || n > int64(c.Left())/record {
		c.Fail("%d deflate blocks, %d bytes there", n, c.Left())
		return
	}
	p.DeflateBlocks = make([]inflate.Block, n)
	for i := range p.DeflateBlocks {
		p.DeflateBlocks[i] = inflate.Block{Header: int64(c.LE64()), Out: int64(c.LE64()), Stored: c.U8() != 0}
	}
	ordered := slices.IsSortedFunc(p.DeflateBlocks, func(a, b inflate.Block) int {
		if a.Out > b.Out {
			return 1
		}
		return cmp.Compare(a.Header, b.Header)
	})
	if n == 0 {
		return
	}
	first, last := p.DeflateBlocks[0], p.DeflateBlocks[n-1]
	if !ordered || first.Header != 0 || first.Out != 0 || last.Out != size {
		c.Fail("impossible deflate blocks")
	}
}

// EmptyAdler is the Adler-32 of no bytes.
const EmptyAdler = 1

// JoinAdler returns the Adler-32 of data in two parts with the checksums x and y. The
// second part has n bytes. An Adler-32 has two halves: a sum of the bytes, which begins
// with 1, and the sum of all values of the first sum (RFC 1950, 8.2).
func JoinAdler(x, y uint32, n int64) uint32 {
	const mod = 65521
	// In the second part the first sum begins with x's instead of 1. So it is more by the
	// difference, at each of the n bytes.
	more := uint64(x&0xffff) + mod - 1
	first := (uint64(y&0xffff) + more) % mod
	second := (uint64(x>>16) + uint64(y>>16) + uint64(n%mod)*more) % mod
	return uint32(second<<16 | first)
}
