package wtf8

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unicode/utf16"
)

func units(us ...uint16) []byte {
	var b []byte
	for _, u := range us {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func TestAppend(t *testing.T) {
	for _, tt := range []struct {
		name string
		src  []byte
		want string
	}{
		{"empty", nil, ""},
		{"ascii", units('a', 0, 0x7f), "a\x00\x7f"},
		{"two bytes", units(0x80, 0xe9, 0x7ff), "\u0080é\u07ff"},
		{"three bytes", units(0x800, 0xd55c, 0xffff), "\u0800한\uffff"},
		{"pair", units(0xd83d, 0xde00), "😀"},
		{"last pair", units(0xdbff, 0xdfff), "\U0010ffff"},
		{"lone high", units(0xd800), "\xed\xa0\x80"},
		{"lone low", units(0xdfff, 'x'), "\xed\xbf\xbfx"},
		{"reversed pair", units(0xde00, 0xd83d), "\xed\xb8\x80\xed\xa0\xbd"},
		{"high before pair", units(0xd83d, 0xd83d, 0xde00), "\xed\xa0\xbd😀"},
		{"odd byte", append(units('a'), 'b'), "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Append(nil, tt.src); string(got) != tt.want {
				t.Errorf("Append = %q, want %q", got, tt.want)
			}
			if got := Len(tt.src); got != len(tt.want) {
				t.Errorf("Len = %d, want %d", got, len(tt.want))
			}
			if got := AppendUTF16(nil, tt.want); !bytes.Equal(got, tt.src[:len(tt.src)&^1]) {
				t.Errorf("AppendUTF16 = %x, want %x", got, tt.src)
			}
		})
	}
}

func TestAppendUTF16OfInvalidBytes(t *testing.T) {
	for _, s := range []string{"\xff", "\xed\xa0", "\xc0\x80", "a\x80b"} {
		var want []byte
		for _, u := range utf16.Encode([]rune(s)) {
			want = binary.LittleEndian.AppendUint16(want, u)
		}
		if got := AppendUTF16(nil, s); !bytes.Equal(got, want) {
			t.Errorf("AppendUTF16(%q) = %x, want %x", s, got, want)
		}
	}
}

func FuzzWTF8(f *testing.F) {
	f.Add(units('a', 0xd800, 0xdc00, 0xdc00, 0xac00))
	f.Fuzz(func(t *testing.T, src []byte) {
		b := Append(nil, src)
		if len(b) != Len(src) {
			t.Fatalf("Len = %d, Append gave %d bytes", Len(src), len(b))
		}
		if back := AppendUTF16(nil, string(b)); !bytes.Equal(back, src[:len(src)&^1]) {
			t.Fatalf("%x came back as %x", src, back)
		}
		var us []uint16
		for i := 0; i+1 < len(src); i += 2 {
			us = append(us, binary.LittleEndian.Uint16(src[i:]))
		}
		if rs := utf16.Decode(us); !bytes.ContainsRune(b, 0xfffd) && string(rs) != string(b) && !hasLone(us) {
			t.Fatalf("differs from unicode/utf16: %q, %q", b, string(rs))
		}
	})
}

func hasLone(us []uint16) bool {
	return bytes.ContainsRune([]byte(string(utf16.Decode(us))), 0xfffd)
}
