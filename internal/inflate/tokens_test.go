package inflate

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
)

// undo turns all tokens of a stream into data again.
func undo(t *testing.T, stream, data []byte) error {
	t.Helper()
	d := NewDecoder(bytes.NewReader(stream), int64(len(stream)))
	var got []byte
	var blocks []Block
	for at, final := int64(0), false; !final; {
		c, err := d.ReadTokens(at, nil, len(data)+1)
		if err != nil {
			return err
		}
		blocks = append(blocks, Block{Header: at, Out: int64(len(got)), Stored: c.Stored})
		if c.Stored {
			from := (c.End >> 3) - int64(c.Size)
			got = append(got, stream[from:c.End>>3]...)
		}
		for _, k := range c.Tokens {
			if k.Dist() == 0 {
				got = append(got, k.Byte())
				continue
			}
			for range k.Len() {
				got = append(got, got[len(got)-k.Dist()])
			}
		}
		at, final = c.End, c.Final
	}
	if !bytes.Equal(got, data) {
		t.Fatalf("the tokens say %d bytes, or others than the %d that there are", len(got), len(data))
	}
	var seen []Block
	d = NewDecoder(bytes.NewReader(stream), int64(len(stream)))
	d.OnBlock = func(b Block) { seen = append(seen, b) }
	if _, err := d.Decode(make([]byte, len(data)+1), 0); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if !slices.Equal(seen, blocks) {
		t.Fatalf("Decode sees the blocks %+v, ReadTokens %+v", seen, blocks)
	}
	return nil
}

func TestReadTokens(t *testing.T) {
	for _, s := range samples(t, 100) {
		t.Run(s.name, func(t *testing.T) {
			if err := undo(t, s.stream, s.data); err != nil {
				t.Fatal(err)
			}
			// Decoding goes on after a Reset.
			d := NewDecoder(bytes.NewReader(s.stream), int64(len(s.stream)))
			if _, err := d.ReadTokens(0, nil, len(s.data)); err != nil {
				t.Fatal(err)
			}
			if n, err := d.Decode(make([]byte, 1), 0); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("Decode after ReadTokens: %d bytes, %v", n, err)
			}
			resumeAt(t, d, Point{}, s.data, len(s.data))
		})
	}
}

// TestReadTokensBad cuts streams and changes bytes. A damaged block has no more tokens than it may
// have bytes.
func TestReadTokensBad(t *testing.T) {
	for _, s := range samples(t, 100) {
		rng := newRand(uint64(len(s.stream)))
		for range 15 {
			bad := bytes.Clone(s.stream)
			bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			bad = bad[:1+rng.IntN(len(bad))]
			d := NewDecoder(bytes.NewReader(bad), int64(len(bad)))
			const limit = 1000
			if c, err := d.ReadTokens(0, nil, limit); len(c.Tokens) > limit+1 || err == nil && c.Size > limit {
				t.Fatalf("%s: %d tokens for %d bytes, %v", s.name, len(c.Tokens), c.Size, err)
			}
		}
	}
}
