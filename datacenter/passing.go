package datacenter

import "sync/atomic"

// passing is an inflated block on its way through the first pass. Several goroutines read it.
type passing struct {
	// buf begins with the history that inflating the block needed, and data is the rest.
	buf, data []byte
	readers   atomic.Int32 // that have not released it
	free      chan<- *passing
}

// history returns the last bytes of the block and of what it needed, up to a window. That is nothing
// for the block before the first.
func (b *passing) history() []byte {
	if b == nil {
		return nil
	}
	return b.buf[len(b.buf)-min(len(b.buf), windowSize):]
}

// release says that a reader is done. The last one makes the memory free for another block.
func (b *passing) release() {
	if b.readers.Add(-1) > 0 {
		return
	}
	select {
	case b.free <- b:
	default: // there is enough, or the block is kept
	}
}

// freshAhead is how many blocks that will be kept have their memory found ahead. The core that does so has
// little to do before the nodes come, and the kernel is fast at first.
const freshAhead = 32

// passings hands out blocks, whose memory is used again. So inflating writes to memory that the
// processor's cache still has, and the kernel need not find new pages for the whole data.
//
// A block that nobody releases, because its reader has failed, is left to the collector.
type passings struct {
	free chan *passing
	// fresh has the memory of blocks that are kept. No more is made once stopped is closed.
	fresh   chan []byte
	stopped chan struct{}
	left    atomic.Int64 // how many that are kept still need memory
	size    int          // of the memory of each
}

// newPassings returns blocks of at most size bytes, of which the first some are kept, until stop is
// called. Their memory is made ready in a goroutine of its own: for the kernel to find it may take as long
// as inflating, which has to be done in a row.
func newPassings(size, kept int64) *passings {
	p := &passings{
		size: windowSize + int(size), free: make(chan *passing, 2*ahead), fresh: make(chan []byte, freshAhead), stopped: make(chan struct{}),
	}
	p.left.Store(kept)
	go func() {
		const page = 4 << 10
		for p.left.Add(-1) >= 0 {
			b := make([]byte, p.size)
			for i := 0; i < len(b); i += page {
				b[i] = 0
			}
			select {
			case p.fresh <- b:
			case <-p.stopped:
				return
			}
		}
	}()
	return p
}

func (p *passings) stop() { close(p.stopped) }

// take returns a block of size bytes behind some history, for as many readers. The memory of one
// that is kept is not used again.
func (p *passings) take(history []byte, size, readers int, kept bool) *passing {
	var b *passing
	if kept {
		b = &passing{buf: p.ready()}
	} else {
		b = p.reuse()
	}
	b.buf = b.buf[:len(history)+size]
	copy(b.buf, history)
	b.data = b.buf[len(history):]
	b.readers.Store(int32(readers))
	return b
}

// ready returns memory that is ready. If there is none yet, the kernel is slow to find it, so another
// core had better help than wait.
func (p *passings) ready() []byte {
	select {
	case b := <-p.fresh:
		return b
	default:
		p.left.Add(-1)
		return make([]byte, p.size)
	}
}

// reuse returns free memory, or new.
func (p *passings) reuse() *passing {
	select {
	case b := <-p.free:
		return b
	default:
		return &passing{buf: make([]byte, p.size), free: p.free}
	}
}
