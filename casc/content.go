package casc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"lorefs/blte"
	"lorefs/internal/readat"
)

// Content is the decoded content of a file. It is safe for parallel use, and
// needs no closing. It must not be used after its Storage is closed.
type Content struct {
	parts []part
	size  int64
}

// part is a span of a file: size bytes of the file at off, which are at offset at of the
// decoded content.
type part struct {
	decoded
	at, off, size int64
}

// decoded is the content of an encoded file.
type decoded interface {
	readat.Waiting
	Size() int64
	MissingKey(ctx context.Context) (blte.KeyName, bool, error)
	Gaps(ctx context.Context) ([]blte.Gap, error)
	Filled() bool
	ReadPlainAt(ctx context.Context, p []byte, off int64) bool
	Preload(ctx context.Context, from, to int64)
}

// filled has zeros for chunks whose key is not known.
type filled struct{ *blte.Reader }

func (f filled) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	return f.ReadFilledAt(ctx, p, off)
}

// raw is the content of a file that is stored plain, not as BLTE.
type raw struct{ *readat.Checked }

func (raw) MissingKey(context.Context) (blte.KeyName, bool, error) { return 0, false, nil }

func (raw) Gaps(context.Context) ([]blte.Gap, error) { return nil, nil }

func (raw) Filled() bool { return false }

func (raw) ReadPlainAt(context.Context, []byte, int64) bool { return false }

func (raw) Preload(context.Context, int64, int64) {}

func newContent(d decoded) *Content {
	c := &Content{}
	c.add(d, 0, d.Size())
	return c
}

func (c *Content) add(d decoded, at, size int64) {
	c.parts = append(c.parts, part{decoded: d, at: at, off: c.size, size: size})
	c.size += size
}

// Size returns the number of bytes.
func (c *Content) Size() int64 { return c.size }

// ReadAt reads the content. It stops with an error before the first byte that can't be
// decoded or does not match its checksum.
func (c *Content) ReadAt(p []byte, off int64) (int, error) {
	return c.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext is ReadAt, and ends with an error when ctx ends.
func (c *Content) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("casc: negative offset")
	}
	done := 0
	for i := c.find(off); done < len(p) && i < len(c.parts); i++ {
		at := &c.parts[i]
		from := off + int64(done) - at.off
		n, err := at.ReadAtContext(ctx, p[done:min(int64(len(p)), int64(done)+at.size-from)], at.at+from)
		done += n
		if err != nil && !errors.Is(err, io.EOF) {
			return done, fmt.Errorf("casc: %w", err)
		}
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// ReadPlainAt is blte.Reader.ReadPlainAt, for bytes of one span.
func (c *Content) ReadPlainAt(ctx context.Context, p []byte, off int64) bool {
	i := c.find(off)
	if off < 0 || i == len(c.parts) {
		return false
	}
	at := &c.parts[i]
	from := off - at.off
	return from+int64(len(p)) <= at.size && at.ReadPlainAt(ctx, p, at.at+from)
}

// Preload decodes the content between two places into Options.Blocks, for reads that will follow.
// Errors are left to those reads.
func (c *Content) Preload(ctx context.Context, from, to int64) {
	for i := c.find(from); i < len(c.parts) && c.parts[i].off < to; i++ {
		at := &c.parts[i]
		at.Preload(ctx, at.at+max(from-at.off, 0), at.at+min(to-at.off, at.size))
	}
}

// find returns the number of the part with byte off, or the number of parts.
func (c *Content) find(off int64) int {
	return sort.Search(len(c.parts), func(i int) bool { return c.parts[i].off+c.parts[i].size > off })
}

// MissingKey looks for an encrypted chunk whose key is not known, and returns the key's
// name.
func (c *Content) MissingKey(ctx context.Context) (blte.KeyName, bool, error) {
	for i := range c.parts {
		if name, missing, err := c.parts[i].MissingKey(ctx); missing || err != nil {
			return name, missing, err
		}
	}
	return 0, false, nil
}

// Gaps returns the parts of the content, in order, that lack an encryption key: with
// Options.FillMissingKeys zeros are read there. It may have to decode the file.
func (c *Content) Gaps(ctx context.Context) (all []blte.Gap, err error) {
	for i := range c.parts {
		at := &c.parts[i]
		gaps, err := at.Gaps(ctx)
		if err != nil {
			return nil, fmt.Errorf("casc: %w", err)
		}
		for _, g := range gaps {
			from, to := max(g.Off, at.at), min(g.Off+g.Size, at.at+at.size)
			if from < to {
				all = append(all, blte.Gap{Off: at.off + from - at.at, Size: to - from, Key: g.Key})
			}
		}
	}
	return all, nil
}

// Filled reports whether zeros were read for what lacks an encryption key.
func (c *Content) Filled() bool {
	return slices.ContainsFunc(c.parts, func(p part) bool { return p.Filled() })
}

// ReadAll reads the whole content, which may have at most limit bytes.
func (c *Content) ReadAll(ctx context.Context, limit int64) ([]byte, error) {
	if c.size > limit {
		return nil, fmt.Errorf("casc: %d bytes, more than the %d that are read", c.size, limit)
	}
	b := make([]byte, c.size)
	if n, err := c.ReadAtContext(ctx, b, 0); err != nil {
		return nil, fmt.Errorf("byte %d of %d: %w", n, c.size, err)
	}
	return b, nil
}
