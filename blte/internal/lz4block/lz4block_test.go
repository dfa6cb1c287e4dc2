package lz4block

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// compress makes a block with a different implementation's encoder.
func compress(t *testing.T, data []byte) []byte {
	t.Helper()
	b := make([]byte, lz4.CompressBlockBound(len(data)))
	n, err := lz4.CompressBlock(data, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b[:n]
}

func TestBlocksOfAnotherEncoder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = byte(r.IntN(256))
	}
	for name, data := range map[string][]byte{
		"text":  bytes.Repeat([]byte("a chunk of a file, "), 500),
		"zeros": make([]byte, 70000),
		"mixed": append(bytes.Clone(noise), append(make([]byte, 5000), noise...)...),
	} {
		block := compress(t, data)
		got := make([]byte, len(data))
		n, err := Decode(got, 0, append(bytes.Clone(block), "what follows"...))
		if err != nil || n != len(block) || !bytes.Equal(got, data) {
			t.Errorf("%s: %d of %d bytes used, %v, equal: %v", name, n, len(block), err, bytes.Equal(got, data))
		}
		for cut := range min(len(block), 300) {
			if _, err := Decode(got, 0, block[:cut]); err == nil {
				t.Errorf("%s: cut at %d it is still whole", name, cut)
			}
		}
	}
}

func TestDamage(t *testing.T) {
	for name, src := range map[string][]byte{
		"match before the data": {0x10, 'a', 2, 0, 0},
		"distance 0":            {0x10, 'a', 0, 0, 0},
		"literals too long":     {0xf0, 0xff, 0x00},
		"match too long":        {0x1f, 'a', 1, 0, 0xff, 0x00},
	} {
		if _, err := Decode(make([]byte, 16), 0, src); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
