package readat

import (
	"context"
	"io"
)

// Waiting is implemented by sources that a read may have to wait for.
type Waiting interface {
	// ReadAtContext is [io.ReaderAt], and ends with an error when ctx ends.
	ReadAtContext(ctx context.Context, p []byte, off int64) (int, error)
}

// Bound returns r for reads that end with ctx. A source that nothing has to be waited for is
// returned as it is.
func Bound(ctx context.Context, r io.ReaderAt) io.ReaderAt {
	if w, ok := r.(Waiting); ok {
		return bound{ctx, w}
	}
	return r
}

type bound struct {
	ctx context.Context //nolint:containedctx // it lives as long as one read
	Waiting
}

func (b bound) ReadAt(p []byte, off int64) (int, error) { return b.ReadAtContext(b.ctx, p, off) }

// Section is [io.SectionReader] for sources that may be [Waiting]: size bytes of Src at Off.
type Section struct {
	Src       io.ReaderAt
	Off, Size int64
}

// ReadAt implements [io.ReaderAt].
func (s Section) ReadAt(p []byte, off int64) (int, error) {
	return s.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext implements [Waiting].
func (s Section) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	return io.NewSectionReader(Bound(ctx, s.Src), s.Off, s.Size).ReadAt(p, off)
}
