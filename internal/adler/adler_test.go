package adler_test

import (
	"bytes"
	"hash/adler32"
	"math/rand/v2"
	"testing"

	"lorefs/internal/adler"
)

// TestChecksum compares with the standard library, for lengths about those at which the way of
// adding changes, and for the bytes that make the sums largest.
func TestChecksum(t *testing.T) {
	const most = 1<<18 + 500
	random := make([]byte, most)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	for name, data := range map[string][]byte{
		"random": random,
		"high":   bytes.Repeat([]byte{0xff}, most),
		"zeros":  make([]byte, most),
	} {
		for n := range 1000 {
			compare(t, name, data[:n])
			compare(t, name, data[n:n+n])
			compare(t, name, data[:most-n])
		}
	}
	high := bytes.Repeat([]byte{0xff}, 4<<20)
	compare(t, "4 MiB", high)
}

func compare(t *testing.T, name string, p []byte) {
	t.Helper()
	want := adler32.Checksum(p)
	if got := adler.Checksum(p); got != want {
		t.Fatalf("%s: %d bytes have %08x, want %08x", name, len(p), got, want)
	}
	if got := adler.ChecksumByWords(p); got != want {
		t.Fatalf("%s: %d bytes have %08x by words, want %08x", name, len(p), got, want)
	}
}

// TestReplace replaces bytes anywhere in some data.
func TestReplace(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	data := make([]byte, 200_000)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	sum := adler.Checksum(data)
	for range 1000 {
		at := rng.IntN(len(data))
		end := at + rng.IntN(min(len(data)-at, 1+rng.IntN(1000))+1)
		before := bytes.Clone(data[at:end])
		for i := range data[at:end] {
			data[at+i] = byte(rng.IntN(2) * 0xff)
		}
		sum = adler.Replace(sum, int64(len(data)-at), before, data[at:end])
		if want := adler32.Checksum(data); sum != want {
			t.Fatalf("%d bytes at %d: %08x, want %08x", end-at, at, sum, want)
		}
	}
}

func BenchmarkChecksum(b *testing.B) {
	p := bytes.Repeat([]byte{1, 200, 3, 0}, 1<<18)
	for name, sum := range map[string]func([]byte) uint32{"lorefs": adler.Checksum, "stdlib": adler32.Checksum} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				sum(p)
			}
		})
	}
}
