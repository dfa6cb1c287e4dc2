package splice_test

import (
	"bytes"
	"crypto/sha256"
	"math/bits"
	"runtime"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/internal/streamedit"
	"lorefs/datacenter/splice"
	"lorefs/internal/testneeds"
)

// fixedBlocks writes deflate blocks with fixed codes (RFC 1951, 3.2.6), which may be of any size. A
// byte that comes again and again is a match.
type fixedBlocks struct {
	out  []byte
	word uint64
	n    int
}

// put writes the lowest n bits of v, the lowest first.
func (w *fixedBlocks) put(v uint64, n int) {
	w.word |= v << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.word))
		w.word >>= 8
	}
}

// code writes a Huffman code, which has its highest bit first.
func (w *fixedBlocks) code(v uint16, n int) { w.put(uint64(bits.Reverse16(v)>>(16-n)), n) }

func (w *fixedBlocks) block(data []byte, final uint64) {
	w.put(final|1<<1, 3)
	const longest = 258
	for i := 0; i < len(data); {
		b := data[i]
		if i > 0 && i+longest <= len(data) && bytes.Count(data[i-1:i+longest], data[i:i+1]) == longest+1 {
			w.code(0xc5, 8) // 285
			w.code(0, 5)    // a distance of 1
			i += longest
			continue
		}
		if b < 144 {
			w.code(0x30+uint16(b), 8)
		} else {
			w.code(0x190+uint16(b)-144, 9)
		}
		i++
	}
	w.code(0, 7)
}

// TestSpliceCheckOfALargeBlock checks a splice before a deflate block of many MB. The check must not hold
// all of that at once: a hostile file can have a block of some GB.
func TestSpliceCheckOfALargeBlock(t *testing.T) {
	testneeds.Slow(t, "the file must be large")
	doc := dctest.Generate(dctest.GenOptions{Seed: 3, Sheets: 20, Nodes: 6000})
	deflate := func(data []byte) []byte {
		const first = 128 << 10 // more than a window, so that the second block can't copy what is edited
		var w fixedBlocks
		w.block(data[:first], 0)
		w.block(data[first:], 1)
		w.put(0, 7)
		return w.out
	}
	text := dctest.Build(doc, dctest.Options{FullCount: 65_000, SegmentSize: 300, Seal: dctest.SealOptions{Deflate: deflate}})
	file := datacenter.Of(mustOpen(t, text, datacenter.Options{}).Form().Holding())
	if err := splice.ReadData(file, 0, make([]byte, file.Size())); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s, err := splice.SpliceData(t.Context(), file, &out, []streamedit.Edit{{Off: 1000, Len: 4, New: []byte{9, 8, 7, 6}}})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := s.Check(t.Context(), bytes.NewReader(out.Bytes()), sha256.Sum256(out.Bytes())); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > uint64(file.Size()) {
		t.Errorf("the check of %d bytes takes %d bytes of memory", file.Size(), got)
	}
}
