package far

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync/atomic"

	"lorefs/blte"
	"lorefs/casc/internal/format"
	"lorefs/casc/internal/store"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/internal/remote/ahead"
)

const (
	// maxAtOnce is the size of an encoded file, in bytes, up to which it is fetched as a whole,
	// and maxAllAtOnce if all of each file is read.
	maxAtOnce    = 1 << 20
	maxAllAtOnce = 8 << 20
	// firstRead is how much of a larger file is fetched at first: its header, and what of its
	// first chunks comes with it.
	firstRead = 128 << 10
)

// Object is an encoded file that is far away. Only proven bytes of it are handed out, so
// what is fetched are whole chunks. It is safe for parallel use.
type Object struct {
	File
	from   Remote
	chunks *chunkCache
	// head is nil for a file that is proven as a whole, because it is small or has no chunks.
	head *blte.Header
	// header are the bytes before the first chunk.
	header []byte
	// reads fetches chunks.
	reads ahead.Reader[struct{}]
	// ofRow says that it is let go of by its row.
	ofRow bool
}

// whole is the number of the only piece of a file that is proven as a whole.
const whole = -1

// openRemoteFile fetches the beginning of a file, or all of it if it is small.
func openRemoteFile(ctx context.Context, from Remote, chunks *chunkCache, f File) (*Object, error) {
	r := &Object{File: f, from: from, chunks: chunks}
	if f.Size <= chunks.atOnce {
		return r, r.fetchWhole(ctx)
	}
	size := int64(firstRead)
	for {
		data, stated, err := r.begin(ctx, min(size, f.Size))
		switch {
		case err != nil:
			return nil, err
		case len(data) > 0:
			if r.head, err = blte.ReadHeader(bytes.NewReader(data), f.Size); err != nil {
				return nil, r.fail(err)
			}
			r.header = data[:r.head.Size:r.head.Size]
			r.cacheFirst(data)
			return r, nil
		case stated <= size || stated > f.Size:
			return r, r.fetchWhole(ctx) // it has no table, or is no BLTE
		}
		size = stated
	}
}

// begin fetches the beginning of a file. Without data, stated is the size of the header, which
// nothing has proven, or 0 for a file without one.
func (r *Object) begin(ctx context.Context, size int64) (data []byte, stated int64, err error) {
	// A request that ctx does not wait for any more may still be going on.
	var seen atomic.Int64
	const unseen = -1
	for seen.Store(unseen); seen.Load() == unseen; {
		data, err = r.from.Begin(ctx, r.File, size, func(b []byte) (int, error) {
			n, stated, err := provenBeginning(b, r.Key, r.Size)
			seen.Store(stated)
			return n, err
		})
		if err != nil || len(data) > 0 {
			return data, 0, err
		}
		// Somebody else has made the same request, and knows what it stated.
	}
	return nil, seen.Load(), nil
}

// provenBeginning returns how many bytes of the beginning of a file of size bytes are proven:
// its header by the key, and the chunks that are all there by the header. If that is nothing,
// stated is how large the header says it is, or 0 if there is none.
func provenBeginning(b []byte, key keys.Key, size int64) (n int, stated int64, err error) {
	const prefix = 8
	if len(b) < prefix || string(b[:4]) != "BLTE" {
		return 0, 0, nil
	}
	stated = int64(binary.BigEndian.Uint32(b[4:]))
	if stated == 0 || stated > int64(len(b)) {
		return 0, stated, nil
	}
	if sum := keys.Of(b[:stated]); sum != key {
		return 0, stated, fmt.Errorf("the MD5 of its header is %v, not %v", sum, key)
	}
	head, err := blte.ReadHeader(bytes.NewReader(b), size)
	if err != nil {
		return 0, stated, err
	}
	n = int(head.Size)
	for i := range head.Chunks {
		c := &head.Chunks[i]
		if c.Off+c.EncodedSize > int64(len(b)) {
			break
		}
		if err := proveChunks(b[c.Off:c.Off+c.EncodedSize], head.Chunks[i:i+1]); err != nil {
			return 0, stated, err
		}
		n = int(c.Off + c.EncodedSize)
	}
	return n, stated, nil
}

// proveChunks compares chunks, which follow each other, with the MD5s of the table.
func proveChunks(b []byte, chunks []blte.ChunkInfo) error {
	for i := range chunks {
		c := &chunks[i]
		if sum := md5.Sum(b[:c.EncodedSize]); sum != c.Sum {
			return fmt.Errorf("the chunk at %#x has the MD5 %x, the table has %x", c.Off, sum, c.Sum)
		}
		b = b[c.EncodedSize:]
	}
	return nil
}

// proveWhole proves a whole encoded file by its key.
func proveWhole(b []byte, key keys.Key) error {
	n, stated, err := provenBeginning(b, key, int64(len(b)))
	switch {
	case err != nil:
		return err
	case n > 0 && n == len(b):
		return nil
	case n > 0 || stated > 0:
		return fmt.Errorf("its chunks end at %d, and it has %d bytes", n, len(b))
	}
	if sum := keys.Of(b); sum == key {
		return nil
	} else if m, err := manifests.ParsePatch(b); err != nil || m.Key != key {
		return fmt.Errorf("its MD5 is %v, not %v", sum, key)
	}
	return nil
}

// fetchWhole fetches a file that is proven as a whole.
func (r *Object) fetchWhole(ctx context.Context) error {
	if _, ok := r.chunks.get(r.Key, whole); ok {
		return nil
	}
	data, err := r.from.Range(ctx, r.File, 0, r.Size, func(b []byte) error { return proveWhole(b, r.Key) })
	if err != nil {
		return err
	}
	r.chunks.put(r.Key, whole, data)
	return nil
}

// cacheFirst keeps the chunks that came with the header.
func (r *Object) cacheFirst(data []byte) {
	for i := range r.head.Chunks {
		c := &r.head.Chunks[i]
		if c.Off+c.EncodedSize > int64(len(data)) {
			return
		}
		r.chunks.put(r.Key, i, data[c.Off:][:c.EncodedSize])
		r.reads.Follow(i + 1)
	}
}

// plain returns where size decoded bytes from off on lie as they are, if they do.
func (r *Object) plain(off, size int64) (at int64, ok bool) {
	if r.head == nil {
		return 0, false
	}
	i := sort.Search(len(r.head.Chunks), func(i int) bool {
		c := &r.head.Chunks[i]
		return c.DecodedOff+c.DecodedSize > off
	})
	if i == len(r.head.Chunks) {
		return 0, false
	}
	c := &r.head.Chunks[i]
	if _, here := r.chunks.get(r.Key, i); here || off+size > c.DecodedOff+c.DecodedSize {
		return 0, false
	}
	// Whatever is packed or encrypted has another size than a mode and the content.
	return c.Off + 1 + off - c.DecodedOff, c.EncodedSize == c.DecodedSize+1
}

// ReadPlain reads decoded bytes that lie as they are, which check proves, if they do.
func (r *Object) ReadPlain(ctx context.Context, p []byte, off int64, check func([]byte) error) (plain bool, err error) {
	at, plain := r.plain(off, int64(len(p)))
	if !plain {
		return false, nil
	}
	data, err := r.from.Range(ctx, r.File, at, int64(len(p)), check)
	copy(p, data)
	return true, err
}

// Place returns the file as the storage reads it.
func (r *Object) Place() store.File {
	p := store.File{ReaderAt: r, Size: r.Size, In: "loose file " + r.Key.String(), Off: r.Off, Proven: true}
	if !r.Archive.IsZero() {
		p.In = "archive " + r.Archive.String()
	}
	return p
}

// ReadAt implements io.ReaderAt.
func (r *Object) ReadAt(p []byte, off int64) (int, error) {
	return r.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext implements readat.Waiting.
func (r *Object) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 || off > r.Size {
		return 0, fmt.Errorf("casc: offset %d of %d", off, r.Size)
	}
	short := int64(len(p)) > r.Size-off
	p = p[:min(int64(len(p)), r.Size-off)]
	done := 0
	for done < len(p) {
		piece, from, err := r.piece(ctx, off+int64(done))
		if err != nil {
			return done, err
		}
		if from >= int64(len(piece)) {
			return done, r.fail(blteFormat.Bad(off+int64(done), "no chunk has this byte"))
		}
		done += copy(p[done:], piece[from:])
		r.used(off + int64(done))
	}
	if short {
		return done, io.EOF
	}
	return done, nil
}

// used lets go of a piece when all bytes before end were read: whoever reads a piece keeps
// what it becomes. Larger ones are read in parts, and again. So are those of encrypted files, all of
// which are read once to prove them, and which would come twice if they are not on the disk.
func (r *Object) used(end int64) {
	if r.head == nil {
		if end == r.Size && r.Size <= r.chunks.atOnce && !r.ofRow {
			r.drop(whole)
		}
		return
	}
	i := sort.Search(len(r.head.Chunks), func(i int) bool { return r.head.Chunks[i].Off >= end }) - 1
	if i >= 0 {
		if c := &r.head.Chunks[i]; c.Off+c.EncodedSize == end && c.EncodedSize <= maxDropped {
			r.drop(i)
		}
	}
}

// drop lets go of a piece unless it is encrypted and nowhere else.
func (r *Object) drop(piece int) {
	if r.chunks.once {
		if b, ok := r.chunks.get(r.Key, piece); ok && (piece == whole && anyEncrypted(b) || piece != whole && isEncrypted(b)) {
			return
		}
	}
	r.chunks.drop(r.Key, piece)
}

// isEncrypted reports whether an encoded chunk is encrypted, or may have chunks that are.
func isEncrypted(chunk []byte) bool {
	return len(chunk) > 0 && (chunk[0] == blte.ModeEncrypted || chunk[0] == blte.ModeFrame)
}

// anyEncrypted reports whether a proven file has a chunk that isEncrypted.
func anyEncrypted(file []byte) bool {
	head, err := blte.ReadHeader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(head.Chunks, func(c blte.ChunkInfo) bool { return isEncrypted(file[c.Off:]) })
}

// maxDropped is the size of the largest chunk that its reader decodes as a whole.
const maxDropped = 8 << 20

// piece returns the header, a chunk, or the whole file: what has the byte at off, and where.
func (r *Object) piece(ctx context.Context, off int64) (b []byte, from int64, err error) {
	if r.head == nil {
		for {
			if b, ok := r.chunks.get(r.Key, whole); ok {
				return b, off, nil
			}
			if err := r.fetchWhole(ctx); err != nil {
				return nil, 0, err
			}
		}
	}
	if off < r.head.Size {
		return r.header, off, nil
	}
	i := sort.Search(len(r.head.Chunks), func(i int) bool {
		c := &r.head.Chunks[i]
		return c.Off+c.EncodedSize > off
	})
	if i == len(r.head.Chunks) {
		return nil, 0, nil // bytes behind the last chunk
	}
	b, err = r.chunk(ctx, i)
	return b, off - r.head.Chunks[i].Off, err
}

// chunk returns an encoded chunk.
func (r *Object) chunk(ctx context.Context, i int) ([]byte, error) {
	for {
		if b, ok := r.chunks.get(r.Key, i); ok {
			return b, nil
		}
		_, _, err := r.reads.Fetch(ctx, i, ahead.Chunks{
			Count: len(r.head.Chunks), Room: r.chunks.room() / 2,
			Size: func(i int) int64 { return r.head.Chunks[i].EncodedSize },
			Here: func(i int) bool { _, here := r.chunks.get(r.Key, i); return here },
		}, r.fetch)
		if err != nil {
			return nil, err
		}
	}
}

// fetch fetches a span of chunks.
func (r *Object) fetch(ctx context.Context, span ahead.Span) (struct{}, error) {
	chunks := r.head.Chunks[span.From:span.To]
	off := chunks[0].Off
	last := &chunks[len(chunks)-1]
	b, err := r.from.Range(ctx, r.File, off, last.Off+last.EncodedSize-off, func(b []byte) error { return proveChunks(b, chunks) })
	if err != nil {
		return struct{}{}, err
	}
	for i := range chunks {
		r.chunks.put(r.Key, span.From+i, b[chunks[i].Off-off:][:chunks[i].EncodedSize])
	}
	return struct{}{}, nil
}

func (r *Object) fail(err error) error {
	p := r.Place()
	return fmt.Errorf("encoding key %v, %v: %w", r.Key, &p, err)
}

const blteFormat format.Name = "BLTE"
