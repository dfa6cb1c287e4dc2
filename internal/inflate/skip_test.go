package inflate

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

// TestSkip skips symbols of blocks up to random offsets, and compares what it finds with the tokens of
// the block.
func TestSkip(t *testing.T) {
	for _, s := range samples(t, 100) {
		t.Run(s.name, func(t *testing.T) {
			src := bytes.NewReader(s.stream)
			d, ref := NewDecoder(src, src.Size()), NewDecoder(src, src.Size())
			out := int64(0)
			for at, final := int64(0), false; !final; {
				c, err := ref.ReadTokens(at, nil, len(s.data))
				if err != nil {
					t.Fatal(err)
				}
				h, err := d.BeginBlock(at, c.End)
				if err != nil || h.Stored != c.Stored || h.Final != c.Final {
					t.Fatalf("the header at bit %d is %+v, %v", at, h, err)
				}
				if !h.Stored {
					skipAll(t, d, out, c)
				} else if _, err := d.Skip(out, math.MaxInt64, 0); err == nil {
					t.Fatal("a stored block has symbols")
				}
				out += int64(c.Size)
				at, final = c.End, c.Final
			}
		})
	}
}

// skipAll reads the block that was begun. Its data lies from out on.
func skipAll(t *testing.T, d *Decoder, out int64, c Content) {
	t.Helper()
	rng := newRand(uint64(c.End))
	tokens, bit := c.Tokens, int64(0)
	for {
		stop, reach := out+rng.Int64N(300)-10, out-rng.Int64N(40000)
		next := 0
		for at := out; next < len(tokens); next++ {
			k := tokens[next]
			if at+int64(k.Len()) > stop || k.Dist() > 0 && at-int64(k.Dist()) < reach {
				break
			}
			at += int64(k.Len())
		}
		s, err := d.Skip(out, stop, reach)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range tokens[:next] {
			out += int64(k.Len())
		}
		if s.Out != out || s.IsEnd != (next == len(tokens)) || s.To <= s.From || s.From < bit || next == 0 && bit > 0 && s.From != bit {
			t.Fatalf("%+v after %d tokens of %d, up to %#x and bit %d", s, next, len(tokens), out, bit)
		}
		if s.IsEnd {
			if s.To != c.End {
				t.Fatalf("the block ends at bit %d: want %d", s.To, c.End)
			}
			return
		}
		if s.Token != tokens[next] {
			t.Fatalf("token %#x at %#x: want %#x", s.Token, out, tokens[next])
		}
		out, bit = out+int64(s.Token.Len()), s.To
		tokens = tokens[next+1:]
	}
}

// TestSkipBad skips symbols of streams that are cut or damaged.
func TestSkipBad(t *testing.T) {
	for _, s := range samples(t, 100) {
		rng := newRand(uint64(len(s.stream)))
		for range 15 {
			bad := bytes.Clone(s.stream)
			bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			bad = bad[:1+rng.IntN(len(bad))]
			d := NewDecoder(bytes.NewReader(bad), int64(len(bad)))
			if h, err := d.BeginBlock(0, 0); err != nil || h.Stored {
				continue
			}
			x, err := d.Skip(0, math.MaxInt64, math.MinInt64)
			if err == nil && !x.IsEnd {
				t.Fatalf("%s: stopped at %+v", s.name, x)
			}
			if _, again := d.Skip(x.Out, math.MaxInt64, math.MinInt64); again == nil || err != nil && !errors.Is(again, err) {
				t.Fatalf("%s: after %v: %v", s.name, err, again)
			}
		}
	}
}
