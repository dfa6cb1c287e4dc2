package datacenter

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

	// maxBlockSize bounds the blocks of a spliced file.
	maxBlockSize = 4 * defaultBlockSize

	windowSize = inflate.WindowSize

	// maxDeflateBlocks is the number of deflate blocks that are remembered: real files have
	// some thousands. A file that has more can't be spliced.
	maxDeflateBlocks = 1 << 17

	// nearShift is the distance of the places in checkpoints.near, as a power of two.
	nearShift = 16
)

// checkpoints are the places where blocks begin, at which inflating can begin unless they are bare, and what
// is known of the stream.
type checkpoints struct {
	points []inflate.Point // of ascending Out, from 0 on
	// bare is set if blocks do not begin with the history that inflating them needs, because none is
	// inflated.
	bare bool
	// adlers are the Adler-32 of each block: together they are that of the stream, and each says
	// whether a block that is inflated again is still the same.
	adlers []uint32
	// windows holds the history that each block but the first needs,
	// windowSize bytes each, of which the last ones count.
	windows []byte
	// deflateBlocks are the blocks of the deflate stream. The last element is none: it has the
	// ends of the stream and of the data. There is no element at all if there are too many.
	deflateBlocks []inflate.Block

	// near has the number of the block at every 1<<nearShift bytes.
	near []uint32
}

// window returns the history of block n, that is, the bytes before it.
func (c *checkpoints) window(n int) []byte {
	if n == 0 {
		return nil
	}
	w := c.windows[(n-1)*windowSize : n*windowSize]
	return w[windowSize-min(c.points[n].Out, windowSize):]
}

// reserve makes room for some blocks. Their number comes from the stated size, which is bounded by
// that of the file. Without this, inflating waits while some MB of windows are copied again and again.
func (c *checkpoints) reserve(blocks int64) {
	c.points = make([]inflate.Point, 0, blocks)
	c.windows = make([]byte, 0, max(blocks-1, 0)*windowSize)
}

// addBlock adds the block that begins at p to those before it. before is the data before it.
func (c *checkpoints) addBlock(p inflate.Point, before []byte) {
	if len(c.points) > 0 {
		w := before[len(before)-min(len(before), windowSize):]
		c.windows = append(c.windows, make([]byte, windowSize-len(w))...)
		c.windows = append(c.windows, w...)
	}
	c.points = append(c.points, p)
}

// addDeflateBlock adds a block of the deflate stream to those before it.
func (c *checkpoints) addDeflateBlock(b inflate.Block) {
	if len(c.deflateBlocks) <= maxDeflateBlocks {
		c.deflateBlocks = append(c.deflateBlocks, b)
	}
}

// endDeflateBlocks adds the ends of the stream, in bits, and of the data.
func (c *checkpoints) endDeflateBlocks(header, out int64) {
	c.addDeflateBlock(inflate.Block{Header: header, Out: out})
	if len(c.deflateBlocks) > maxDeflateBlocks {
		c.deflateBlocks = nil
	}
}

// end returns where block n of size inflated bytes ends.
func (c *checkpoints) end(n int, size int64) int64 {
	if n+1 < len(c.points) {
		return c.points[n+1].Out
	}
	return size
}

// adler returns the Adler-32 of the size bytes of data.
func (c *checkpoints) adler(size int64) uint32 {
	sum := uint32(emptyAdler)
	for i, a := range c.adlers {
		sum = joinAdler(sum, a, c.end(i, size)-c.points[i].Out)
	}
	return sum
}

// locate prepares blockAt. size is the size of the inflated data.
func (c *checkpoints) locate(size int64) {
	c.near = make([]uint32, (size+1<<nearShift-1)>>nearShift)
	n := 0
	for i := range c.near {
		for n+1 < len(c.points) && c.points[n+1].Out <= int64(i)<<nearShift {
			n++
		}
		c.near[i] = uint32(n)
	}
}

// blockAt returns the number of the block that holds an offset, and the offset in the block.
// For an offset outside the data there may be no such block.
func (c *checkpoints) blockAt(off int64) (n uint64, at int) {
	place := uint64(off) >> nearShift
	if place >= uint64(len(c.near)) {
		return uint64(len(c.points)), 0
	}
	i := int(c.near[place])
	for i+1 < len(c.points) && c.points[i+1].Out <= off {
		i++
	}
	return uint64(i), int(off - c.points[i].Out)
}

// appendCheckpoints writes the checkpoints for an index.
func (c *checkpoints) appendCheckpoints(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(len(c.points)))
	for i, p := range c.points {
		b = le.AppendUint64(b, uint64(p.Out))
		b = le.AppendUint64(b, uint64(p.In))
		b = le.AppendUint64(b, uint64(p.Header))
		b = le.AppendUint16(b, p.Len)
		b = le.AppendUint16(b, p.Dist)
		b = le.AppendUint32(b, c.adlers[i])
	}
	b = append(b, c.windows...)
	b = le.AppendUint32(b, uint32(len(c.deflateBlocks)))
	for _, d := range c.deflateBlocks {
		b = le.AppendUint64(b, uint64(d.Header))
		b = le.AppendUint64(b, uint64(d.Out))
		b = append(b, bit(d.Stored))
	}
	return b
}

// checkpoints reads what appendCheckpoints wrote for a file of size inflated bytes.
func (c indexReader) checkpoints(p *checkpoints, size int64) {
	const record = 8 + 8 + 8 + 2 + 2 + 4
	n := int64(c.LE32())
	if n > int64(c.Left())/record {
		c.Fail("%d blocks, %d bytes there", n, c.Left())
		return
	}
	p.points = make([]inflate.Point, n)
	p.adlers = make([]uint32, n)
	for i := range p.points {
		p.points[i] = inflate.Point{
			Out: int64(c.LE64()), In: int64(c.LE64()), Header: int64(c.LE64()), Len: c.LE16(), Dist: c.LE16(),
		}
		p.adlers[i] = c.LE32()
	}
	c.checkPoints(p, size)
	p.windows = c.Bytes(max(len(p.points)-1, 0) * windowSize)
	c.deflateBlocks(p, size)
	if c.Err() == nil {
		p.locate(size)
	}
}

// checkPoints checks that the blocks divide the data.
func (c indexReader) checkPoints(p *checkpoints, size int64) {
	begin := int64(0)
	for i, q := range p.points {
		end := p.end(i, size)
		if q.Out != begin || end <= begin || end-begin > maxBlockSize {
			c.Fail("a block from %#x to %#x", q.Out, end)
			return
		}
		begin = end
	}
	if begin != size {
		c.Fail("blocks of %d bytes: there are %d", begin, size)
	}
}

func (c indexReader) deflateBlocks(p *checkpoints, size int64) {
	const record = 8 + 8 + 1
	n := int64(c.LE32())
	if n > maxDeflateBlocks || n > int64(c.Left())/record {
		c.Fail("%d deflate blocks, %d bytes there", n, c.Left())
		return
	}
	p.deflateBlocks = make([]inflate.Block, n)
	for i := range p.deflateBlocks {
		p.deflateBlocks[i] = inflate.Block{Header: int64(c.LE64()), Out: int64(c.LE64()), Stored: c.U8() != 0}
	}
	ordered := slices.IsSortedFunc(p.deflateBlocks, func(a, b inflate.Block) int {
		if a.Out > b.Out {
			return 1
		}
		return cmp.Compare(a.Header, b.Header)
	})
	if n == 0 {
		return
	}
	first, last := p.deflateBlocks[0], p.deflateBlocks[n-1]
	if !ordered || first.Header != 0 || first.Out != 0 || last.Out != size {
		c.Fail("impossible deflate blocks")
	}
}
