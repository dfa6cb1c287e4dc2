package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"lorefs/nodes"
)

// content is the content of a file at some time: a file of a source or, if that is nil, bytes.
// It does not change. Two contents are the same only if they are one.
type content struct {
	files Files
	at    int
	bytes []byte
	size  int64
}

func fileContent(files Files, at int) *content {
	return &content{files: files, at: at, size: files.Size(at)}
}

func textContent(text []byte) *content { return &content{bytes: text, size: int64(len(text))} }

// ReadAt implements [io.ReaderAt], as [nodes.Tree.ReadAt] wants it.
func (c *content) ReadAt(p []byte, off int64) (int, error) {
	if c.files == nil {
		return nodes.ReadContent(c.bytes, p, off)
	}
	switch {
	case off < 0:
		return 0, fmt.Errorf("negative offset %d", off)
	case off >= c.size:
		return 0, io.EOF
	}
	short := int64(len(p)) > c.size-off
	if short {
		p = p[:c.size-off]
	}
	n, err := c.files.ReadAt(c.at, p, off)
	switch {
	case n == len(p) && short:
		return n, io.EOF
	case n == len(p):
		return n, nil
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF // it is the source that ends
	}
	return n, err
}

// reader reads the whole content, as long as ctx lasts.
func (c *content) reader(ctx context.Context) io.Reader {
	return &whileReader{ctx, io.NewSectionReader(c, 0, c.size)}
}

// whileReader reads as long as a context lasts.
type whileReader struct {
	ctx  context.Context //nolint:containedctx // io.Reader takes no context
	from io.Reader
}

func (r *whileReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// isEqual reports whether a text is the content.
func (c *content) isEqual(ctx context.Context, text []byte) (bool, error) {
	if c.size != int64(len(text)) {
		return false, nil
	}
	return sameBytes(c.reader(ctx), bytes.NewReader(text), c.size)
}

// compareSize is how much of two contents is compared at once.
const compareSize = 64 << 10

// sameBytes reports whether two readers have the same bytes, of which there are so many.
func sameBytes(a, b io.Reader, size int64) (bool, error) {
	both := make([]byte, 2*min(size, compareSize))
	for size > 0 {
		n := min(size, compareSize)
		one, other := both[:n], both[n:2*n]
		if _, err := io.ReadFull(a, one); err != nil {
			return false, err
		}
		if _, err := io.ReadFull(b, other); err != nil {
			return false, err
		}
		if !bytes.Equal(one, other) {
			return false, nil
		}
		size -= n
	}
	return true, nil
}

// was holds a file's content at some time, as an [overlay.Content].
type was struct {
	*content
	modTime time.Time
}

func (w was) Size(context.Context) (int64, error) { return w.size, nil }
func (w was) ModTime() time.Time                  { return w.modTime }

func (w was) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return w.content.ReadAt(p, off)
}
