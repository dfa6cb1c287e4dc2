package aes128_test

import (
	"bytes"
	"crypto/aes"
	"crypto/subtle"
	"math/rand/v2"
	"testing"

	"lorefs/internal/aes128"
)

const blockSize = aes.BlockSize

// blocks returns a cipher for a key drawn by lot, and what is drawn next.
func blocks(t *testing.T) (*aes128.Blocks, *rand.ChaCha8) {
	t.Helper()
	rng := rand.NewChaCha8([32]byte{1})
	var key [16]byte
	_, _ = rng.Read(key[:])
	block, err := aes128.New(key)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := block.(*aes128.Blocks)
	if !ok {
		t.Skip("this processor encrypts one block at a time")
	}
	return b, rng
}

// TestXORBefore compares with the standard library's cipher, of one block at a time.
func TestXORBefore(t *testing.T) {
	b, rng := blocks(t)
	for size := range 40*blockSize + 1 {
		was := make([]byte, size)
		_, _ = rng.Read(was)
		got := bytes.Clone(was)
		n := b.XORBefore(got)
		if left := size/blockSize - n; left > 8 || n > 0 && left < 1 {
			t.Fatalf("%d bytes: %d blocks are left", size, left)
		}
		want := bytes.Clone(was)
		for i := range n {
			at := size - (i+1)*blockSize
			var stream [blockSize]byte
			b.Encrypt(stream[:], was[at-blockSize:at])
			subtle.XORBytes(want[at:], was[at:at+blockSize], stream[:])
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes become others", size)
		}
	}
}

// TestChain compares with the standard library's cipher.
func TestChain(t *testing.T) {
	b, rng := blocks(t)
	var prev [blockSize]byte
	_, _ = rng.Read(prev[:])
	for size := range 20*blockSize + 1 {
		got := make([]byte, size)
		_, _ = rng.Read(got)
		want, before := bytes.Clone(got), prev
		b.Chain(got, &prev)
		for rest := want; len(rest) >= blockSize; rest = rest[blockSize:] {
			b.Encrypt(before[:], before[:])
			subtle.XORBytes(rest, rest[:blockSize], before[:])
			copy(before[:], rest)
		}
		if !bytes.Equal(got, want) || prev != before {
			t.Fatalf("%d bytes become others", size)
		}
	}
}
