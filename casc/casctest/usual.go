package casctest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"lorefs/blte"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
)

// Files of a storage of NewUsual have between minUsual and maxUsual bytes, as many of each power of 2.
// One in a thousand is large. Chunks are as large as in the games.
const (
	minUsual   = 512
	maxUsual   = 128 << 10
	largeUsual = 9 << 20
	usualChunk = 256 << 10
)

// NewUsual makes a storage of n files of the sizes and kinds of a game's: 33 KB each in the mean,
// a half of them records that deflate well, a half noise that is stored plain. Its root is a
// manifest with names.
func NewUsual(n int) (write.Files, error) {
	var b write.Builder
	files := make([]root.File, n)
	for i := range files {
		s := addUsual(&b, i)
		files[i] = root.File{
			Name: LargeName(i), CKey: s.CKey, Size: s.Size,
			Spans: []root.Span{{EKey: s.EKey, CKey: s.CKey, Size: s.Size, ContentSize: s.Size}},
		}
	}
	b.Ref("vfs-root", b.Add(write.TVFS(files)))
	return b.Install()
}

func addUsual(b *write.Builder, i int) write.Stored {
	r := rand.New(rand.NewPCG(17, uint64(i)))
	size := int(minUsual * math.Pow(maxUsual/minUsual, r.Float64()))
	if i%1000 == 999 {
		size = largeUsual + size
	}
	fill, mode, spec := records, byte(blte.ModeZlib), "z"
	if i%2 == 1 {
		fill, mode, spec = noise, blte.ModePlain, "n"
	}
	var chunks []blte.Chunk
	for content := fill(r, size); len(content) > 0; {
		n := min(usualChunk, len(content))
		chunks = append(chunks, blte.Chunk{Content: content[:n], Mode: mode})
		content = content[n:]
	}
	return b.AddChunks(fmt.Sprintf("b:{256K*=%s}", spec), blte.WriteOptions{}, chunks...)
}

// records returns numbers of which most are small or near the one before.
func records(r *rand.Rand, size int) []byte {
	b := make([]byte, 0, size+8)
	for at := uint32(0); len(b) < size; {
		at += r.Uint32N(64)
		b = binary.LittleEndian.AppendUint32(b, at)
		b = binary.LittleEndian.AppendUint32(b, r.Uint32N(1<<r.Uint32N(12)))
	}
	return b[:size]
}

func noise(r *rand.Rand, size int) []byte {
	b := make([]byte, 0, size+8)
	for len(b) < size {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	return b[:size]
}
