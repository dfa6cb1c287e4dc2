package blte

import (
	"context"
	"errors"
	"io"
	"sync"

	"lorefs/internal/readat"
)

// Gap is a part of the content that can't be decoded, because its key is not known.
type Gap struct {
	// Off and Size are its place in the decoded file.
	Off, Size int64
	// Key is the name of the missing key.
	Key KeyName
}

// maxGaps is how many chunks a Reader remembers that it has no key for.
const maxGaps = 1 << 12

// gaps are chunks of a Reader whose key is not known, so that they are not read again for
// nothing. A Reader asks for a key once.
type gaps struct {
	mu sync.RWMutex // guards found
	// found has the error of each chunk.
	found map[int]error
}

func (g *gaps) of(i int) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.found[i]
}

func (g *gaps) add(i int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.found == nil {
		g.found = map[int]error{}
	}
	if len(g.found) < maxGaps {
		g.found[i] = err
	}
}

// ReadFilledAt is ReadAtContext with zeros for the content of chunks whose key is not known. No
// Options.Blocks gets such zeros. If Options.Decrypted fails for want of a key, other
// decrypted chunks are returned without that check.
func (r *Reader) ReadFilledAt(ctx context.Context, p []byte, off int64) (int, error) {
	return r.readAt(ctx, p, off, true)
}

// Filled reports whether ReadFilledAt has returned such zeros.
func (r *Reader) Filled() bool { return r.filled.Load() }

// fillChunk copies the content of chunk i from byte at on, or zeros.
func (r *Reader) fillChunk(ctx context.Context, p []byte, i int, at int64) (int, error) {
	content, err := r.chunk(ctx, i)
	if errors.Is(err, ErrNoKey) && !isGap(i, err) { // the missing key is that of another chunk
		content, err = r.unproven.Block(ctx, uint64(i), func(ctx context.Context, _ uint64) ([]byte, error) {
			content, _, err := r.loadChunk(ctx, i)
			return content, err
		})
	}
	switch c := &r.head.Chunks[i]; {
	case err == nil:
		return copy(p, content[min(at, int64(len(content))):]), nil
	case !errors.Is(err, ErrNoKey):
		return 0, err
	// Nothing can be decoded to prove the stated size, so it has to be possible at least.
	case c.DecodedSize > c.EncodedSize*inflateRatio:
		return 0, r.fail(i, badChunk("%d encrypted bytes can't become the stated %d", c.EncodedSize, c.DecodedSize))
	default:
		n := int(min(int64(len(p)), c.DecodedSize-at))
		clear(p[:n])
		r.filled.Store(true)
		return n, nil
	}
}

// isGap reports whether err says that the key of chunk i is missing.
func isGap(i int, err error) bool {
	e, ok := errors.AsType[*FormatError](err)
	return ok && e.Chunk == i
}

// Gaps returns the parts of the content that ReadFilledAt fills with zeros, in order;
// neighbours with the same missing key are one. It reads the beginning of each chunk, and
// decodes those that may have encrypted ones inside.
func (r *Reader) Gaps(ctx context.Context) (all []Gap, err error) {
	src := readat.Bound(ctx, r.src)
	for i := range r.head.Chunks {
		c := &r.head.Chunks[i]
		if c.DecodedSize == 0 {
			continue
		}
		var mode [1]byte
		if err := readat.Full(src, mode[:], c.Off); err != nil {
			return nil, r.fail(i, err)
		}
		if mode[0] != ModeEncrypted && mode[0] != ModeFrame {
			continue
		}
		err := r.gaps.of(i)
		if err == nil {
			err = r.CopyChunk(ctx, io.Discard, i)
		}
		missing, ok := errors.AsType[*KeyError](err)
		switch {
		case err == nil:
		case !ok:
			return nil, err
		case len(all) > 0 && all[len(all)-1].Key == missing.Name && all[len(all)-1].Off+all[len(all)-1].Size == c.DecodedOff:
			all[len(all)-1].Size += c.DecodedSize
		default:
			all = append(all, Gap{c.DecodedOff, c.DecodedSize, missing.Name})
		}
	}
	return all, nil
}
