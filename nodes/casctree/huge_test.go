package casctree_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/testneeds"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/casctree"
)

const (
	hugeChunk  = 1 << 20
	hugeChunks = 1 << 10
)

// hugeFile returns a file of 1 GiB that takes some MB: its words of 8 bytes are the numbers
// of their chunks.
func hugeFile(t *testing.T) []byte {
	t.Helper()
	encoded, sizes := make([][]byte, hugeChunks), make([]int, hugeChunks)
	for i := range encoded {
		content := bytes.Repeat(binary.LittleEndian.AppendUint64(nil, uint64(i)), hugeChunk/8)
		file := bltetest.Build(t, blte.WriteOptions{NoTable: true}, blte.Chunk{Content: content, Mode: blte.ModeLZ4})
		encoded[i], sizes[i] = file[8:], len(content) // behind the header
	}
	return bltetest.Table(encoded, sizes)
}

// TestHuge reads a large file here and there. It may decode only the needed chunks, and the
// cache stays within its bounds.
func TestHuge(t *testing.T) {
	testneeds.Slow(t, "it makes a file of 1 GiB")
	g := casctest.New()
	file := hugeFile(t)
	ekey, err := blte.FileKey(file)
	if err != nil {
		t.Fatal(err)
	}
	// The content key is made up: nothing reads the whole file.
	s := write.Stored{CKey: keys.Key{1, 2, 3}, EKey: ekey, Size: hugeChunks * hugeChunk, Encoded: file, Spec: "b:{1M*=n}"}
	g.Stored = append(g.Stored, s)
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "movie", CKey: s.CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	const budget = 8 << 20
	cache := blockcache.New(budget)
	tree := open(t, casctest.FS(files), casc.Options{Blocks: cache.View()}, casctree.Options{})
	e, err := lookup(t.Context(), tree, "files/movie")
	if err != nil || e.Size != s.Size {
		t.Fatalf("%+v, %v", e, err)
	}
	start := cache.Stats()
	if start.Bytes >= hugeChunk { // some are the encoding file's
		t.Errorf("%d bytes are decoded before anything is read", start.Bytes)
	}
	r := rand.New(rand.NewPCG(1, 2))
	p := make([]byte, 3000)
	touched := int64(0)
	for range 300 {
		off := r.Int64N(s.Size - int64(len(p)))
		n, err := tree.ReadAt(t.Context(), e.ID, p, off)
		if err != nil || n != len(p) {
			t.Fatalf("byte %d: %d, %v", off, n, err)
		}
		for i, b := range p {
			at := off + int64(i)
			if want := byte(uint64(at/hugeChunk) >> (8 * (at % 8))); b != want {
				t.Fatalf("byte %d is %#x, want %#x", at, b, want)
			}
		}
		touched += (off+int64(n)-1)/hugeChunk - off/hugeChunk + 1
		st := cache.Stats()
		// Reads that happen to lie near each other look like one program's, which is read ahead for.
		if st.Loads-start.Loads > touched+touched/8+4 || st.Bytes > budget {
			t.Fatalf("%d chunks are decoded where %d were asked for, %d bytes are kept", st.Loads-start.Loads, touched, st.Bytes)
		}
	}
}
