package cfb

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"lorefs/internal/aes128"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPublishedVectors uses NIST SP 800-38A, F.3.14 (CFB128-AES128.Decrypt).
func TestPublishedVectors(t *testing.T) {
	block, err := aes.NewCipher(unhex(t, "2b7e151628aed2a6abf7158809cf4f3c"))
	if err != nil {
		t.Fatal(err)
	}
	cipherText := unhex(t, "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b"+
		"26751f67a3cbb140b1808cf187a4f4dfc04b05357c5d1c0eeac4c66f9ff7f2e6")
	plain := unhex(t, "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"+
		"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
	r := NewReader(bytes.NewReader(cipherText), block, [16]byte(unhex(t, "000102030405060708090a0b0c0d0e0f")))
	for off := range plain {
		for n := 1; n <= len(plain)-off; n++ {
			got := make([]byte, n)
			if _, err := r.ReadAt(got, int64(off)); err != nil {
				t.Fatalf("ReadAt(%d bytes at %d): %v", n, off, err)
			}
			if !bytes.Equal(got, plain[off:off+n]) {
				t.Fatalf("ReadAt(%d bytes at %d) = %x, want %x", n, off, got, plain[off:off+n])
			}
		}
	}
}

func TestWriterIsTheInverse(t *testing.T) {
	block, err := aes.NewCipher(unhex(t, "2b7e151628aed2a6abf7158809cf4f3c"))
	if err != nil {
		t.Fatal(err)
	}
	iv := [16]byte(unhex(t, "000102030405060708090a0b0c0d0e0f"))
	plain := make([]byte, 5000)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range plain {
		plain[i] = byte(rng.Uint32())
	}
	var out bytes.Buffer
	w := NewWriter(&out, block, iv)
	for rest := plain; len(rest) > 0; {
		n := min(len(rest), rng.IntN(70))
		if k, err := w.Write(rest[:n]); k != n || err != nil {
			t.Fatal(k, err)
		}
		rest = rest[n:]
	}
	got := make([]byte, len(plain))
	if _, err := NewReader(bytes.NewReader(out.Bytes()), block, iv).ReadAt(got, 0); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if !bytes.Equal(got, plain) {
		t.Error("what was encrypted is not decrypted")
	}
}

func TestReadsPastTheEnd(t *testing.T) {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	src := make([]byte, 100)
	r := NewReader(bytes.NewReader(src), block, [16]byte{})
	whole := make([]byte, 100)
	if n, err := r.ReadAt(whole, 0); n != 100 || (err != nil && !errors.Is(err, io.EOF)) {
		t.Fatalf("whole: %d, %v", n, err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		off := rng.IntN(120)
		got := make([]byte, rng.IntN(120))
		n, err := r.ReadAt(got, int64(off))
		want := whole[min(off, 100):min(off+len(got), 100)]
		if !bytes.Equal(got[:n], want) {
			t.Fatalf("ReadAt(%d bytes at %d) = %d bytes that differ from the whole", len(got), off, n)
		}
		if n < len(got) && !errors.Is(err, io.EOF) {
			t.Fatalf("short read of %d at %d: %v, want io.EOF", n, off, err)
		}
	}
	if _, err := r.ReadAt(make([]byte, 1), -1); err == nil {
		t.Fatal("negative offset accepted")
	}
}

// TestManyBlocks compares a cipher that works on many blocks with the standard library's.
func TestManyBlocks(t *testing.T) {
	key := [16]byte(unhex(t, "2b7e151628aed2a6abf7158809cf4f3c"))
	one, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	many, err := aes128.New(key)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	plain := make([]byte, 3000)
	for i := range plain {
		plain[i] = byte(rng.Uint32())
	}
	written := func(block cipher.Block, cuts []int) []byte {
		var out bytes.Buffer
		w, from := NewWriter(&out, block, [16]byte{7}), 0
		for _, to := range append(cuts, len(plain)) {
			if _, err := w.Write(plain[from:to]); err != nil {
				t.Fatal(err)
			}
			from = to
		}
		return out.Bytes()
	}
	text := written(one, nil)
	for range 3000 {
		cuts := []int{rng.IntN(1000), 1000 + rng.IntN(1000), 2000 + rng.IntN(1000)}
		if !bytes.Equal(written(many, cuts), text) {
			t.Fatalf("what is written in pieces up to %d is another cipher text", cuts)
		}
		off := rng.IntN(len(plain))
		got := make([]byte, rng.IntN(len(plain)-off+1))
		if _, err := NewReader(bytes.NewReader(text), many, [16]byte{7}).ReadAt(got, int64(off)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, plain[off:off+len(got)]) {
			t.Fatalf("%d bytes at %d are not what was written", len(got), off)
		}
	}
}

func BenchmarkReadAt(b *testing.B) {
	one, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		b.Fatal(err)
	}
	many, err := aes128.New([16]byte{})
	if err != nil {
		b.Fatal(err)
	}
	for name, block := range map[string]cipher.Block{"one": one, "many": many} {
		b.Run(name, func(b *testing.B) {
			r := NewReader(bytes.NewReader(make([]byte, 1<<20)), block, [16]byte{})
			p := make([]byte, 1<<18)
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				if _, err := r.ReadAt(p, 6); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	many, err := aes128.New([16]byte{})
	if err != nil {
		b.Fatal(err)
	}
	w := NewWriter(io.Discard, many, [16]byte{})
	p := make([]byte, 1<<18)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		if _, err := w.Write(p); err != nil {
			b.Fatal(err)
		}
	}
}
