package hash

import (
	"math/rand/v2"
	"testing"
	"unicode/utf16"
)

func TestTable(t *testing.T) {
	for i, want := range map[int]uint32{
		0: 0, 1: 0x04c11db7, 2: 0x09823b6e, 7: 0x1e475005, 8: 0x2608edb8, 63: 0xec7dd02d, 64: 0x34867077,
		127: 0xd8fba05a, 128: 0x690ce0ee, 129: 0x6dcdfd59, 200: 0x7b827d21, 254: 0xb5365d03, 255: 0xb1f740b4,
	} {
		if table[i] != want {
			t.Errorf("table[%d] = %#08x, want %#08x", i, table[i], want)
		}
	}
}

// The expected values were computed apart from this package, from the table as the
// format's documents print it.
func TestHashes(t *testing.T) {
	for _, tt := range []struct {
		text   string
		hash   uint32
		folded string
		value  uint16
	}{
		{"", 0, "", 0},
		{"a", 0x988bd23b, "A", 0x17f4},
		{"__root__", 0x3b41301e, "__ROOT__", 0x0b79},
		{"__value__", 0x6a07db3a, "__VALUE__", 0x0dc8},
		{"몬스터", 0x93b5b090, "몬스터", 0x3090},
		{"\x00", 0, "\x00", 0},
		{"a\x00b", 0x8bdd67f3, "A\x00B", 0x38ad},
	} {
		if got := String(utf16.Encode([]rune(tt.text))); got != tt.hash {
			t.Errorf("String(%q) = %#08x, want %#08x", tt.text, got, tt.hash)
		}
		for _, text := range []string{tt.text, tt.folded} {
			if got := Value(utf16.Encode([]rune(text))); got != tt.value {
				t.Errorf("Value(%q) = %#04x, want %#04x", text, got, tt.value)
			}
		}
	}
}

func TestHashValueFoldsCase(t *testing.T) {
	want := map[uint16]uint16{0x9c: 0x8c, 0xff: 0x9f, 0x151: 0x150}
	for c := uint16('a'); c <= 'z'; c++ {
		want[c] = c - 0x20
	}
	for c := uint16(0xe0); c <= 0xfe; c++ {
		want[c] = c - 0x20
	}
	delete(want, 0xf0)
	delete(want, 0xf7)
	for c := range 1 << 16 {
		unit := uint16(c)
		upper, ok := want[unit]
		if !ok {
			upper = unit
		}
		if Fold(unit) != upper {
			t.Errorf("Fold(%#04x) = %#04x, want %#04x", unit, Fold(unit), upper)
		}
		if Value([]uint16{unit}) != uint16(String([]uint16{upper})&0x3fff) {
			t.Errorf("Value(%#04x) is not that of %#04x", unit, upper)
		}
	}
}

// TestTwo checks that two units at once give the hash of one after the other.
func TestTwo(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		hash, first, second := random.Uint32(), uint16(random.Uint32()), uint16(random.Uint32())
		if got, want := Two(hash, first, second), Unit(Unit(hash, first), second); got != want {
			t.Fatalf("Two(%#x, %#x, %#x) = %#x, want %#x", hash, first, second, got, want)
		}
	}
}
