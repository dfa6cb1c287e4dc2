package sheets

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"lorefs/internal/wtf8"
)

// TestAppendPlain compares what appendPlain makes of random texts, with anything behind their NUL, with
// the text and its escapes. Whatever needs no escape and is ASCII must be taken.
func TestAppendPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []uint16{'&', '<', '>', '"', '\n', '\t', '\r', 1, 0x1f, ' ', '=', ';', '#', '$', '%', '\'', 0x7f, 0x80, 0xff, 0x100, 0x2622, 0xd800, 0xac00}
	plains := 0
	for i := range 300_000 {
		var units []byte
		for range rng.IntN(40) {
			u := uint16(' ' + rng.IntN(0x60))
			if rng.IntN(20) == 0 {
				u = odd[rng.IntN(len(odd))]
			}
			units = binary.LittleEndian.AppendUint16(units, u)
		}
		text := wtf8.Append([]byte("before"), units)
		ascii := len(text) == len("before")+len(units)/2
		e := encoder{}
		escaped, holds := e.escapeTail(append([]byte{}, text...), len("before"), attributeText)
		want := ascii && holds && string(escaped) == string(text)
		units = append(units, 0, 0)
		for range rng.IntN(20) {
			units = append(units, byte(rng.Uint32()))
		}
		room := append(make([]byte, 0, rng.IntN(60)), "before"...)
		got, ok := appendPlain(room, units)
		if ok != want || ok && string(got) != string(text) {
			t.Fatalf("%d: %q: %v, want %v: %q", i, got, ok, want, text)
		}
		if want {
			plains++
		}
	}
	if plains < 1000 {
		t.Errorf("only %d texts were plain", plains)
	}
	if _, ok := appendPlain(nil, []byte("n\x00o\x00 \x00N\x00U\x00L\x00")); ok {
		t.Error("a text without a NUL was taken")
	}
}
