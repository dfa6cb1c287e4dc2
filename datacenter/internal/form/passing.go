package form

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
	return b.buf[len(b.buf)-min(len(b.buf), WindowSize):]
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

// passings hands out blocks, whose memory is used again. So inflating writes to memory that the
// processor's cache still has, and the kernel need not find new pages for the whole data.
//
// A block that nobody releases, because its reader has failed, is left to the collector.
type passings struct {
	free chan *passing
	size int // of the memory of each
}

// newPassings returns blocks of at most size bytes.
func newPassings(size int64) *passings {
	return &passings{size: WindowSize + int(size), free: make(chan *passing, 2*ahead)}
}

// take returns a block of size bytes behind some history, for as many readers. The memory of one
// that is kept is not used again.
func (p *passings) take(history []byte, size, readers int, kept bool) *passing {
	var b *passing
	if kept {
		b = &passing{buf: make([]byte, p.size)}
	} else {
		b = p.reuse()
	}
	b.buf = b.buf[:len(history)+size]
	copy(b.buf, history)
	b.data = b.buf[len(history):]
	b.readers.Store(int32(readers))
	return b
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
