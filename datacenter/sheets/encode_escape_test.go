package sheets

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unicode/utf16"

	"lorefs/internal/testneeds"
	"lorefs/internal/wtf8"
)

// TestAppendUnits compares what appendUnits makes of random texts, with anything behind their NUL, with
// what escapeTail does. Whatever XML can hold must be taken, but for surrogates.
func TestAppendUnits(t *testing.T) {
	testneeds.Alone(t)
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []uint16{'&', '<', '>', '"', '\n', '\t', '\r', 1, 0x1f, ' ', '=', ';', '#', '$', '%', '\'', 0x7f, 0x80, 0xff, 0x100, 0x7ff, 0x800, 0x2622, 0xac00, 0xd800, 0xdc00, 0xe000, 0xfffd, 0xfffe}
	taken := 0
	for i := range 300_000 {
		var units []byte
		surrogates := false
		for range rng.IntN(40) {
			u := uint16(' ' + rng.IntN(0x60))
			if rng.IntN(20) == 0 {
				u = odd[rng.IntN(len(odd))]
			}
			surrogates = surrogates || utf16.IsSurrogate(rune(u))
			units = binary.LittleEndian.AppendUint16(units, u)
		}
		text := wtf8.Append([]byte("before"), units)
		e := encoder{}
		escaped, holds := e.escapeTail(text, len("before"), attributeText)
		want := holds && !surrogates
		units = append(units, 0, 0)
		for range rng.IntN(20) {
			units = append(units, byte(rng.Uint32()))
		}
		room := append(make([]byte, 0, rng.IntN(60)), "before"...)
		got, ok := appendUnits(room, units)
		if ok != want || ok && string(got) != string(escaped) {
			t.Fatalf("%d: %q: %v, want %v: %q", i, got, ok, want, escaped)
		}
		if want {
			taken++
		}
	}
	if taken < 10_000 {
		t.Errorf("only %d texts were taken", taken)
	}
	if _, ok := appendUnits(nil, []byte("n\x00o\x00 \x00N\x00U\x00L\x00")); ok {
		t.Error("a text without a NUL was taken")
	}
}
