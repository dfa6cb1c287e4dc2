package write

import (
	"context"
	"fmt"

	"lorefs/datacenter/internal/form"
)

// Hold says that Open will be called, not Write: then nothing need be compressed. It must be called before
// anything is added.
func (b *Store) Hold() {
	b.held = true
	b.Attributes.deflate, b.nodes.deflate, b.Values.deflate = nil, nil, nil
}

// Open returns the data center as a File that reads from memory. It must be called instead of Write, and
// Hold before. The layout is [LayoutV6X86], in which the data lies in memory. No key opened the File, and its
// Identity stands for no file.
func (b *Store) Open(ctx context.Context) (*form.File, error) {
	pieces, err := b.pieces()
	if err != nil {
		return nil, err
	}
	// From here on nothing refers to the Store, which has memory of its own.
	f, err := form.OpenHeld(ctx, pieces)
	if err != nil {
		return nil, fmt.Errorf("datacenter: opening what was built: %w", err)
	}
	return f, nil
}

// pieces returns the data in pieces.
func (b *Store) pieces() ([][]byte, error) {
	defer b.Abandon()
	if !b.held {
		b.Fail(fmt.Errorf("datacenter: BUG: Open without Hold"))
	}
	b.Opts.Layout = form.Packed
	b.Opts.Header.Version = form.Packed.Version()
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
