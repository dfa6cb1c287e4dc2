package blte_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/internal/cache"
	"lorefs/nodes/blockcache"
)

// countedSource counts how often what lies at an offset is read.
type countedSource struct {
	io.ReaderAt
	mu    sync.Mutex
	reads map[int64]int
}

func (s *countedSource) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	s.reads[off]++
	s.mu.Unlock()
	return s.ReaderAt.ReadAt(p, off)
}

// manyChunks returns a file of chunks of all kinds of modes, and its content.
func manyChunks(t *testing.T, n, size int) (file, content []byte) {
	t.Helper()
	var chunks []blte.Chunk
	for i := range n {
		c := blte.Chunk{Content: bltetest.Noise(size+i, uint64(i)), Mode: []byte{blte.ModePlain, blte.ModeZlib, blte.ModeLZ4}[i%3]}
		chunks = append(chunks, c)
		content = append(content, c.Content...)
	}
	return bltetest.Build(t, blte.WriteOptions{}, chunks...), content
}

// TestChunksOnce reads and preloads overlapping parts of a file at once. Each chunk is read from
// the source once.
func TestChunksOnce(t *testing.T) {
	const chunks, size = 64, 10_000
	file, content := manyChunks(t, chunks, size)
	src := &countedSource{ReaderAt: bytes.NewReader(file), reads: map[int64]int{}}
	r, err := blte.NewReader(t.Context(), src, int64(len(file)), blte.Options{Blocks: &cache.All{}})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for from := 0; from < len(content); from += 7 * size / 2 {
		to := min(from+11*size, len(content))
		all.Go(func() { r.Preload(t.Context(), int64(from), int64(to)) })
		all.Go(func() {
			got := make([]byte, to-from)
			if _, err := r.ReadAt(got, int64(from)); err != nil || !bytes.Equal(got, content[from:to]) {
				t.Errorf("from %d to %d: %v", from, to, err)
			}
		})
	}
	all.Wait()
	for i, c := range r.Header().Chunks {
		if n := src.reads[c.Off]; n != 1 {
			t.Errorf("chunk %d is read %d times", i, n)
		}
	}
}

// TestChunksDamaged reads across a chunk that is damaged: up to it, and from behind it.
func TestChunksDamaged(t *testing.T) {
	file, content := manyChunks(t, 9, 1000)
	for bad := range 9 {
		file := bytes.Clone(file)
		for _, blocks := range []blte.BlockCache{nil, &cache.All{}} {
			r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{Blocks: blocks})
			if err != nil {
				t.Fatal(err)
			}
			c := r.Header().Chunks[bad]
			file[c.Off+c.EncodedSize-1] ^= 1
			got := make([]byte, len(content))
			n, err := r.ReadAt(got, 0)
			damage, ok := errors.AsType[*blte.FormatError](err)
			if !ok || damage.Chunk != bad || int64(n) != c.DecodedOff || !bytes.Equal(got[:n], content[:n]) {
				t.Errorf("chunk %d is damaged: %d bytes, %v", bad, n, err)
			}
			behind := c.DecodedOff + c.DecodedSize
			if n, err := r.ReadAt(got[behind:], behind); int64(n) != r.Size()-behind || err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("behind chunk %d, which is damaged: %d bytes, %v", bad, n, err)
			}
			file[c.Off+c.EncodedSize-1] ^= 1
		}
	}
	r, err := blte.NewReader(t.Context(), bytes.NewReader(file), int64(len(file)), blte.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 999, 1500, 2500, 9000} {
		for off := 0; off < len(content); off += size {
			got := make([]byte, min(size, len(content)-off))
			if _, err := r.ReadAt(got, int64(off)); err != nil || !bytes.Equal(got, content[off:][:len(got)]) {
				t.Fatalf("%d bytes at %d: %v", size, off, err)
			}
		}
	}
}

// allModes returns a file of n chunks of all modes, some of them empty, and its content.
func allModes(t *testing.T, n int) (file, content []byte) {
	t.Helper()
	var encoded [][]byte
	var decoded []int
	for i := range n {
		c := blte.Chunk{Content: bltetest.Noise(3000+i, uint64(i)), Mode: []byte{blte.ModePlain, blte.ModeZlib, blte.ModeLZ4}[i%3]}
		if i%7 == 3 {
			c.Content = nil
		}
		if i%5 == 1 {
			c.Encrypt, c.Key = &blte.Encryption{Name: bltetest.KeyName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherARC4}, bltetest.Key()
		}
		const header = 8 // without a table
		chunk := bltetest.Build(t, blte.WriteOptions{NoTable: true}, c)[header:]
		if i%5 == 2 {
			chunk = bltetest.Frame(bltetest.Build(t, blte.WriteOptions{NoTable: i%2 == 0}, c))
		}
		encoded = append(encoded, chunk)
		decoded = append(decoded, len(c.Content))
		content = append(content, c.Content...)
	}
	return bltetest.Table(encoded, decoded), content
}

// unreliable is a source of which one of many reads fails.
type unreliable struct {
	io.ReaderAt
	reads, each atomic.Int64
}

func (u *unreliable) ReadAt(p []byte, off int64) (int, error) {
	if each := u.each.Load(); each > 0 && u.reads.Add(1)%each == 0 {
		return 0, errors.New("failed")
	}
	return u.ReaderAt.ReadAt(p, off)
}

// TestChunksUnreliable reads and preloads parts at random, at once, by two readers that have their
// chunks in one cache. It drops chunks, reads of the source fail, and callers leave.
func TestChunksUnreliable(t *testing.T) {
	file, content := allModes(t, 100)
	src := &unreliable{ReaderAt: bytes.NewReader(file)}
	for _, budget := range []int64{0, 20_000, 1 << 20} {
		src.each.Store(0)
		view := blockcache.New(budget).View()
		var readers []*blte.Reader
		for range 2 {
			r, err := blte.NewReader(t.Context(), src, int64(len(file)), blte.Options{Blocks: view, Keys: bltetest.Keys(), Decrypted: decodes})
			if err != nil {
				t.Fatal(err)
			}
			readers = append(readers, r)
		}
		src.each.Store(211)
		var all sync.WaitGroup
		for seed := range uint64(6) {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(budget)))
				for range 50 {
					from := rng.IntN(len(content))
					to := min(from+1+rng.IntN(100_000), len(content))
					readOrPreload(t, readers[rng.IntN(2)], rng, int64(from), content[from:to])
				}
			})
		}
		all.Wait()
	}
}

// decodes is a check of a whole file.
func decodes(ctx context.Context, r *blte.Reader) error {
	for i := range r.Header().Chunks {
		if err := r.CopyChunk(ctx, io.Discard, i); err != nil {
			return err
		}
	}
	return nil
}

// readOrPreload does one of both, for a while at most. What is read must be right.
func readOrPreload(t *testing.T, r *blte.Reader, rng *rand.Rand, from int64, want []byte) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(3))*time.Millisecond)
	defer cancel()
	if rng.IntN(3) == 0 {
		r.Preload(ctx, from, from+int64(len(want)))
		return
	}
	got := make([]byte, len(want))
	if n, err := r.ReadAtContext(ctx, got, from); !bytes.Equal(got[:n], want[:n]) || n < len(want) && err == nil {
		t.Errorf("%d of %d bytes at %d: %v", n, len(want), from, err)
	}
}

// TestPreloadBehindEmpty preloads chunks behind ones without content.
func TestPreloadBehindEmpty(t *testing.T) {
	file, content := allModes(t, 100)
	src := &countedSource{ReaderAt: bytes.NewReader(file), reads: map[int64]int{}}
	r, err := blte.NewReader(t.Context(), src, int64(len(file)), blte.Options{Blocks: &cache.All{}, Keys: bltetest.Keys()})
	if err != nil {
		t.Fatal(err)
	}
	r.Preload(t.Context(), 0, int64(len(content)))
	for i, c := range r.Header().Chunks {
		if n := src.reads[c.Off]; n != 1 {
			t.Errorf("chunk %d, of %d bytes, is read %d times", i, c.DecodedSize, n)
		}
	}
}

// leaving is a source that ends a context when it is read.
type leaving struct {
	countedSource
	leave context.CancelFunc
}

func (l *leaving) ReadAt(p []byte, off int64) (int, error) {
	l.leave()
	return l.countedSource.ReadAt(p, off)
}

// TestPreloadEnds preloads a file with a context that ends meanwhile. What is loaded at once still is.
func TestPreloadEnds(t *testing.T) {
	const chunks, most = 200, 32
	file, content := manyChunks(t, chunks, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	src := &leaving{countedSource{ReaderAt: bytes.NewReader(file), reads: map[int64]int{}}, func() {}}
	r, err := blte.NewReader(ctx, src, int64(len(file)), blte.Options{Blocks: &cache.All{}})
	if err != nil {
		t.Fatal(err)
	}
	clear(src.reads)
	src.leave = cancel
	r.Preload(ctx, 0, int64(len(content)))
	if n := len(src.reads); n == 0 || n > most {
		t.Errorf("%d of %d chunks were read, want those that are loaded at once", n, chunks)
	}
}
