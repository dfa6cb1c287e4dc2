package datacenter

import (
	"bytes"
	"context"
	"hash"
	"hash/adler32"
	"io"
	"runtime"
	"slices"

	"github.com/klauspost/compress/flate"
)

// deflater compresses blocks of the data on all cores. No block refers to one
// before it: that would make the file smaller by no more than 0.2 %, and so a
// block can be compressed long before what comes in front of it is known.
type deflater struct {
	level int
	// compressors are handed from block to block. There is one for each core; it
	// is nil until it is first used.
	compressors chan *compressor
	// stopped ends when nobody wants the blocks any more that have not begun.
	stopped context.Context
	stop    context.CancelFunc
}

func newDeflater(level int) *deflater {
	d := &deflater{level: level, compressors: make(chan *compressor, runtime.GOMAXPROCS(0))}
	for range cap(d.compressors) {
		d.compressors <- nil
	}
	d.stopped, d.stop = context.WithCancel(context.Background())
	return d
}

// deflated is a compressed block: deflate blocks that end at a byte's end, none
// the last of a stream.
type deflated struct {
	done chan struct{} // closed when what follows is set
	data []byte
	size int64  // of what was compressed
	sum  uint32 // Adler-32 of that
	err  error
}

// start begins to compress what content writes.
func (d *deflater) start(content func(io.Writer) error) *deflated {
	b := &deflated{done: make(chan struct{})}
	go func() {
		defer close(b.done)
		select {
		case c := <-d.compressors:
			if c == nil {
				c = &compressor{sum: adler32.New()}
			}
			b.err = c.compress(b, d.level, content)
			d.compressors <- c
		case <-d.stopped.Done():
			b.err = context.Canceled
		}
	}()
	return b
}

// compressor is what compressing one block takes. It is the io.Writer of the
// block's content.
type compressor struct {
	z    *flate.Writer
	out  bytes.Buffer
	sum  hash.Hash32
	size int64
}

func (c *compressor) compress(b *deflated, level int, content func(io.Writer) error) error {
	c.out.Reset()
	c.sum.Reset()
	c.size = 0
	if c.z == nil {
		var err error
		if c.z, err = flate.NewWriter(&c.out, level); err != nil {
			return err
		}
	}
	c.z.Reset(&c.out)
	if err := content(c); err != nil {
		return err
	}
	// An empty stored block brings the end to that of a byte.
	if err := c.z.Flush(); err != nil {
		return err
	}
	b.data, b.size, b.sum = slices.Clone(c.out.Bytes()), c.size, c.sum.Sum32()
	return nil
}

func (c *compressor) Write(p []byte) (int, error) {
	c.sum.Write(p) // never fails
	c.size += int64(len(p))
	return c.z.Write(p)
}
