package words_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"lorefs/datacenter/internal/words"
)

// TestOf reads tables that begin at each place in a word, and compares with encoding/binary.
func TestOf(t *testing.T) {
	const count = 5
	b := make([]byte, 8*count+8)
	for i := range b {
		b[i] = byte(37*i + 200)
	}
	for at := range 8 {
		for size := range 8*count + 1 {
			p := b[at:][:size]
			var want32 []uint32
			for i := 0; i+4 <= size; i += 4 {
				want32 = append(want32, binary.LittleEndian.Uint32(p[i:]))
			}
			var want64 []uint64
			for i := 0; i+8 <= size; i += 8 {
				want64 = append(want64, binary.LittleEndian.Uint64(p[i:]))
			}
			if got := words.Of[uint32](p); !slices.Equal(got, want32) {
				t.Fatalf("%d bytes at %d: %x, want %x", size, at, got, want32)
			}
			if got := words.Of[uint64](p); !slices.Equal(got, want64) {
				t.Fatalf("%d bytes at %d: %x, want %x", size, at, got, want64)
			}
		}
	}
}

// TestOtherOrder is all tests, as a processor runs them that can't use tables as they are.
func TestOtherOrder(t *testing.T) {
	words.OtherOrder(t)
	TestOf(t)
	TestAppend(t)
}

func TestAppend(t *testing.T) {
	before := []byte("before")
	s32, s64 := []uint32{1, 0x80706050, 3}, []uint64{1, 0xf0e0d0c0b0a09080}
	want32, want64 := slices.Clone(before), slices.Clone(before)
	for _, v := range s32 {
		want32 = binary.LittleEndian.AppendUint32(want32, v)
	}
	for _, v := range s64 {
		want64 = binary.LittleEndian.AppendUint64(want64, v)
	}
	if got := words.Append(slices.Clone(before), s32); !slices.Equal(got, want32) {
		t.Errorf("%x, want %x", got, want32)
	}
	if got := words.Append(slices.Clone(before), s64); !slices.Equal(got, want64) {
		t.Errorf("%x, want %x", got, want64)
	}
	if got := words.Append[uint32](nil, nil); len(got) != 0 {
		t.Errorf("%x from nothing", got)
	}
}
