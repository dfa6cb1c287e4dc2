package splice

import (
	"context"
	"io"
)

// background is a writer that writes in the background. It has a bounded number of buffers, so
// whoever writes to it waits for a slower writer.
type background struct {
	ctx        context.Context
	free, full chan []byte
	done       chan struct{} // closed when err is set
	err        error
}

// newBackground returns a writer to w. It must be closed.
func newBackground(ctx context.Context, w io.Writer) *background {
	const buffers = 4
	b := &background{
		ctx: ctx, free: make(chan []byte, buffers), full: make(chan []byte, buffers), done: make(chan struct{}),
	}
	for range buffers {
		b.free <- nil
	}
	go b.run(w)
	return b
}

// run writes until there is nothing more or an error.
func (b *background) run(w io.Writer) {
	defer close(b.done)
	for p := range b.full {
		if _, b.err = w.Write(p); b.err != nil {
			return
		}
		b.free <- p
	}
}

// Write implements [io.Writer]. It may return nil although p will not be written: then close
// returns why.
func (b *background) Write(p []byte) (int, error) {
	select {
	case buf := <-b.free:
		b.full <- append(buf[:0], p...)
		return len(p), nil
	case <-b.done:
		return 0, b.err
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
}

// close waits until all is written, and returns the first error.
func (b *background) close() error {
	close(b.full)
	<-b.done
	return b.err
}
