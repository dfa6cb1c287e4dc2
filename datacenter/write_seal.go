package datacenter

import (
	"bytes"
	"context"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/flate"
	"golang.org/x/sync/errgroup"

	"lorefs/internal/cfb"
)

// deflateBlock is how much is compressed at a time. Each block may refer to the
// 32 KiB before it, so that all together are one stream and hardly larger than
// if one had been compressed after the other.
const deflateBlock = 1 << 20

// zlibHeader is what the tools that are picky about it accept.
var zlibHeader = [2]byte{0x78, 0x9c}

// seal writes a file of the size bytes that produce writes: its compression
// header and zlib stream, encrypted. Blocks are compressed on all cores.
func seal(ctx context.Context, out io.Writer, size int64, opts WriteOptions, produce func(io.Writer) error) error {
	if size > maxSize {
		return fmt.Errorf("datacenter: %d bytes: %w", size, ErrTooLarge)
	}
	block, err := aes.NewCipher(opts.Key.Key[:])
	if err != nil {
		return err
	}
	w := cfb.NewWriter(out, block, opts.Key.IV)
	head := binary.LittleEndian.AppendUint32(nil, uint32(size))
	if _, err := w.Write(append(head, zlibHeader[:]...)); err != nil {
		return err
	}
	d := newDeflater(ctx, w, *opts.Level)
	sum := adler32.New()
	n := &countWriter{w: io.MultiWriter(d, sum)}
	err = errors.Join(produce(n), d.close())
	if err != nil {
		return err
	}
	if n.n != size {
		return fmt.Errorf("datacenter: BUG: wrote %d bytes of %d", n.n, size)
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// maxSize is what uncompressed_size can state.
const maxSize = 1<<32 - 1

type countWriter struct {
	w io.Writer
	n int64
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// deflater compresses what is written to it, block by block on all cores, and
// writes the results in order.
type deflater struct {
	group *errgroup.Group
	ctx   context.Context
	level int
	pool  sync.Pool // of *flate.Writer

	block []byte // being filled; begins with dict bytes of the block before
	dict  int
	jobs  chan *deflateJob // in order, to the one who writes
}

type deflateJob struct {
	block []byte
	dict  int
	last  bool
	out   bytes.Buffer
	done  chan error
}

func newDeflater(ctx context.Context, w io.Writer, level int) *deflater {
	d := &deflater{level: level, jobs: make(chan *deflateJob, 2*runtime.GOMAXPROCS(0))}
	d.group, d.ctx = errgroup.WithContext(ctx)
	d.group.Go(func() error {
		for j := range d.jobs {
			select {
			case err := <-j.done:
				if err != nil {
					return err
				}
			case <-d.ctx.Done():
				return d.ctx.Err()
			}
			if _, err := w.Write(j.out.Bytes()); err != nil {
				return err
			}
		}
		return nil
	})
	return d
}

func (d *deflater) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if d.block == nil {
			d.block = make([]byte, 0, windowSize+deflateBlock)
		}
		k := min(len(p), d.dict+deflateBlock-len(d.block))
		d.block = append(d.block, p[:k]...)
		p = p[k:]
		if len(d.block) == d.dict+deflateBlock {
			if err := d.submit(false); err != nil {
				return n - len(p), err
			}
		}
	}
	return n, nil
}

// submit hands the block over and begins the next.
func (d *deflater) submit(last bool) error {
	j := &deflateJob{block: d.block, dict: d.dict, last: last, done: make(chan error, 1)}
	next := make([]byte, 0, windowSize+deflateBlock)
	d.block = append(next, j.block[max(0, len(j.block)-windowSize):]...)
	d.dict = len(d.block)
	go func() { j.done <- d.compress(j) }()
	select {
	case d.jobs <- j: // blocks when enough are under way
		return nil
	case <-d.ctx.Done():
		return d.ctx.Err()
	}
}

// compress compresses one block. What it refers to goes before as dictionary;
// all but the last end with an empty stored block, at a byte's end.
func (d *deflater) compress(j *deflateJob) error {
	w, ok := d.pool.Get().(*flate.Writer)
	if ok {
		w.ResetDict(&j.out, j.block[:j.dict])
	} else {
		var err error
		if w, err = flate.NewWriterDict(&j.out, d.level, j.block[:j.dict]); err != nil {
			return err
		}
	}
	defer d.pool.Put(w)
	if _, err := w.Write(j.block[j.dict:]); err != nil {
		return err
	}
	if j.last {
		return w.Close()
	}
	return w.Flush()
}

// close compresses what is left and waits until all is written.
func (d *deflater) close() error {
	err := d.submit(true)
	close(d.jobs)
	return errors.Join(d.group.Wait(), err)
}
