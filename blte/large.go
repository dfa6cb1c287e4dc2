package blte

import (
	"context"
	"crypto/md5"
	"io"
	"sync"

	"lorefs/internal/flight"
	"lorefs/internal/readat"
)

// maxHeld is the largest plain chunk that is decoded as a whole. A larger one, such as a
// film, would push everything else out of the cache.
const maxHeld = 8 << 20

// largeChunks are the plain chunks that are read in place. The first read checks a chunk's
// MD5, later reads check the checksum of each piece.
type largeChunks struct {
	checks flight.Group[int, *readat.Checked]

	mu sync.Mutex // guards content; never held while a chunk is checked
	// content has the chunks that were looked at; nil means that the chunk is decoded as a
	// whole.
	content map[int]*readat.Checked
}

func (l *largeChunks) get(i int) (content *readat.Checked, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	content, known = l.content[i]
	return content, known
}

func (l *largeChunks) put(i int, content *readat.Checked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.content == nil {
		l.content = map[int]*readat.Checked{}
	}
	l.content[i] = content
}

// inPlace returns the content of chunk i if it is read in place, else nil. It checks the
// chunk if that has not been done.
func (r *Reader) inPlace(ctx context.Context, i int) (*readat.Checked, error) {
	if r.head.Chunks[i].EncodedSize <= maxHeld {
		return nil, nil
	}
	if content, known := r.large.get(i); known {
		return content, nil
	}
	return r.large.checks.Do(ctx, i, func(ctx context.Context) (*readat.Checked, error) {
		// Another caller may have checked it between our look and our turn.
		if content, known := r.large.get(i); known {
			return content, nil
		}
		content, err := r.look(ctx, i)
		if err == nil {
			r.large.put(i, content)
		}
		return content, err
	})
}

// look returns the content of large chunk i if it is plain, and nil if not.
func (r *Reader) look(ctx context.Context, i int) (*readat.Checked, error) {
	var mode [1]byte
	if err := readat.Full(readat.Bound(ctx, r.src), mode[:], r.head.Chunks[i].Off); err != nil {
		return nil, r.fail(i, err)
	}
	if mode[0] != ModePlain {
		return nil, nil
	}
	return r.checkLarge(ctx, i)
}

// checkLarge checks the size and the sums of a plain chunk, as decodeSummed does, and the
// key of a file without table, as checkWhole does.
func (r *Reader) checkLarge(ctx context.Context, i int) (*readat.Checked, error) {
	c := &r.head.Chunks[i]
	size := c.EncodedSize - 1
	if c.DecodedSize >= 0 && c.DecodedSize != size {
		return nil, r.fail(i, badChunk("mode %c: %d bytes decoded, %d stated", ModePlain, size, c.DecodedSize))
	}
	encoded, decoded := md5.New(), md5.New()
	var check io.Writer = encoded
	switch {
	case !r.head.Table:
		encoded.Write([]byte(noTable))
	case r.head.Long:
		check = io.MultiWriter(encoded, decoded)
	}
	// The mode in the file may have changed since it was read.
	encoded.Write([]byte{ModePlain})
	content, err := readat.Check(ctx, readat.Section{Src: r.src, Off: c.Off + 1, Size: size}, size, check)
	if err != nil {
		return nil, r.fail(i, err)
	}
	sum := MD5(encoded.Sum(nil))
	switch {
	case !r.head.Table && !hasPrefix(sum, r.opts.Key):
		return nil, badHeader(0, "the encoding key is %x, expected %x", sum, r.opts.Key)
	case r.head.Table && sum != c.Sum:
		return nil, r.fail(i, badChunk("the MD5 is %x, the table has %x", sum, c.Sum))
	case r.head.Long && MD5(decoded.Sum(nil)) != c.DecodedSum:
		return nil, r.fail(i, badChunk("the MD5 of the content is %x, the table has %x", decoded.Sum(nil), c.DecodedSum))
	}
	return content, nil
}
