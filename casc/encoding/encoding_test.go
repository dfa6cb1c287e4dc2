package encoding_test

import (
	"bytes"
	"strings"
	"testing"

	"lorefs/casc/casctest/write"
	"lorefs/casc/encoding"
	"lorefs/internal/testneeds"
)

// TestEncodingFlips flips every byte of an encoding file. Pages and their order are
// checked; a flip may go unnoticed only in a spec, or between the keys.
func TestEncodingFlips(t *testing.T) {
	testneeds.Seconds(t)
	var b write.Builder
	for i := range 200 {
		b.Add([]byte{byte(i), 1, 2, 3})
	}
	data := write.Encoding(b.Stored)
	for i := 0; i < len(data); i += 37 {
		bad := bytes.Clone(data)
		bad[i] ^= 1 << (i % 8)
		e, err := encoding.New(t.Context(), bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			continue
		}
		for _, s := range b.Stored {
			if got, err := e.Find(t.Context(), s.CKey); err == nil && (got.Size != s.Size || len(got.EKeys) != 1 || got.EKeys[0] != s.EKey) {
				t.Fatalf("byte %d flipped: %+v", i, got)
			}
			if got, err := e.FindEncoded(t.Context(), s.EKey[:]); err == nil && (got.Size != int64(len(s.Encoded)) || got.EKey != s.EKey) {
				t.Fatalf("byte %d flipped: %+v", i, got)
			}
		}
	}
}

func TestEncodingErrors(t *testing.T) {
	var b write.Builder
	s := b.Add([]byte("x"))
	good := write.Encoding(b.Stored)
	patch := func(off int, with ...byte) []byte {
		data := bytes.Clone(good)
		copy(data[off:], with)
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":   {nil, "casc: encoding: offset 0x0: 2 bytes expected, 0 there"},
		"magic":   {patch(0, 'X'), `casc: encoding: offset 0x0: found "XN" instead of "EN"`},
		"version": {patch(2, 2), "not supported: casc: encoding: offset 0x2: version 2 with keys of 16 and 16 bytes"},
		"page":    {patch(5, 0, 0), "casc: encoding: offset 0x5: pages of 0 bytes"},
		"pages":   {patch(9, 0xff), "casc: encoding: offset 0x9: 8 bytes of specs, 4278190081 and 1 pages end at"},
		"cut":     {good[:500], "casc: encoding: offset 0x9: 8 bytes of specs, 1 and 1 pages end at 8286, the file at 500"},
		"specs":   {patch(21, 7), "casc: encoding: offset 0x1d: the last spec has no end"},
	} {
		_, err := encoding.New(t.Context(), bytes.NewReader(c.data), int64(len(c.data)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	e := openEncoding(t, patch(22+8+32+100, 1))
	if _, err := e.Find(t.Context(), s.CKey); err == nil || !strings.HasPrefix(err.Error(), "casc: encoding: offset 0x3e: page 0 has the MD5") {
		t.Errorf("page: %v", err)
	}
}
