package datacenter

import (
	"context"
	"fmt"

	"lorefs/internal/inflate"
)

// Hold says that Open will be called, not Write: then nothing need be compressed. It must be called before
// anything is added.
func (b *Builder) Hold() {
	b.held = true
	b.attributes.deflate, b.nodes.deflate, b.values.deflate = nil, nil, nil
}

// Open returns the data center as a File that reads from memory. It must be called instead of Write, and
// Hold before. The layout is [LayoutV6X86], in which the data lies in memory. No key opened the File, and its
// Identity is that of no file.
func (b *Builder) Open(ctx context.Context) (*File, error) {
	pieces, err := b.pieces()
	if err != nil {
		return nil, err
	}
	// From here on nothing refers to the Builder, which has memory of its own.
	f, err := openHeld(ctx, pieces)
	if err != nil {
		return nil, fmt.Errorf("datacenter: opening what was built: %w", err)
	}
	return f, nil
}

// pieces returns the data in pieces.
func (b *Builder) pieces() ([][]byte, error) {
	defer b.Abandon()
	if !b.held {
		b.fail(fmt.Errorf("datacenter: BUG: Open without Hold"))
	}
	b.opts.Layout = packed
	b.opts.Header.Version = packed.Version()
	img, err := b.image()
	if err != nil {
		return nil, err
	}
	return img.hold(), nil
}

// hold returns the data in pieces.
func (i *imageWriter) hold() [][]byte {
	h := &heldImage{}
	i.to = h
	of := i.tables()
	tables := make(chan writtenTable, len(of))
	for _, s := range of {
		tables <- s.writtenTable()
	}
	i.regions(tables) // a heldImage never fails
	h.flush()
	return h.pieces
}

// heldImage is data that stays where it is in memory.
type heldImage struct {
	pieces [][]byte
	small  []byte // the start of the next piece
}

// Write implements [imageTarget].
func (h *heldImage) Write(p []byte) (int, error) {
	h.small = append(h.small, p...)
	return len(p), nil
}

// segments implements [imageTarget].
func (h *heldImage) segments(s *segmentStore) error {
	for _, seg := range s.segments {
		h.small = s.appendCounts(h.small, seg)
		h.add(seg)
	}
	return nil
}

// table implements [imageTarget].
func (h *heldImage) table(t writtenTable) error {
	h.add(t.content)
	return nil
}

// add adds data that is not copied.
func (h *heldImage) add(piece []byte) {
	h.flush()
	h.pieces = append(h.pieces, piece)
}

func (h *heldImage) flush() {
	if len(h.small) > 0 {
		h.pieces = append(h.pieces, h.small)
		h.small = nil
	}
}

// openHeld opens inflated data. Its blocks are the pieces in which it lies in memory.
func openHeld(ctx context.Context, pieces [][]byte) (*File, error) {
	c := &container{fileVersion: packed.Version()}
	p := &pass{container: c, noAdler: true}
	p.bare = true
	for _, piece := range pieces {
		p.points = append(p.points, inflate.Point{Out: c.stated})
		c.stated += int64(len(piece))
	}
	if c.stated > maxSize {
		return nil, fmt.Errorf("%d bytes: %w", c.stated, ErrTooLarge)
	}
	c.size, p.streamEnd = c.stated, c.stated
	f := newFile(c, uncached{})
	f.load = func(_ context.Context, n uint64) ([]byte, error) {
		if n >= uint64(len(pieces)) {
			return nil, badf(c.stated, "beyond the data's %d bytes", c.stated)
		}
		return pieces[n], nil
	}
	err := p.run(ctx, []Layout{packed}, func(ctx context.Context) error { return p.feedPieces(ctx, pieces) })
	if err == nil {
		err = f.indexed(ctx, p)
	}
	if err == nil {
		err = f.countErr
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
