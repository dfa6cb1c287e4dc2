package blte

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"
	"sync/atomic"

	"lorefs/internal/flight"
	"lorefs/internal/readat"
)

// BlockCache keeps decoded chunks. Package nodes/blockcache has one with a budget.
type BlockCache interface {
	// Block returns block n, from memory or from load. It calls load once however many callers wait,
	// and load may ask for other blocks. A caller leaves when its ctx ends, and the context of load
	// ends when all have left. Callers must not change the block.
	Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error)
}

// Options are the options of NewReader. The zero value is right for a file without
// encrypted chunks that is read from front to back.
type Options struct {
	// Keys finds encryption keys. Default: PublishedKeys.
	Keys Keys
	// Blocks keeps decoded chunks, chunk i as block FirstBlock+i. Default: only the chunk
	// that was read last is kept.
	Blocks     BlockCache
	FirstBlock uint64
	// Key is the file's encoding key or its first bytes. A file with another key is
	// refused. Default: any key is accepted.
	Key []byte
	// Size is the decoded size, if it is known from elsewhere. A file of another size is
	// refused. It saves decoding a file without table just to learn its size. Default: not
	// known.
	Size int64
	// Proven says that the source has compared the chunks with the MD5s of the table before it
	// hands them out, so that it is not done again. Default: it is done here.
	Proven bool
	// Decrypted is called once, before the first content of an encrypted chunk is returned,
	// or of one that may contain encrypted chunks. The MD5s cover encrypted bytes, so a
	// wrong key would go unnoticed without this check. Decrypted may read the file by
	// CopyChunk. If it fails, reads return its error and the next read calls it again,
	// unless a key is missing. It is not called if the table has the MD5s of decoded chunks. Default: no check.
	Decrypted func(context.Context, *Reader) error
}

// Reader reads the decoded content of a file. It is safe for parallel use.
type Reader struct {
	src io.ReaderAt
	// waits says that src may have to be waited for.
	waits bool
	head  *Header
	size  int64
	opts  Options
	// load is loadBlock as a value. It is made once, so that reads allocate nothing.
	load  func(ctx context.Context, n uint64) ([]byte, error)
	large largeChunks
	gaps  gaps
	// unproven and filled are for ReadFilledAt.
	unproven lastBlock
	filled   atomic.Bool
	asked    asked
}

// NewReader opens the file in the first size bytes of src and reads its header. If the file
// has no table and its size is not known, it also decodes the only chunk. If src is a
// readat.Waiting, reads of it end with the context that they are for.
func NewReader(ctx context.Context, src io.ReaderAt, size int64, opts Options) (*Reader, error) {
	head, err := ReadHeader(readat.Bound(ctx, src), size)
	if err != nil {
		return nil, err
	}
	if opts.Keys == nil {
		opts.Keys = PublishedKeys()
	}
	if opts.Blocks == nil {
		opts.Blocks = &lastBlock{}
	}
	r := &Reader{src: src, head: head, size: head.DecodedSize, opts: opts}
	_, r.waits = src.(readat.Waiting)
	r.load = r.loadBlock
	return r, r.check(ctx)
}

// check compares the file with the key and size of the options.
func (r *Reader) check(ctx context.Context) error {
	known := r.opts.Size > 0
	if r.head.Table {
		if !hasPrefix(r.head.Key, r.opts.Key) {
			return badHeader(0, "the encoding key is %x, expected %x", r.head.Key, r.opts.Key)
		}
		if known && r.size != r.opts.Size {
			return badHeader(tableOff, "the chunks have %d bytes, the file should have %d", r.size, r.opts.Size)
		}
		return nil
	}
	if known {
		r.size = r.opts.Size
		r.head.Chunks[0].DecodedSize = r.size
		return nil
	}
	if large, err := r.inPlace(ctx, 0); large != nil || err != nil {
		r.size = r.head.Chunks[0].EncodedSize - 1
		return err
	}
	content, err := r.chunk(ctx, 0)
	r.size = int64(len(content))
	return err
}

func hasPrefix(key MD5, prefix []byte) bool {
	return len(prefix) <= len(key) && string(key[:len(prefix)]) == string(prefix)
}

// Size returns the number of decoded bytes.
func (r *Reader) Size() int64 { return r.size }

// Header returns the file's header. It must not be changed.
func (r *Reader) Header() *Header { return r.head }

// ReadAt reads the decoded file. It stops before the first byte of a chunk that can't be
// decoded, with a *FormatError that says which chunk and where. If the key of a chunk is
// not known the error matches ErrNoKey.
func (r *Reader) ReadAt(p []byte, off int64) (int, error) {
	return r.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext is ReadAt, and ends with an error when ctx ends.
func (r *Reader) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	return r.readAt(ctx, p, off, false)
}

func (r *Reader) readAt(ctx context.Context, p []byte, off int64, fill bool) (int, error) {
	if off < 0 {
		return 0, errors.New("blte: negative offset")
	}
	done := 0
	for i := r.find(off); done < len(p) && i < len(r.head.Chunks); i++ {
		at := off + int64(done) - r.head.Chunks[i].DecodedOff
		n, err := r.readChunk(ctx, p[done:], i, at, fill)
		done += n
		if err != nil {
			return done, err
		}
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// readChunk copies the content of chunk i from byte at on. fill is for ReadFilledAt.
func (r *Reader) readChunk(ctx context.Context, p []byte, i int, at int64, fill bool) (int, error) {
	large, err := r.inPlace(ctx, i)
	if err != nil {
		return 0, err
	}
	if large == nil {
		if fill {
			return r.fillChunk(ctx, p, i, at)
		}
		content, err := r.chunk(ctx, i)
		if err != nil {
			return 0, err
		}
		return copy(p, content[min(at, int64(len(content))):]), nil
	}
	n, err := large.ReadAtContext(ctx, p, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, r.fail(i, err)
	}
	return n, nil
}

// ReadPlainAt fills p with bytes of the decoded file straight from the source, if all of
// them are in one chunk of mode N. It checks no MD5: it is for callers with checksums of
// smaller parts, since a plain chunk may be as large as the file. If it returns false, the
// content of p is undefined.
func (r *Reader) ReadPlainAt(ctx context.Context, p []byte, off int64) bool {
	i := r.find(off)
	if off < 0 || i >= len(r.head.Chunks) {
		return false
	}
	c := &r.head.Chunks[i]
	at := off - c.DecodedOff
	if at+int64(len(p)) > c.EncodedSize-1 {
		return false
	}
	var mode [1]byte
	src := readat.Bound(ctx, r.src)
	if readat.Full(src, mode[:], c.Off) != nil || mode[0] != ModePlain {
		return false
	}
	return readat.Full(src, p, c.Off+1+at) == nil
}

// maxPreload is the largest chunk that is preloaded, and the largest file that is proven for that,
// in bytes: nobody may want it after all.
const maxPreload = 4 << 20

// Preload loads the chunks with bytes between two places into Options.Blocks, for reads that will
// follow. It leaves out large chunks, and encrypted ones before which Options.Decrypted would have
// to read a large file. It leaves errors to those reads. Without Options.Blocks it does nothing.
func (r *Reader) Preload(ctx context.Context, from, to int64) {
	if _, single := r.opts.Blocks.(*lastBlock); single {
		return
	}
	for i := r.find(from); ctx.Err() == nil && i < len(r.head.Chunks) && r.head.Chunks[i].DecodedOff < to; i++ {
		if c := &r.head.Chunks[i]; max(c.EncodedSize, c.DecodedSize) <= maxPreload && !r.provesMuch(ctx, i) {
			if _, err := r.chunk(ctx, i); err != nil {
				return
			}
		}
	}
}

// provesMuch reports whether Options.Decrypted would read a large file before chunk i is loaded,
// which nobody could interrupt.
func (r *Reader) provesMuch(ctx context.Context, i int) bool {
	return r.size > maxPreload && r.asks(ctx, i)
}

// asks reports whether Options.Decrypted has a say in chunk i, and has not accepted the file.
func (r *Reader) asks(ctx context.Context, i int) bool {
	if r.opts.Decrypted == nil || r.head.Long {
		return false
	}
	if done, noKey := r.asked.answer(); done && noKey == nil {
		return false
	}
	var mode [1]byte
	err := readat.Full(readat.Bound(ctx, r.src), mode[:], r.head.Chunks[i].Off)
	return err != nil || mode[0] == ModeEncrypted || mode[0] == ModeFrame
}

// find returns the number of the chunk with byte off, or the number of chunks.
func (r *Reader) find(off int64) int {
	if off >= r.size {
		return len(r.head.Chunks)
	}
	if !r.head.Table {
		return 0
	}
	return sort.Search(len(r.head.Chunks), func(i int) bool {
		c := &r.head.Chunks[i]
		return c.DecodedOff+c.DecodedSize > off
	})
}

func (r *Reader) chunk(ctx context.Context, i int) ([]byte, error) {
	if err := r.gaps.of(i); err != nil {
		return nil, err
	}
	if !r.waits {
		// Loading takes a moment, and would take longer in a goroutine that can be left.
		ctx = context.Background()
	}
	return r.opts.Blocks.Block(ctx, r.opts.FirstBlock+uint64(i), r.load)
}

// CopyChunk reads, checks and decodes chunk i, and writes its content to w. It does not
// call Options.Decrypted, and keeps no chunk. It also accepts chunks without content. If ctx has
// ended it returns the error of that, so that a loop over all chunks ends for every source.
func (r *Reader) CopyChunk(ctx context.Context, w io.Writer, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	large, err := r.inPlace(ctx, i)
	if err != nil {
		return err
	}
	if large != nil {
		_, err := io.CopyBuffer(w, io.NewSectionReader(readat.Bound(ctx, large), 0, large.Size()), make([]byte, readat.PieceSize))
		if err != nil {
			return r.fail(i, err)
		}
		return nil
	}
	content, _, err := r.loadChunk(ctx, i)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}

// maxPooled is the largest encoded chunk that is read into a shared buffer.
const maxPooled = 1 << 20

// encodedBuffers keeps buffers for encoded chunks. Their content is never returned to a
// caller. Without them verify of a CASC storage takes 1.3 times as long.
var encodedBuffers = sync.Pool{New: func() any { return new([maxPooled]byte) }}

// loadBlock loads the chunk of block n for the cache, unless Options.Decrypted fails.
func (r *Reader) loadBlock(ctx context.Context, n uint64) ([]byte, error) {
	i := int(n - r.opts.FirstBlock)
	if err := r.unprovable(ctx, i); err != nil {
		return nil, err
	}
	content, mode, err := r.loadChunk(ctx, i)
	if err == nil && (mode == ModeEncrypted || mode == ModeFrame) {
		err = r.askDecrypted(ctx)
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// unprovable returns the error of Options.Decrypted for chunk i, if that is known before the
// chunk is loaded.
func (r *Reader) unprovable(ctx context.Context, i int) error {
	_, err := r.asked.answer()
	if err == nil {
		return nil
	}
	var mode [1]byte
	if readErr := readat.Full(readat.Bound(ctx, r.src), mode[:], r.head.Chunks[i].Off); readErr != nil || mode[0] != ModeEncrypted && mode[0] != ModeFrame || isGap(i, err) {
		return nil
	}
	return err
}

// asked remembers what Options.Decrypted said of a file.
type asked struct {
	calls flight.Group[struct{}, struct{}]

	mu   sync.Mutex // guards the fields below; never held while Options.Decrypted runs
	done bool
	// noKey is the error if a key is missing, which stays so.
	noKey error
}

func (a *asked) answer() (done bool, noKey error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.done, a.noKey
}

func (r *Reader) askDecrypted(ctx context.Context) error {
	if r.opts.Decrypted == nil || r.head.Long {
		return nil
	}
	if done, err := r.asked.answer(); done {
		return err
	}
	_, err := r.asked.calls.Do(ctx, struct{}{}, func(ctx context.Context) (struct{}, error) {
		// Another caller may have asked between our look and our turn.
		if done, err := r.asked.answer(); done {
			return struct{}{}, err
		}
		err := r.opts.Decrypted(ctx, r)
		r.asked.mu.Lock()
		defer r.asked.mu.Unlock()
		if errors.Is(err, ErrNoKey) {
			r.asked.noKey = err
		}
		r.asked.done = err == nil || r.asked.noKey != nil
		return struct{}{}, err
	})
	return err
}

// loadChunk reads, checks and decodes chunk i.
func (r *Reader) loadChunk(ctx context.Context, i int) (content []byte, mode byte, err error) {
	c := &r.head.Chunks[i]
	if c.EncodedSize > maxPooled {
		raw := make([]byte, c.EncodedSize)
		content, err = r.decodeChunk(ctx, i, raw)
		return content, raw[0], err
	}
	buf := encodedBuffers.Get().(*[maxPooled]byte)
	defer encodedBuffers.Put(buf)
	raw := buf[:c.EncodedSize]
	content, err = r.decodeChunk(ctx, i, raw)
	if err == nil {
		content = apart(content, raw)
	}
	return content, raw[0], err
}

// apart returns the content of a chunk in memory of its own, if it may lie in that of the encoded
// chunk, which the next one takes.
func apart(content, raw []byte) []byte {
	if raw[0] == ModePlain || raw[0] == ModeFrame {
		return bytes.Clone(content)
	}
	return content
}

// decodeChunk reads chunk i into raw and decodes it. The content may share memory with raw.
func (r *Reader) decodeChunk(ctx context.Context, i int, raw []byte) ([]byte, error) {
	if err := readat.Full(readat.Bound(ctx, r.src), raw, r.head.Chunks[i].Off); err != nil {
		return nil, r.fail(i, err)
	}
	if !r.head.Table && len(r.opts.Key) > 0 {
		if err := r.checkWhole(raw); err != nil {
			return nil, err
		}
	}
	content, err := decoder{keys: r.opts.Keys, proven: r.opts.Proven}.decodeSummed(raw, i, r.head)
	if err != nil {
		err = r.fail(i, err)
		if errors.Is(err, ErrNoKey) {
			r.gaps.add(i, err)
		}
		return nil, err
	}
	return content, nil
}

// checkWhole compares the key of a file without table, the MD5 of the whole file.
func (r *Reader) checkWhole(raw []byte) error {
	sum := md5.New()
	sum.Write([]byte(noTable))
	sum.Write(raw)
	if key := MD5(sum.Sum(nil)); !hasPrefix(key, r.opts.Key) {
		return badHeader(0, "the encoding key is %x, expected %x", key, r.opts.Key)
	}
	return nil
}

// fail adds to err its place in chunk i. Errors of reading the source are left as they are.
func (r *Reader) fail(i int, err error) error {
	off := r.head.Chunks[i].Off
	_, damaged := errors.AsType[*errFormat](err)
	damaged = damaged || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, readat.ErrChanged)
	if damaged || errors.Is(err, ErrNoKey) {
		return &FormatError{Off: off, Chunk: i, Err: err}
	}
	return fmt.Errorf("blte: offset %#x: reading chunk %d: %w", off, i, err)
}

// MissingKey looks for a chunk whose key is not known, and returns the key's name. It reads
// only the beginning of each chunk, and can't look into encrypted chunks or files in
// chunks.
func (r *Reader) MissingKey(ctx context.Context) (KeyName, bool, error) {
	var b [20]byte
	src := readat.Bound(ctx, r.src)
	for i := range r.head.Chunks {
		c := &r.head.Chunks[i]
		raw := b[:min(int64(len(b)), c.EncodedSize)]
		if err := readat.Full(src, raw, c.Off); err != nil {
			return 0, false, r.fail(i, err)
		}
		if raw[0] != ModeEncrypted {
			continue
		}
		e, _, err := parseEncryption(raw[1:])
		if err != nil {
			return 0, false, r.fail(i, err)
		}
		if _, ok := r.opts.Keys.EncryptionKey(e.Name); !ok {
			return e.Name, true, nil
		}
	}
	return 0, false, nil
}

// lastBlock is the default BlockCache.
type lastBlock struct {
	loads flight.Group[uint64, []byte]

	mu   sync.Mutex // guards the fields below; never held while a chunk is loaded
	held bool
	n    uint64
	b    []byte
}

func (l *lastBlock) Block(ctx context.Context, n uint64, load func(ctx context.Context, n uint64) ([]byte, error)) ([]byte, error) {
	if b, ok := l.get(n); ok {
		return b, nil
	}
	return l.loads.Do(ctx, n, func(ctx context.Context) ([]byte, error) {
		// Another caller may have loaded it between our miss and our turn.
		if b, ok := l.get(n); ok {
			return b, nil
		}
		b, err := load(ctx, n)
		if err == nil {
			l.mu.Lock()
			l.held, l.n, l.b = true, n, b
			l.mu.Unlock()
		}
		return b, err
	})
}

func (l *lastBlock) get(n uint64) ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b, l.held && l.n == n
}
