package md5s_test

import (
	"crypto/md5"
	"math/rand/v2"
	"testing"

	"lorefs/blte/internal/md5s"
)

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// check hashes messages in each way that the processor has.
func check(t *testing.T, messages [][]byte) {
	t.Helper()
	for way := range md5s.Ways() {
		checkOnce(t, way, messages)
	}
}

func checkOnce(t *testing.T, way string, messages [][]byte) {
	t.Helper()
	before := [][md5.Size]byte{{1, 2, 3}}
	sums := md5s.Append(before, messages...)
	if len(sums) != 1+len(messages) || sums[0] != before[0] {
		t.Fatalf("%s: %d sums for %d messages behind one", way, len(sums), len(messages))
	}
	for i, m := range messages {
		if want := md5.Sum(m); sums[1+i] != want {
			t.Errorf("%s: message %d of %d, of %d bytes: %x, want %x", way, i, len(messages), len(m), sums[1+i], want)
		}
	}
}

// TestEverySize hashes messages of all sizes around whole blocks and their padding.
func TestEverySize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var messages [][]byte
	for n := range 4*md5.BlockSize + 1 {
		messages = append(messages, noise(r, n))
	}
	check(t, messages)
	check(t, nil)
}

// TestAnyMessages hashes any number of messages of any sizes.
func TestAnyMessages(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		messages := make([][]byte, r.IntN(40))
		for i := range messages {
			messages[i] = noise(r, r.IntN(1<<r.IntN(14)))
		}
		check(t, messages)
	}
}

func BenchmarkAppend(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		name    string
		n, size int
	}{{"1", 1, 32 << 10}, {"8", 8, 32 << 10}, {"40", 40, 32 << 10}, {"40 small", 40, 1 << 10}} {
		b.Run(c.name, func(b *testing.B) {
			messages := make([][]byte, c.n)
			for i := range messages {
				messages[i] = noise(r, 1+r.IntN(2*c.size))
			}
			total := 0
			for _, m := range messages {
				total += len(m)
			}
			b.SetBytes(int64(total))
			var sums [][md5.Size]byte
			for b.Loop() {
				sums = md5s.Append(sums[:0], messages...)
			}
		})
	}
}
