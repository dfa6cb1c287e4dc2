package blte_test

import (
	"bytes"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
)

// wholes decodes files at once, and returns copies of their contents: nil for one that is left out.
func wholes(files []blte.Whole) [][]byte {
	all := make([][]byte, len(files))
	for i, content := range blte.DecodeWhole(files) {
		all[i] = append([]byte{}, content...)
	}
	return all
}

// TestDecodeWhole decodes files of all kinds at once. Those that need more than their bytes are
// left out.
func TestDecodeWhole(t *testing.T) {
	samples := bltetest.Samples(t)
	var files []blte.Whole
	for _, s := range samples {
		key, err := blte.FileKey(s.File)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, blte.Whole{Encoded: s.File, Key: key[:9], Size: int64(len(s.Content))})
	}
	decoded := map[string]bool{"plain": true, "zlib": true, "empty": true, "empty chunks": true}
	for i, content := range wholes(files) {
		if name := samples[i].Name; (content != nil) != decoded[name] {
			t.Errorf("%s: decoded: %v", name, content != nil)
		}
		if content != nil && !bytes.Equal(content, samples[i].Content) {
			t.Errorf("%s: %d bytes, not those it has", samples[i].Name, len(content))
		}
	}
}

// TestDecodeWholeLeavesOut gives files that are not what is known of them, and damaged ones. The
// file behind each is decoded.
func TestDecodeWholeLeavesOut(t *testing.T) {
	content := bltetest.Text(5000)
	packed := blte.Chunk{Content: content[:3000], Mode: blte.ModeZlib}
	file := bltetest.Build(t, blte.WriteOptions{}, packed, blte.Chunk{Content: content[3000:]})
	key, err := blte.FileKey(file)
	if err != nil {
		t.Fatal(err)
	}
	good := blte.Whole{Encoded: file, Key: key[:], Size: int64(len(content))}
	otherKey, otherSize := good, good
	otherKey.Key = bltetest.Noise(9, 1)
	otherSize.Size++
	files := []blte.Whole{good, otherKey, good, otherSize, good}
	for _, b := range bltetest.BrokenFiles(t) {
		f := blte.Whole{Encoded: b.File, Size: 200}
		if h, err := blte.ReadHeader(bytes.NewReader(b.File), int64(len(b.File))); err == nil {
			f.Size = h.DecodedSize
		}
		files = append(files, f, good)
	}
	for i, got := range wholes(files) {
		if i%2 == 0 && !bytes.Equal(got, content) {
			t.Errorf("behind file %d: %d bytes", i-1, len(got))
		}
		if i%2 == 1 && got != nil {
			t.Errorf("file %d is decoded", i)
		}
	}
}

// TestDecodeWholeOfManyChunks decodes files of chunks of many sizes, and damages a byte of each
// chunk.
func TestDecodeWholeOfManyChunks(t *testing.T) {
	const n = 40
	var chunks []blte.Chunk
	var content []byte
	for i := range n {
		c := blte.Chunk{Content: bltetest.Noise(i*i*7, uint64(i))}
		if i%3 == 0 {
			c.Mode = blte.ModeZlib
		}
		chunks, content = append(chunks, c), append(content, c.Content...)
	}
	file := bltetest.Build(t, blte.WriteOptions{}, chunks...)
	h, err := blte.ReadHeader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	files := []blte.Whole{{Encoded: file, Size: h.DecodedSize}}
	for i := range h.Chunks {
		bad := bytes.Clone(file)
		bad[h.Chunks[i].Off+h.Chunks[i].EncodedSize-1] ^= 1
		files = append(files, blte.Whole{Encoded: bad, Size: h.DecodedSize})
	}
	for i, got := range wholes(files) {
		if i == 0 && !bytes.Equal(got, content) {
			t.Errorf("%d bytes, want %d", len(got), len(content))
		}
		if i > 0 && got != nil {
			t.Errorf("decoded although chunk %d is damaged", i-1)
		}
	}
}
