package inflate

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"lorefs/internal/testneeds"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func randomData(n int) []byte {
	rng := newRand(uint64(n))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// textData returns words, repeated with the skew of a language, and numbers.
func textData(n int) []byte {
	rng := newRand(7)
	words := make([]string, 3000)
	for i := range words {
		w := make([]byte, 2+rng.IntN(9))
		for j := range w {
			w[j] = "etaoinshrdlucmfwypvbgkjqxz"[min(rng.IntN(26), rng.IntN(26))]
		}
		words[i] = string(w)
	}
	var b bytes.Buffer
	for b.Len() < n {
		switch i := rng.IntN(12); i {
		case 0:
			fmt.Fprintf(&b, "%d, ", rng.IntN(1<<20))
		case 1:
			b.WriteString(".\n")
		default:
			b.WriteString(words[int(rng.ExpFloat64()*200)%len(words)])
			b.WriteByte(' ')
		}
	}
	return b.Bytes()[:n]
}

func periodicData(period, n int) []byte {
	return bytes.Repeat(randomData(period), n/period+1)[:n]
}

func deflateData(tb testing.TB, data []byte, level int) []byte {
	tb.Helper()
	return deflatePieces(tb, [][]byte{data}, level)
}

// deflatePieces flushes between pieces, which makes several blocks.
func deflatePieces(tb testing.TB, pieces [][]byte, level int) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, level)
	if err != nil {
		tb.Fatal(err)
	}
	for i, piece := range pieces {
		if i > 0 {
			if err := w.Flush(); err != nil {
				tb.Fatal(err)
			}
		}
		if _, err := w.Write(piece); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// resumeAt decodes from p to the output offset end and compares with want, the
// whole output.
func resumeAt(t *testing.T, d *Decoder, p Point, want []byte, end int) {
	t.Helper()
	if err := d.Reset(p); err != nil {
		t.Fatalf("reset to %+v: %v", p, err)
	}
	if got := d.Point(); got != p {
		t.Fatalf("point %+v after reset to %+v", got, p)
	}
	w := int(min(p.Out, WindowSize))
	buf := make([]byte, w+end-int(p.Out))
	copy(buf, want[int(p.Out)-w:p.Out])
	n, err := d.Decode(buf, w)
	if err != nil || n != len(buf)-w {
		t.Fatalf("decode from %+v: %d bytes, want %d: %v", p, n, len(buf)-w, err)
	}
	if !bytes.Equal(buf[w:], want[p.Out:end]) {
		t.Fatalf("wrong bytes from %+v", p)
	}
}

// An inflater's verdicts on a stream.
const (
	ended     = "ended"
	corrupt   = "corrupt"
	truncated = "truncated"
	cut       = "cut at the limit"
)

func verdict(t *testing.T, err error) string {
	t.Helper()
	var std flate.CorruptInputError
	var ours *CorruptError
	switch {
	case err == nil:
		return cut
	case errors.Is(err, io.EOF):
		return ended
	case errors.Is(err, io.ErrUnexpectedEOF):
		return truncated
	case errors.As(err, &std), errors.As(err, &ours):
		return corrupt
	}
	t.Fatalf("unexpected error: %v", err)
	return ""
}

// grow returns b with a capacity of exactly n, or of more if it has it already.
func grow(b []byte, n int) []byte {
	if n > cap(b) {
		b = append(make([]byte, 0, n), b...)
	}
	return b[:len(b):max(n, len(b))]
}

// stdInflate inflates up to limit bytes with the standard library. used is how much of
// stream it took.
func stdInflate(t *testing.T, stream []byte, limit int) (out []byte, used int, v string) {
	t.Helper()
	src := bytes.NewReader(stream)
	var err error
	for r := flate.NewReader(src); len(out) < limit && err == nil; {
		out = grow(out, min(2*len(out)+1024, limit))
		n := 0
		n, err = r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
	}
	return out, len(stream) - src.Len(), verdict(t, err)
}

// inflatePieces inflates up to limit bytes, in pieces of piece() bytes. The history is the
// whole output, or now and then only the window.
func inflatePieces(t *testing.T, d *Decoder, limit int, piece func() int) ([]byte, error) {
	t.Helper()
	var out []byte
	for i := 0; len(out) < limit; i++ {
		at := len(out)
		end := min(at+piece(), limit)
		if end > cap(out) {
			out = grow(out, min(2*end, limit))
		}
		out = out[:end]
		buf, w := out, at
		if i%64 == 1 {
			w = min(at, WindowSize)
			buf = bytes.Clone(out[at-w:])
		}
		n, err := d.Decode(buf, w)
		copy(out[at:], buf[w:w+n])
		out = out[:at+n]
		if got := d.Point().Out; got != int64(len(out)) {
			t.Fatalf("Point().Out is %d after %d bytes", got, len(out))
		}
		if err != nil {
			return out, err
		}
		if len(out) != end {
			t.Fatalf("%d bytes to offset %d without an error", n, end)
		}
	}
	return out, nil
}

// compare inflates stream with both decoders, in pieces, and expects equal results.
func compare(t *testing.T, stream []byte, limit int, piece func() int) {
	t.Helper()
	want, used, wantVerdict := stdInflate(t, stream, limit)
	d := NewDecoder(bytes.NewReader(stream), int64(len(stream)))
	got, err := inflatePieces(t, d, limit, piece)
	comparePortable(t, stream, got, err, limit)
	gotVerdict := verdict(t, err)
	var corruptErr *CorruptError
	if errors.As(err, &corruptErr) && strings.HasPrefix(corruptErr.What, "missing end-of-block") {
		// The one difference: we refuse it before any output of the block.
		if wantVerdict == ended || !bytes.HasPrefix(want, got) {
			t.Fatalf("%v after %d bytes, standard library: %s after %d", err, len(got), wantVerdict, len(want))
		}
		return
	}
	if !bytes.Equal(got, want) || gotVerdict != wantVerdict {
		t.Fatalf("%d bytes, %s (%v); standard library: %d bytes, %s", len(got), gotVerdict, err, len(want), wantVerdict)
	}
	if gotVerdict == ended && d.InputOffset() != int64(used) {
		t.Fatalf("InputOffset %d, standard library took %d", d.InputOffset(), used)
	}
}

// comparePortable inflates stream in one piece, without the loop that is made for this processor, and expects
// the same output and the same error.
func comparePortable(t *testing.T, stream, want []byte, wantErr error, limit int) {
	t.Helper()
	defer portable()()
	d := NewDecoder(bytes.NewReader(stream), int64(len(stream)))
	got, err := inflatePieces(t, d, limit, fixedPiece(limit))
	if !bytes.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%d bytes, %v; the portable loop: %d bytes, %v", len(want), wantErr, len(got), err)
	}
}

type sample struct {
	name   string
	stream []byte
	data   []byte
}

// mixedPieces returns data that, flushed at level 6, becomes dynamic, stored and fixed
// blocks, and empty stored ones between them.
func mixedPieces(scale int) [][]byte {
	return [][]byte{
		textData(60 * scale), randomData(40 * scale), []byte("fixed fixed fixed"), bytes.Repeat([]byte{9}, 30*scale),
		nil, periodicData(7, 13*scale), []byte("x"), textData(20 * scale),
	}
}

func samples(tb testing.TB, scale int) []sample {
	tb.Helper()
	contents := []sample{
		{name: "empty"},
		{name: "byte", data: []byte("a")},
		{name: "random", data: randomData(100 * scale)},
		{name: "text", data: textData(100 * scale)},
		{name: "zeros", data: make([]byte, 200*scale)},
	}
	for period := 1; period <= 40; period++ {
		contents = append(contents, sample{name: fmt.Sprint("period ", period), data: periodicData(period, 20*scale)})
	}
	var all []sample
	for _, c := range contents {
		for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
			if strings.HasPrefix(c.name, "period") && level != 1 && level != 9 {
				continue
			}
			all = append(all, sample{fmt.Sprintf("%s level %d", c.name, level), deflateData(tb, c.data, level), c.data})
		}
	}
	mixed := mixedPieces(scale)
	for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
		all = append(all, sample{fmt.Sprintf("mixed level %d", level), deflatePieces(tb, mixed, level), bytes.Join(mixed, nil)})
	}
	return all
}

func fixedPiece(n int) func() int { return func() int { return n } }

func randomPiece(seed uint64, n int) func() int {
	rng := newRand(seed)
	return func() int { return 1 + rng.IntN(n) }
}

func TestPieces(t *testing.T) {
	testneeds.Seconds(t)
	for _, s := range samples(t, 1000) {
		t.Run(s.name, func(t *testing.T) {
			stream := append(bytes.Clone(s.stream), "trailer"...)
			for _, n := range []int{1, 2, 3, 7, 257, 258, 259, 4096, len(s.data) + 1} {
				compare(t, stream, len(s.data)+1, fixedPiece(n))
			}
			if testneeds.Quick() {
				return
			}
			for seed := range uint64(3) {
				compare(t, stream, len(s.data)+1, randomPiece(seed, 2000))
			}
			out, _, v := stdInflate(t, stream, len(s.data)+1)
			if v != ended || !bytes.Equal(out, s.data) {
				t.Fatalf("the sample itself is wrong: %s", v)
			}
		})
	}
}

// TestResumeEverywhere resumes from the Point at every output offset.
func TestResumeEverywhere(t *testing.T) {
	for _, s := range samples(t, 5) {
		t.Run(s.name, func(t *testing.T) {
			rng := newRand(9)
			resumeEverywhere(t, s, func(Point) bool { return !testneeds.Quick() || rng.IntN(20) == 0 })
		})
	}
}

// TestResumeSome resumes at random offsets of larger data, with matches across the whole
// window and blocks larger than the input buffer.
func TestResumeSome(t *testing.T) {
	for _, level := range []int{flate.HuffmanOnly, 0, 1, 6, 9} {
		t.Run(fmt.Sprint("level ", level), func(t *testing.T) {
			pieces := mixedPieces(3000)
			s := sample{stream: deflatePieces(t, pieces, level), data: bytes.Join(pieces, nil)}
			if testneeds.Quick() && level != 6 {
				t.Skip("one level will do")
			}
			rng := newRand(uint64(level + 5))
			resumeEverywhere(t, s, func(Point) bool { return rng.IntN(len(s.data)/60) == 0 })
		})
	}
}

func resumeEverywhere(t *testing.T, s sample, want func(Point) bool) {
	t.Helper()
	newDecoder := func() *Decoder { return NewDecoder(bytes.NewReader(s.stream), int64(len(s.stream))) }
	d, resumed := newDecoder(), newDecoder()
	out := make([]byte, len(s.data)+1)
	for at := 0; ; at++ {
		if p := d.Point(); want(p) {
			resumeAt(t, resumed, p, s.data, min(at+1, len(s.data)))
			resumeAt(t, resumed, p, s.data, len(s.data))
			resumeAt(t, newDecoder(), p, s.data, min(at+400, len(s.data)))
			if err := resumed.Reset(p); err != nil {
				t.Fatal(err)
			}
			wantEnd(t, resumed, s.data[:at], len(s.data)-at, len(s.stream))
		}
		n, err := d.Decode(out[:at+1], at)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n != 1 {
			t.Fatalf("at %d: %d bytes, %v", at, n, err)
		}
	}
	// The Point at the end finds the end again.
	p := d.Point()
	if p.Out != int64(len(s.data)) {
		t.Fatalf("the end is at %d, want %d", p.Out, len(s.data))
	}
	if err := resumed.Reset(p); err != nil {
		t.Fatalf("reset to %+v: %v", p, err)
	}
	wantEnd(t, resumed, s.data, 0, len(s.stream))
	if got := resumed.Point(); got != p {
		t.Fatalf("point %+v at the end, want %+v", got, p)
	}
}

// wantEnd decodes the rest, which must be n bytes.
func wantEnd(t *testing.T, d *Decoder, history []byte, n, size int) {
	t.Helper()
	w := min(len(history), WindowSize)
	buf := make([]byte, w+n+1)
	copy(buf, history[len(history)-w:])
	got, err := d.Decode(buf, w)
	if got != n || err != io.EOF { //nolint:errorlint // io.EOF is returned bare, as io.Reader has it
		t.Fatalf("%d bytes and %v, want %d and io.EOF", got, err, n)
	}
	if got := d.InputOffset(); got != int64(size) {
		t.Fatalf("InputOffset %d, want %d", got, size)
	}
	if got, err := d.Decode(buf, w); got != 0 || !errors.Is(err, io.EOF) {
		t.Fatalf("%d bytes and %v after the end", got, err)
	}
}

// TestMutated changes, cuts and splices streams, and expects the verdict and the output of
// the standard library.
func TestMutated(t *testing.T) {
	rng := newRand(3)
	all := samples(t, 20)
	rounds := 20000
	if testneeds.Quick() {
		rounds = 1000
	}
	for range rounds {
		s := all[rng.IntN(len(all))]
		stream := bytes.Clone(s.stream)
		for range 1 + rng.IntN(3) {
			switch i := rng.IntN(len(stream)); rng.IntN(4) {
			case 0:
				stream = stream[:i+1]
			case 1:
				stream[i] = byte(rng.Uint32())
			case 2:
				stream[min(i, rng.IntN(100), len(stream)-1)] ^= 1 << rng.IntN(8)
			case 3:
				stream = append(stream[:i:i], all[rng.IntN(len(all))].stream...)
			}
		}
		compare(t, stream, 1<<16, randomPiece(rng.Uint64(), 1000))
	}
}

func TestNoAllocations(t *testing.T) {
	pieces := mixedPieces(1000)
	stream, data := deflatePieces(t, pieces, 6), bytes.Join(pieces, nil)
	d := NewDecoder(bytes.NewReader(stream), int64(len(stream)))
	buf := make([]byte, len(data))
	half := len(data) / 2
	allocs := testing.AllocsPerRun(10, func() {
		if err := d.Reset(Point{}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Decode(buf[:half], 0); err != nil {
			t.Fatal(err)
		}
		if err := d.Reset(d.Point()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Decode(buf, half); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	if !bytes.Equal(buf, data) {
		t.Error("wrong bytes")
	}
}

func TestHistory(t *testing.T) {
	data := textData(100_000)
	stream := deflateData(t, data, 6)
	d := NewDecoder(bytes.NewReader(stream), int64(len(stream)))
	buf := bytes.Clone(data)
	for _, w := range []int{-1, len(buf) + 1} {
		if n, err := d.Decode(buf, w); n != 0 || err == nil {
			t.Errorf("w = %d: %d bytes, %v", w, n, err)
		}
	}
	if _, err := d.Decode(buf[:50_000], 0); err != nil {
		t.Fatal(err)
	}
	if n, err := d.Decode(buf, WindowSize-1); n != 0 || err == nil {
		t.Errorf("too little history: %d bytes, %v", n, err)
	}
	if n, err := d.Decode(buf, 50_000); n != 50_000 || err != nil || !bytes.Equal(buf, data) {
		t.Errorf("a wrong call must change nothing: %d bytes, %v", n, err)
	}
	// Bytes in buf before the start of the data are no history.
	var w bitWriter
	w.fixedHeader()
	w.code('a'+0x30, 8)
	w.code(1, 7)                        // length 3
	w.code(1, 5)                        // distance 2
	for _, pad := range []int{0, 400} { // the latter reaches the hot loop
		stream = append(w.bytes(), make([]byte, pad)...)
		d = NewDecoder(bytes.NewReader(stream), int64(len(stream)))
		var corruptErr *CorruptError
		if n, err := d.Decode(make([]byte, 1000), 500); n != 1 || !errors.As(err, &corruptErr) {
			t.Errorf("match before the start, %d bytes behind it: %d bytes, %v", pad, n, err)
		}
	}
}

func TestBadPoints(t *testing.T) {
	pieces := mixedPieces(100)
	stream := deflatePieces(t, pieces, 6)
	size := int64(len(stream))
	d := NewDecoder(bytes.NewReader(stream), size)
	if _, err := d.Decode(make([]byte, 3000), 0); err != nil {
		t.Fatal(err)
	}
	dynamic := d.Point()
	if _, err := d.Decode(make([]byte, 8000), 3000); err != nil {
		t.Fatal(err)
	}
	stored := d.Point()
	if d.state != inStored {
		t.Fatalf("%+v is not in a stored block", stored)
	}
	change := func(p Point, f func(*Point)) Point { f(&p); return p }
	for name, p := range map[string]Point{
		"negative out":         {Out: -1},
		"negative offsets":     {In: -8, Header: -8},
		"negative header":      change(dynamic, func(p *Point) { p.Header = -1 }),
		"header behind in":     {Out: 9, In: 100, Header: 101},
		"behind the end":       {Out: 9, In: size*8 + 1, Header: size*8 + 1},
		"huge":                 {Out: 1 << 62, In: 1<<63 - 1, Header: 1<<63 - 1},
		"huge, in the block":   change(dynamic, func(p *Point) { p.In = 1<<63 - 1 }),
		"too much output":      change(dynamic, func(p *Point) { p.Out = 1 << 40 }),
		"output without input": {Out: 1},
		"length alone":         change(dynamic, func(p *Point) { p.Len, p.Dist = 1, 0 }),
		"distance alone":       change(dynamic, func(p *Point) { p.Len, p.Dist = 0, 1 }),
		"long match":           change(dynamic, func(p *Point) { p.Len, p.Dist = 259, 1 }),
		"far match":            change(dynamic, func(p *Point) { p.Out, p.Len, p.Dist = 40000, 1, 32769 }),
		"match before data":    change(dynamic, func(p *Point) { p.Len, p.Dist = 1, uint16(p.Out)+1 }),
		"match at header":      {Out: 1, In: 8, Header: 8, Len: 1, Dist: 1},
		"in the header":        change(dynamic, func(p *Point) { p.In = p.Header + 20 }),
		"header elsewhere":     change(dynamic, func(p *Point) { p.Header += 3 }),
		"match in stored":      change(stored, func(p *Point) { p.Len, p.Dist = 1, 1 }),
		"between bytes":        change(stored, func(p *Point) { p.In++ }),
		"behind stored":        change(stored, func(p *Point) { p.In += 8 * 4000 }),
		"in stored header":     change(stored, func(p *Point) { p.In = p.Header&^7 + 16 }),
	} {
		t.Run(name, func(t *testing.T) {
			err := d.Reset(p)
			if err == nil || !strings.HasPrefix(err.Error(), "inflate: ") {
				t.Fatalf("%+v: %v", p, err)
			}
			if n, again := d.Decode(make([]byte, 40000), WindowSize); n != 0 || again != err { //nolint:errorlint // the very same
				t.Errorf("Decode: %d bytes, %v, want the error of Reset, %v", n, again, err)
			}
			resumeAt(t, d, Point{}, bytes.Join(pieces, nil), 5000)
		})
	}
}

// flakyReader fails to read bytes from limit on with err.
type flakyReader struct {
	data  []byte
	limit int
	err   error
}

func (r *flakyReader) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(r.limit) {
		return 0, r.err
	}
	n := copy(p, r.data[off:r.limit])
	if n < len(p) || off+int64(n) == int64(r.limit) {
		return n, r.err
	}
	return n, nil
}

func TestReadErrors(t *testing.T) {
	data := randomData(200_000)
	stream := deflateData(t, data, 1)
	broken := errors.New("broken disk")
	for _, tt := range []struct {
		name string
		err  error
		size int
		want error
	}{
		{"failing", broken, len(stream), broken},
		{"short", io.EOF, len(stream), io.ErrUnexpectedEOF},
		{"short without error", nil, len(stream), io.ErrUnexpectedEOF},
		{"smaller size", broken, 150_000, io.ErrUnexpectedEOF},
		{"no size", broken, -1, io.ErrUnexpectedEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := &flakyReader{data: stream, limit: 150_000, err: tt.err}
			d := NewDecoder(src, int64(tt.size))
			buf := make([]byte, len(data))
			n, err := d.Decode(buf, 0)
			if !errors.Is(err, tt.want) || !strings.HasPrefix(err.Error(), "inflate: ") {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			if !bytes.Equal(buf[:n], data[:n]) || tt.size > 0 && n < 149_000 {
				t.Errorf("wrong output before the error, %d bytes", n)
			}
			if n, again := d.Decode(buf, 0); n != 0 || again != err { //nolint:errorlint // the very same
				t.Errorf("%d bytes and %v, want %v again", n, again, err)
			}
			if tt.size == len(stream) {
				const behind = 150_000*8 + 3
				for _, p := range []Point{{In: behind, Header: behind}, {In: behind + 20, Header: behind}} {
					if err := d.Reset(p); !errors.Is(err, tt.want) {
						t.Errorf("reset to %+v: %v, want %v", p, err, tt.want)
					}
				}
				src.limit, src.err = len(stream), io.EOF // allowed along with the last byte
				resumeAt(t, d, Point{}, data, len(data))
			}
		})
	}
}
