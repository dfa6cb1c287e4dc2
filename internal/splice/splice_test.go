package splice

import (
	"bytes"
	stdflate "compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/flate"

	"lorefs/internal/inflate"
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
		w.Write(data[:n])
		data = data[n:]
		if rng.IntN(3) > 0 {
			w.Flush()
		}
	}
	w.Close()
	return out.Bytes()
}

// reblocked compresses data to blocks of count tokens. Small blocks get fixed codes.
func reblocked(data []byte, count int) []byte {
	var out bytes.Buffer
	w := must(stdflate.NewWriter(&out, 6))
	w.Write(data)
	w.Close()
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
}

// every is the distance of the checkpoints in tests.
const every = 5000

// scan inflates a stream.
func scan(tb testing.TB, stream []byte, size int) *sample {
	tb.Helper()
	s := &sample{stream: stream}
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
	p, err := Make(context.Background(), s.source(), edits, s.points, len(s.blocks))
	if err != nil {
		tb.Fatalf("Make: %v", err)
	}
	var out bytes.Buffer
	if n, err := p.WriteTo(&out); err != nil || n != int64(out.Len()) {
		tb.Fatalf("WriteTo: %d of %d bytes, %v", n, out.Len(), err)
	}
	want := apply(s.data, edits)
	got, err := io.ReadAll(stdflate.NewReader(bytes.NewReader(out.Bytes())))
	if err != nil || !bytes.Equal(got, want) {
		tb.Fatalf("%d bytes, %v; want %d", len(got), err, len(want))
	}
	next := scan(tb, out.Bytes(), len(want))
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
	want := s.data[int(p.Out)-w : min(int(p.Out)+every, len(s.data))]
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
	rounds := 150
	if testing.Short() {
		rounds = 25
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
