package nodes

import (
	"context"
	"io"
)

// Streamer is implemented by trees that can write a whole file faster than it can be read
// piece by piece.
type Streamer interface {
	// Stream writes the content of a file to w. If ReadAt is as fast for this file, it
	// writes nothing and ok is false.
	Stream(ctx context.Context, file ID, w io.Writer) (n int64, ok bool, err error)
}

// Stream implements [Streamer] for those mounted trees that do.
func (m *mux) Stream(ctx context.Context, file ID, w io.Writer) (n int64, ok bool, err error) {
	t, own, err := m.split(file)
	if err != nil {
		return 0, false, err
	}
	if s, can := t.(Streamer); can {
		return s.Stream(ctx, own, w)
	}
	return 0, false, nil
}
