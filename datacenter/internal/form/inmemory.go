package form

import (
	"context"
	"fmt"

	"lorefs/internal/inflate"
)

// Packed is the layout in which nodes and attributes are kept in memory. It has no padding, so it takes a
// third less than LayoutV6X64.
const Packed = LayoutV6X86

// OpenHeld opens inflated data of the layout packed. Its blocks are the pieces in which it lies in memory.
func OpenHeld(ctx context.Context, pieces [][]byte) (*File, error) {
	c := &Container{fileVersion: Packed.Version()}
	p := &pass{Container: c, noAdler: true}
	p.bare = true
	for _, piece := range pieces {
		p.Points = append(p.Points, inflate.Point{Out: c.Stated})
		c.Stated += int64(len(piece))
	}
	if c.Stated > MaxSize {
		return nil, fmt.Errorf("%d bytes: %w", c.Stated, ErrTooLarge)
	}
	c.Size, p.streamEnd = c.Stated, c.Stated
	f := NewFile(c, Uncached{})
	f.load = func(_ context.Context, n uint64) ([]byte, error) {
		if n >= uint64(len(pieces)) {
			return nil, Badf(c.Stated, "beyond the data's %d bytes", c.Stated)
		}
		return pieces[n], nil
	}
	err := p.run(ctx, []Layout{Packed}, func(ctx context.Context) error { return p.feedPieces(ctx, pieces) })
	if err == nil {
		err = f.indexed(ctx, p)
	}
	if err == nil {
		err = f.CountErr
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// feedPieces passes data that lies in memory to the scans.
func (p *pass) feedPieces(ctx context.Context, pieces [][]byte) error {
	for _, piece := range pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := &passing{buf: piece, data: piece}
		b.readers.Store(int32(len(p.scans)))
		if err := p.feed(b); err != nil {
			return err
		}
	}
	return nil
}
