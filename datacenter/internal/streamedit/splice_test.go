package streamedit

import (
	"bytes"
	stdflate "compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/flate"

	"lorefs/internal/inflate"
	"lorefs/internal/testneeds"
)

// sampleData returns data like that of a data center: records that resemble earlier ones, some
// runs, some noise.
func sampleData(rng *rand.Rand, n int) []byte {
	data := make([]byte, 0, n+64)
	for len(data) < n {
		switch k := rng.IntN(20); {
		case k == 0:
			for range rng.IntN(60) {
				data = append(data, byte(rng.Uint32()))
			}
		case k == 1:
			data = append(data, bytes.Repeat([]byte{byte(rng.IntN(4))}, rng.IntN(600))...)
		case k < 12 && len(data) > 100:
			from := rng.IntN(len(data) - 50)
			if rng.IntN(3) > 0 {
				from = max(len(data)-rng.IntN(30000)-100, 0)
			}
			data = append(data, data[from:from+rng.IntN(min(50, len(data)-from))]...)
		default:
			data = append(data, byte(rng.IntN(4)), byte(rng.IntN(16)), 0, byte(rng.IntN(40)), 0)
		}
	}
	return data[:n]
}

// writers make deflate streams in several ways.
var writers = []struct {
	name  string
	write func(rng *rand.Rand, data []byte) []byte
}{
	{"compress/flate", func(rng *rand.Rand, data []byte) []byte {
		return deflated(rng, data, func(w io.Writer) flusher { return must(stdflate.NewWriter(w, 1+rng.IntN(9))) })
	}},
	{"klauspost", func(rng *rand.Rand, data []byte) []byte {
		return deflated(rng, data, func(w io.Writer) flusher { return must(flate.NewWriter(w, 1+rng.IntN(9))) })
	}},
	{"huffman only", func(rng *rand.Rand, data []byte) []byte {
		return deflated(rng, data, func(w io.Writer) flusher { return must(stdflate.NewWriter(w, stdflate.HuffmanOnly)) })
	}},
	{"stored", func(rng *rand.Rand, data []byte) []byte {
		return deflated(rng, data, func(w io.Writer) flusher { return must(stdflate.NewWriter(w, stdflate.NoCompression)) })
	}},
	{"like zlib", func(_ *rand.Rand, data []byte) []byte { return reblocked(data, 16384) }},
	{"fixed", func(rng *rand.Rand, data []byte) []byte { return reblocked(data, 1+rng.IntN(12)) }},
}

type flusher interface {
	io.WriteCloser
	Flush() error
}

func must(w flusher, err error) flusher {
	if err != nil {
		panic(err)
	}
	return w
}

// deflated compresses data, and begins new blocks at random places.
func deflated(rng *rand.Rand, data []byte, open func(io.Writer) flusher) []byte {
	var out bytes.Buffer
	w := open(&out)
	for len(data) > 0 {
		n := min(len(data), 1+rng.IntN(100000))
		_, _ = w.Write(data[:n]) // to memory
		data = data[n:]
		if rng.IntN(3) > 0 {
			_ = w.Flush()
		}
	}
	_ = w.Close()
	return out.Bytes()
}

// reblocked compresses data to blocks of count tokens. Small blocks get fixed codes.
func reblocked(data []byte, count int) []byte {
	var out bytes.Buffer
	w := must(stdflate.NewWriter(&out, 6))
	_, _ = w.Write(data) // to memory
	_ = w.Close()
	var tokens []inflate.Token
	dec := inflate.NewDecoder(bytes.NewReader(out.Bytes()), int64(out.Len()))
	for at, final, off := int64(0), false, 0; !final; {
		c, err := dec.ReadTokens(at, tokens, 1<<30)
		if err != nil {
			panic(err)
		}
		tokens = c.Tokens
		if c.Stored {
			for _, b := range data[off : off+c.Size] {
				tokens = append(tokens, inflate.Literal(b))
			}
		}
		off += c.Size
		at, final = c.End, c.Final
	}
	var bits bitBuffer
	for first := true; first || len(tokens) > 0; first = false {
		n := min(count, len(tokens))
		for _, b := range encodeTokens(tokens[:n], 0, n == len(tokens), nil) {
			bits.copyBits(b.bits, 0, b.n)
		}
		tokens = tokens[n:]
	}
	bits.align()
	return bits.b
}

// sample is a stream and all that is known of it.
type sample struct {
	data, stream []byte
	blocks       []inflate.Block
	points       []inflate.Point
	every        int // the distance of the points
}

// every is the distance of the checkpoints in tests.
const every = 5000

// scan inflates a stream.
func scan(tb testing.TB, stream []byte, size int) *sample {
	tb.Helper()
	return scanEvery(tb, stream, size, every)
}

// scanEvery is scan with checkpoints at another distance.
func scanEvery(tb testing.TB, stream []byte, size, every int) *sample {
	tb.Helper()
	s := &sample{stream: stream, every: every}
	dec := inflate.NewDecoder(bytes.NewReader(stream), int64(len(stream)))
	dec.OnBlock = func(b inflate.Block) { s.blocks = append(s.blocks, b) }
	buf := make([]byte, size+1)
	for at := 0; at < size; {
		s.points = append(s.points, dec.Point())
		n, err := dec.Decode(buf[:min(at+every, size)], at)
		if err != nil {
			tb.Fatalf("inflating at %d: %v", at, err)
		}
		at += n
	}
	if n, err := dec.Decode(buf, size); n != 0 || !errors.Is(err, io.EOF) {
		tb.Fatalf("%d bytes too many: %v", n, err)
	}
	s.data = buf[:size]
	s.blocks = append(s.blocks, inflate.Block{Header: dec.InputEnd(), Out: int64(size)})
	return s
}

func (s *sample) source() *Stream {
	return &Stream{
		Deflate: bytes.NewReader(s.stream), Size: int64(len(s.stream)), Blocks: s.blocks,
		Data: func(off int64, p []byte) error { copy(p, s.data[off:off+int64(len(p))]); return nil },
	}
}

// apply returns the edited data.
func apply(data []byte, edits []Edit) []byte {
	var out []byte
	at := int64(0)
	for _, e := range edits {
		out = append(append(out, data[at:e.Off]...), e.New...)
		at = e.Off + e.Len
	}
	return append(out, data[at:]...)
}

// edit splices edits into s, checks the result in every way, and returns it with the checkpoints
// that moved along.
func (s *sample) edit(tb testing.TB, edits []Edit) *sample {
	tb.Helper()
	p, err := Make(context.Background(), s.source(), edits, s.points, math.MaxInt64)
	if err != nil {
		tb.Fatalf("Make: %v", err)
	}
	var out bytes.Buffer
	kept := p.Kept()
	out.Write(s.stream[:kept])
	if err := p.Write(&out, kept); err != nil {
		tb.Fatalf("Write: %v", err)
	}
	want := apply(s.data, edits)
	got, err := io.ReadAll(stdflate.NewReader(bytes.NewReader(out.Bytes())))
	if err != nil || !bytes.Equal(got, want) {
		tb.Fatalf("%d bytes, %v; want %d", len(got), err, len(want))
	}
	next := scanEvery(tb, out.Bytes(), len(want), s.every)
	if !slices.Equal(p.Blocks, next.blocks) {
		tb.Fatalf("the blocks are\n%v\nthe plan says\n%v", next.blocks, p.Blocks)
	}
	next.points = nil
	for _, old := range s.points {
		q, err := p.Point(old)
		if err != nil {
			tb.Fatalf("Point(%v): %v", old, err)
		}
		if q.Out != p.Cut(old.Out) {
			tb.Fatalf("Point(%v) = %v, want Out %d", old, q, p.Cut(old.Out))
		}
		if len(next.points) > 0 && next.points[len(next.points)-1].Out == q.Out {
			next.points = next.points[:len(next.points)-1]
		}
		next.points = append(next.points, q)
		next.resume(tb, q)
	}
	return next
}

// resume inflates from a checkpoint to the next ones.
func (s *sample) resume(tb testing.TB, p inflate.Point) {
	tb.Helper()
	dec := inflate.NewDecoder(bytes.NewReader(s.stream), int64(len(s.stream)))
	if err := dec.Reset(p); err != nil {
		tb.Fatalf("%v: %v", p, err)
	}
	w := min(int(p.Out), inflate.WindowSize)
	want := s.data[int(p.Out)-w : min(int(p.Out)+s.every, len(s.data))]
	buf := make([]byte, len(want))
	copy(buf, want[:w])
	if n, err := dec.Decode(buf, w); n < len(buf)-w || !bytes.Equal(buf, want) {
		tb.Fatalf("wrong data from %v: %v", p, err)
	}
}

// randomEdits makes edits of several kinds.
func randomEdits(rng *rand.Rand, data []byte) (edits []Edit) {
	size := int64(len(data))
	for off := int64(0); ; {
		off += rng.Int64N(rng.Int64N(2*size+2) + 1)
		if rng.IntN(30) == 0 {
			off = size
		}
		if off > size || len(edits) > 50 {
			return edits
		}
		e := Edit{Off: off}
		most := min(size-off, 1+rng.Int64N(1<<rng.IntN(14)))
		switch rng.IntN(5) {
		case 0: // insert
			e.New = randomNew(rng, data, 1+rng.Int64N(1<<rng.IntN(15)))
		case 1: // remove
			e.Len = most
		case 2: // replace by another length
			e.Len, e.New = most, randomNew(rng, data, rng.Int64N(300))
		default:
			e.Len, e.New = most, randomNew(rng, data, most)
		}
		edits = append(edits, e)
		off += e.Len
		if e.Len == 0 {
			off++
		}
	}
}

// randomNew returns noise, or a piece of the data.
func randomNew(rng *rand.Rand, data []byte, n int64) []byte {
	b := make([]byte, n)
	if int64(len(data)) > n && rng.IntN(2) == 0 {
		copy(b, data[rng.Int64N(int64(len(data))-n):])
		return b
	}
	for i := range b {
		b[i] = byte(rng.IntN(rng.IntN(256) + 1))
	}
	return b
}

func TestRandomEdits(t *testing.T) {
	rounds := 40
	if testneeds.Quick() {
		rounds = 6
	}
	for _, w := range writers {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for seed := range rounds {
				rng := rand.New(rand.NewPCG(uint64(seed), 7))
				data := sampleData(rng, 1+rng.IntN(1<<(4+rng.IntN(16))))
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					s := scan(t, w.write(rng, data), len(data))
					for range 3 {
						edits := randomEdits(rng, s.data)
						if len(apply(s.data, edits)) > 0 {
							s = s.edit(t, edits)
						}
					}
				})
			}
		})
	}
}

// TestFewBlocks makes small edits of a stream of many blocks. Few may be encoded anew, and none for
// bytes that stay the same.
func TestFewBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	data := sampleData(rng, 2<<20)
	s := scan(t, reblocked(data, 16384), len(data))
	if len(s.blocks) < 12 {
		t.Fatalf("%d blocks", len(s.blocks))
	}
	at := int64(len(data) / 2)
	for _, tt := range []struct {
		name string
		edit Edit
		most int
	}{
		{"no change", Edit{Off: at, Len: 1000, New: data[at : at+1000]}, 0},
		{"one byte of many", Edit{Off: at, Len: 3, New: []byte{data[at], data[at+1] ^ 1, data[at+2]}}, 2},
		{"one byte more", Edit{Off: at, New: []byte{1}}, 2},
		{"a tail that stays", Edit{Off: at, Len: 100, New: append([]byte{1}, data[at:at+100]...)}, 2},
	} {
		p, err := Make(context.Background(), s.source(), []Edit{tt.edit}, s.points, math.MaxInt64)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if p.Touched > tt.most {
			t.Errorf("%s: %d blocks are encoded anew", tt.name, p.Touched)
		}
		s.edit(t, []Edit{tt.edit})
	}
	if _, err := Make(context.Background(), s.source(), []Edit{{Off: at, New: []byte{1}}}, s.points, 0); !errors.Is(err, ErrTooMany) {
		t.Errorf("none allowed: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Make(ctx, s.source(), []Edit{{Off: at, New: []byte{1}}}, s.points, math.MaxInt64); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestPatchedBlock changes a byte to one that has a code in its block. Nearly all bits must stay.
func TestPatchedBlock(t *testing.T) {
	data := sampleData(rand.New(rand.NewPCG(1, 1)), 1<<20)
	s := scan(t, reblocked(data, 16384), len(data))
	at := int64(len(data) / 2)
	for data[at] == 0 {
		at++
	}
	edits := []Edit{{Off: at, Len: 1, New: []byte{0}}}
	p, err := Make(context.Background(), s.source(), edits, s.points, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	fresh := int64(0)
	for _, x := range p.Pieces {
		if x.Bits != nil {
			fresh += x.N
		}
	}
	const most = 1000
	if fresh == 0 || fresh > most {
		t.Errorf("%d bits are new", fresh)
	}
	s.edit(t, edits)
}

// TestBadEdits makes edits that are out of place.
func TestBadEdits(t *testing.T) {
	data := sampleData(rand.New(rand.NewPCG(1, 1)), 1000)
	s := scan(t, reblocked(data, 100), len(data))
	for _, edits := range [][]Edit{
		{{Off: -1}}, {{Off: 1001}}, {{Off: 999, Len: 2}}, {{Len: -1}}, {{Off: 5, Len: 5}, {Off: 9}}, {{Off: 5}, {Off: 4}},
	} {
		if _, err := Make(context.Background(), s.source(), edits, s.points, math.MaxInt64); err == nil {
			t.Errorf("%v is taken", edits)
		}
	}
}

// TestOtherStream splices a stream that is not the one whose blocks are known.
func TestOtherStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	data := sampleData(rng, 100_000)
	s := scan(t, reblocked(data, 1000), len(data))
	edits := []Edit{{Off: 50_000, Len: 4, New: []byte("abcd")}}
	for _, stream := range [][]byte{s.stream[:len(s.stream)/4], reblocked(data, 1001), make([]byte, len(s.stream))} {
		o := s.source()
		o.Deflate, o.Size = bytes.NewReader(stream), int64(len(stream))
		if _, err := Make(context.Background(), o, edits, s.points, math.MaxInt64); err == nil {
			t.Error("another stream is taken")
		}
	}
	o := s.source()
	o.Data = func(int64, []byte) error { return io.ErrClosedPipe }
	if _, err := Make(context.Background(), o, edits, s.points, math.MaxInt64); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("data that can't be read: %v", err)
	}
}

// TestLargeBlock edits a block of more data than is held in memory.
func TestLargeBlock(t *testing.T) {
	for _, matches := range []int{maxBlock / maxMatch / 2, maxBlock/maxMatch + 1} {
		tokens := append([]inflate.Token{inflate.Literal(0)}, slices.Repeat([]inflate.Token{inflate.Match(maxMatch, 1)}, matches)...)
		e := tokenEncoder{newBlock: newBlock{final: true}}
		e.encode(tokens, nil, true)
		s := scan(t, e.bits, 1+matches*maxMatch)
		_, err := Make(context.Background(), s.source(), []Edit{{Off: 9, New: []byte{1}}}, nil, math.MaxInt64)
		if small := len(s.data) <= maxBlock; small && err != nil || !small && !errors.Is(err, ErrTooMany) {
			t.Errorf("a block of %d bytes: %v", len(s.data), err)
		}
	}
}
