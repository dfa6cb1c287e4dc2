package form

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"lorefs/internal/adler"
	"lorefs/internal/inflate"
)

// ahead is how many blocks inflating may be ahead of the goroutines that read them.
const ahead = 1

// pass inflates the whole file once and builds its index.
type pass struct {
	*Container
	// keep is called with blocks that are read again, with the history that each needs in front:
	// with the first most of them, and with those that have the keys and the names, which come
	// first and last. The memory of the others is used again.
	keep     func(n uint64, buf []byte)
	most     int64
	progress func(done, total int64)
	// blockSize is the size of a block.
	blockSize int64

	Checkpoints
	statedAdler uint32
	noAdler     bool // the stream states none
	// streamEnd is where the zlib stream ends in the file, Adler-32 included.
	streamEnd int64
	scans     []*layoutScan
}

// layoutScan tries to read the data in one layout.
type layoutScan struct {
	layout Layout
	blocks chan *passing
	done   chan struct{} // closed when the scan wants no more blocks

	header  Header
	regions *Regions
	nodes   NodeTable
	reached int64 // the offset up to which the chain could be followed
	err     error

	counting bool
	counted  chan struct{} // closed when tally and countErr are set
	tally    *Tally
	countErr error
}

// run goes through the data once, which feedAll passes to feed in blocks. A goroutine for each possible layout
// follows the regions.
func (p *pass) run(ctx context.Context, layouts []Layout, feedAll func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for _, l := range layouts {
		s := &layoutScan{
			layout: l, blocks: make(chan *passing, ahead),
			done: make(chan struct{}), counted: make(chan struct{}),
		}
		s.nodes.layout, s.nodes.size = l, p.Stated
		p.scans = append(p.scans, s)
		wg.Go(func() { s.run(p.Stated) })
	}
	err := feedAll(ctx)
	for _, s := range p.scans {
		close(s.blocks)
	}
	wg.Wait()
	if err != nil && !errors.Is(err, errNobodyReads) {
		return err
	}
	return nil
}

// errNobodyReads ends a pass early because no layout fits.
var errNobodyReads = errors.New("no layout fits")

// feed passes a block to each scan that still reads.
func (p *pass) feed(b *passing) error {
	reading := false
	for _, s := range p.scans {
		select {
		case s.blocks <- b:
			reading = true
		case <-s.done:
			b.release()
		}
	}
	if !reading {
		return errNobodyReads
	}
	return nil
}

// inflate inflates block by block and takes a checkpoint before each.
func (p *pass) inflate(ctx context.Context) error {
	dec, stop := p.aheadDecoder()
	defer stop()
	count := (p.Stated + p.blockSize - 1) / p.blockSize
	p.reserve(count)
	dec.OnBlock = p.addDeflateBlock
	blocks := newPassings(min(p.blockSize, p.Stated))
	readers := len(p.scans) + 1 // the next block for its history
	var prev *passing
	for out := int64(0); out < p.Stated; out += p.blockSize {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.AddBlock(dec.Point(), prev.history())
		b := blocks.take(prev.history(), int(min(p.blockSize, p.Stated-out)), readers, int64(len(p.Points)) <= p.most)
		if prev != nil {
			prev.release()
		}
		w := len(b.buf) - len(b.data)
		n, err := dec.Decode(b.buf, w)
		if n < len(b.data) {
			return p.shortErr(out+int64(n), dec, err)
		}
		p.keepBlock(b.buf)
		p.Adlers = append(p.Adlers, adler.Checksum(b.data)) // which is in the cache now
		if err := p.feed(b); err != nil {
			return err
		}
		prev = b
		p.progress(min(out+p.blockSize, p.Stated), p.Stated)
	}
	return p.finish(dec, prev.history())
}

// keepBlock keeps the block that was inflated last, if it is to be kept.
func (p *pass) keepBlock(buf []byte) {
	n := int64(len(p.Points) - 1)
	last := (p.Stated - 1) / p.blockSize
	switch {
	case n < p.most:
		p.keep(uint64(n), buf)
	case n == 0 || n >= last-1:
		p.keep(uint64(n), slices.Clone(buf))
	}
}

// shortErr says why there is less than the stated size.
func (p *pass) shortErr(got int64, dec *inflate.Decoder, err error) error {
	if errors.Is(err, io.EOF) {
		return BadFile(0, "inflates to %d bytes: the compression header states %d", got, p.Stated)
	}
	return inflateError(CompressionHeaderSize+dec.Point().In/8, fmt.Sprintf("inflating, at inflated offset %#x", got), err)
}

// finish checks that the stream ends where the data does, and reads the
// checksum behind it. The format's description knows of no checksum, so a file
// may end without one; but if anything follows, it is taken for one.
func (p *pass) finish(dec *inflate.Decoder, history []byte) error {
	n, err := dec.Decode(append(slices.Clone(history), 0), len(history))
	if n > 0 {
		return BadFile(0, "inflates to more than the %d bytes that the compression header states", p.Stated)
	}
	if !errors.Is(err, io.EOF) {
		return p.shortErr(p.Stated, dec, err)
	}
	p.endDeflateBlocks(dec.InputEnd(), p.Stated)
	at := CompressionHeaderSize + dec.InputOffset()
	if at == p.Size {
		p.streamEnd, p.noAdler = at, true
		return nil
	}
	var trailer [AdlerSize]byte
	if n, err := p.Plain.ReadAt(trailer[:], at); n < len(trailer) {
		return inflateError(at, "reading the Adler-32", cmp.Or(err, io.EOF))
	}
	p.statedAdler = binary.BigEndian.Uint32(trailer[:])
	p.streamEnd = at + AdlerSize
	return nil
}

// run follows the regions, and starts counting as soon as all nodes are seen.
func (s *layoutScan) run(stated int64) {
	defer close(s.done)
	st := &stream{blocks: s.blocks, size: stated}
	s.header, s.regions, s.err = scan(st, s.layout, s)
	s.reached = st.off()
	if s.err == nil {
		st.drain()
	}
	if s.counting {
		<-s.counted
	}
}

// visit is scanner's: nodes go by.
func (s *layoutScan) visit(seg Segment, first int, b []byte) { s.nodes.add(seg, first, b) }

// visited is scanner's: all nodes went by. They are counted while the rest of
// the file is inflated.
func (s *layoutScan) visited(r *Regions) {
	s.counting = true
	attributes, nodes := r.Attributes, r.Nodes
	go func() {
		defer close(s.counted)
		s.tally, s.countErr = s.nodes.Tally(attributes, nodes, true)
	}()
}
