package blte_test

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

	"lorefs/blte"
	"lorefs/internal/cache"
	"lorefs/internal/formats/blte/bltetest"
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

// TestTogetherOnce reads and preloads overlapping parts of a file at once. Each chunk is read from
// the source once.
func TestTogetherOnce(t *testing.T) {
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

// TestTogetherDamaged reads across a chunk that is damaged: up to it, and from behind it.
func TestTogetherDamaged(t *testing.T) {
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
