package write

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"

	"lorefs/datacenter/internal/form"
	"lorefs/internal/adler"
	"lorefs/internal/cores"
)

// deflater compresses blocks of the data on all cores. No block refers to data before it,
// so a block can be compressed long before the data in front of it is known. References
// would make the file at most 0.2 % smaller.
type deflater struct {
	level int // for all but large tables of strings
	// turns has a token for each core on which no block is compressed. Until useAll is called, one core
	// is left to whoever lays out the data: on two cores, both take about as long.
	turns chan struct{}
	// stopped is canceled when blocks that have not been begun are not needed any more.
	stopped context.Context
	stop    context.CancelFunc
}

func newDeflater(level int) *deflater {
	d := &deflater{level: level, turns: make(chan struct{}, cores.Count())}
	for range max(cap(d.turns)-1, 1) {
		d.turns <- struct{}{}
	}
	d.stopped, d.stop = context.WithCancel(context.Background())
	return d
}

// useAll makes all cores compress. It is called once, when nothing more is laid out.
func (d *deflater) useAll() {
	if cap(d.turns) > 1 {
		d.turns <- struct{}{}
	}
}

// deflated is a compressed block: deflate blocks that end at a byte boundary, none of them
// marked as the last of a stream.
type deflated struct {
	done chan struct{} // closed when the fields below are set
	data []byte
	size int64  // of the uncompressed data
	sum  uint32 // Adler-32 of the uncompressed data
	err  error
}

// start begins to compress the data that content writes.
func (d *deflater) start(level int, content func(io.Writer) error) *deflated {
	b := &deflated{done: make(chan struct{})}
	go func() {
		defer close(b.done)
		select {
		case <-d.turns:
			b.err = compress(b, level, content)
			d.turns <- struct{}{}
		case <-d.stopped.Done():
			b.err = context.Canceled
		}
	}()
	return b
}

// startBytes begins to compress data.
func (d *deflater) startBytes(level int, data []byte) *deflated {
	return d.start(level, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// idleCompressors are passed from block to block, also of other files: their tables take longer to
// make than a small file to compress. There is a pool for each level.
var idleCompressors [flate.BestCompression - flate.HuffmanOnly + 1]sync.Pool

// compressor is the state for compressing one block. The block's content is written to it.
type compressor struct {
	z    *flate.Writer
	out  bytes.Buffer
	sum  uint32 // Adler-32
	size int64
}

// compress fills in b with what content writes.
func compress(b *deflated, level int, content func(io.Writer) error) (err error) {
	if level < flate.HuffmanOnly || level > flate.BestCompression {
		return fmt.Errorf("datacenter: no deflate level %d", level)
	}
	pool := &idleCompressors[level-flate.HuffmanOnly]
	c, _ := pool.Get().(*compressor)
	if c == nil {
		c = &compressor{}
		if c.z, err = flate.NewWriter(&c.out, level); err != nil {
			return err
		}
	}
	defer pool.Put(c)
	c.out.Reset()
	c.z.Reset(&c.out)
	c.sum, c.size = form.EmptyAdler, 0
	if err := content(c); err != nil {
		return err
	}
	// Flush appends an empty stored block, which ends at a byte boundary.
	if err := c.z.Flush(); err != nil {
		return err
	}
	b.data, b.size, b.sum = slices.Clone(c.out.Bytes()), c.size, c.sum
	return nil
}

func (c *compressor) Write(p []byte) (int, error) {
	c.sum = form.JoinAdler(c.sum, adler.Checksum(p), int64(len(p)))
	c.size += int64(len(p))
	return c.z.Write(p)
}
