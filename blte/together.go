package blte

import (
	"context"
	"crypto/md5"
	"slices"
	"sync"

	"lorefs/internal/readat"
)

const (
	// togetherBytes bounds the encoded chunks that are read and hashed at once: eight of the usual
	// 256 KB, and a bit more for their modes.
	togetherBytes = 2<<20 + 4<<10
	// maxTogether is how many chunks that may be, if they are small.
	maxTogether = 32
)

// togetherBuffers keeps buffers for chunks that are loaded together.
var togetherBuffers = sync.Pool{New: func() any { return new([togetherBytes]byte) }}

// readTogether copies the contents of chunks from byte at of chunk i on, if several can be loaded at
// once. It returns how many bytes and chunks those are, up to one that can't be loaded.
func (r *Reader) readTogether(p []byte, i int, at int64) (done, chunks int) {
	c := &r.head.Chunks[i]
	to := c.DecodedOff + at + int64(len(p))
	if c.DecodedOff+c.DecodedSize >= to {
		return 0, 0
	}
	n := r.together(i, to)
	if n < 2 {
		return 0, 0
	}
	for _, content := range r.loadTogether(i, n) {
		if content == nil {
			break
		}
		done += copy(p[done:], content[min(at, int64(len(content))):])
		at = 0
		chunks++
	}
	return done, chunks
}

// together returns how many chunks from chunk i on, with bytes before to, can be loaded at once. It
// ends before a chunk for which Options.Decrypted would be called: once for each would be too often.
func (r *Reader) together(i int, to int64) (n int) {
	if !r.head.Table || r.opts.Proven || r.waits {
		return 0
	}
	for size := int64(0); n < maxTogether && i+n < len(r.head.Chunks); n++ {
		c := &r.head.Chunks[i+n]
		if size += c.EncodedSize; c.DecodedOff >= to || size > togetherBytes || c.DecodedSize > maxPreload {
			break
		}
		if r.gaps.of(i+n) != nil || r.asks(context.Background(), i+n) {
			break
		}
	}
	return n
}

// loadTogether returns the contents of n chunks from chunk i on. It loads those that Options.Blocks
// lacks. A chunk that can't be loaded is nil: loading it alone says
// why.
func (r *Reader) loadTogether(i, n int) (contents [][]byte) {
	l := loading{r: r, first: i, contents: make([][]byte, n), encoded: make([][]byte, n)}
	l.claim(i + n - 1)
	if l.buf != nil {
		togetherBuffers.Put(l.buf)
	}
	return l.contents
}

// loading is some chunks in a row that are loaded together.
type loading struct {
	r *Reader
	// first is the first chunk.
	first    int
	contents [][]byte
	// claimed has the chunks that are loaded here, the last first. The others are in the cache, or
	// others load them.
	claimed []int
	// encoded has the claimed chunks with the right MD5, each at its place, in buf.
	encoded [][]byte
	buf     *[togetherBytes]byte
}

// claim asks the cache for the chunks up to chunk i, the last first. Each load includes those of all
// chunks before it. So whoever wants one of these chunks waits for it, and does not load it too; and
// the first chunk, which is wanted first, is there first. Two who load the same chunks can't wait for
// each other, because all go backwards.
func (l *loading) claim(i int) {
	if i < l.first {
		l.read()
		return
	}
	claimed := false
	n := l.r.opts.FirstBlock + uint64(i)
	// The source is none to wait for, so the context has no end: a load that goes on when its caller
	// has left would lose the buffer.
	content, err := l.r.opts.Blocks.Block(context.Background(), n, func(ctx context.Context, _ uint64) ([]byte, error) {
		claimed = true
		l.claimed = append(l.claimed, i)
		l.claim(i - 1)
		return l.load(ctx, i)
	})
	if err == nil {
		l.contents[i-l.first] = content
	}
	if !claimed {
		l.claim(i - 1)
	}
}

// read reads and hashes the chunks that were claimed.
func (l *loading) read() {
	if len(l.claimed) == 0 {
		return
	}
	l.buf = togetherBuffers.Get().(*[togetherBytes]byte)
	src := readat.Bound(context.Background(), l.r.src)
	free := l.buf[:]
	for _, i := range slices.Backward(l.claimed) {
		c := &l.r.head.Chunks[i]
		raw := free[:c.EncodedSize]
		if readat.Full(src, raw, c.Off) == nil && md5.Sum(raw) == c.Sum {
			l.encoded[i-l.first], free = raw, free[c.EncodedSize:]
		}
	}
}

// load returns the content of chunk i, which was claimed.
func (l *loading) load(ctx context.Context, i int) ([]byte, error) {
	raw := l.encoded[i-l.first]
	if raw == nil {
		return l.r.loadBlock(ctx, l.r.opts.FirstBlock+uint64(i))
	}
	return l.r.provable(ctx, i, func() ([]byte, byte, error) {
		content, err := l.r.decodeRead(i, raw, true)
		if err == nil {
			content = apart(content, raw)
		}
		return content, raw[0], err
	})
}
