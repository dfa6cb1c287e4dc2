package bltetest

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"testing"

	"lorefs/blte"
)

// Broken is a damaged file.
type Broken struct {
	Name string
	File []byte
	// Want is the text of the error from opening the file and reading all of it.
	Want string
}

// patched returns a copy of b with bytes replaced from off on.
func patched(b []byte, off int, with ...byte) []byte {
	b = bytes.Clone(b)
	copy(b[off:], with)
	return b
}

// BrokenFiles returns damaged files of every kind.
func BrokenFiles(tb testing.TB) []Broken {
	tb.Helper()
	text := Text(100)
	plain := append([]byte{'N'}, text...)
	good := Build(tb, blte.WriteOptions{}, blte.Chunk{Content: text}, blte.Chunk{Content: text, Mode: blte.ModeZlib})
	return append(brokenHeaders(good), brokenChunks(plain, good)...)
}

func brokenHeaders(good []byte) []Broken {
	return []Broken{
		{"empty", nil, "blte: offset 0x0: header: the file has 0 bytes, its header and one chunk take at least 9"},
		{"no chunk", []byte("BLTE\x00\x00\x00\x00"), "blte: offset 0x0: header: the file has 8 bytes, its header and one chunk take at least 9"},
		{"magic", patched(good, 0, 'X'), `blte: offset 0x0: header: found 58 4c 54 45 instead of "BLTE"`},
		{"header larger than the file", patched(good, 4, 0x7f), fmt.Sprintf("blte: offset 0x4: header: a header of 2130706492 bytes in a file of %d", len(good))},
		{"header of another size", patched(good, 7, 61), "blte: offset 0x9: header: a table of 2 chunks in a header of 61 bytes"},
		{"flags", patched(good, 8, 0x0e), "blte: offset 0x8: header: table flags 0xe instead of 0xf or 0x10"},
		{"no chunks", patched(good, 11, 0), "blte: offset 0x9: header: a table of 0 chunks in a header of 60 bytes"},
		{"chunk without bytes", patched(good, 12, 0, 0, 0, 0), "blte: offset 0xc: header: chunk 0 has no bytes, not even a mode"},
		{"chunk behind the file", patched(good, 12, 1), fmt.Sprintf("blte: offset 0xc: header: the chunks end at %d, the file at %d", len(good)+(1<<24), len(good))},
		{"cut", good[:len(good)-1], fmt.Sprintf("blte: offset 0xc: header: the chunks end at %d, the file at %d", len(good), len(good)-1)},
	}
}

func brokenChunks(plain, good []byte) []Broken {
	one := func(chunk []byte, size int) []byte { return Table([][]byte{chunk}, []int{size}) }
	packed := good[60+101:]
	salsa := func(name byte, more ...byte) []byte {
		return append([]byte{'E', 8, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, name}, more...)
	}
	deep := plain
	for range 6 {
		deep = Frame(one(deep, 100))
	}
	return []Broken{
		{
			"sum", patched(good, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
			fmt.Sprintf("blte: offset 0x3c: chunk 0: the MD5 is %x, the table has 00000000000000000000000000000000", md5.Sum(plain)),
		},
		{"mode", one([]byte("Xdata"), 4), "blte: offset 0x24: chunk 0: unknown mode 'X'"},
		{"plain of another size", one(plain, 99), "blte: offset 0x24: chunk 0: mode N: 100 bytes decoded, 99 stated"},
		{"zlib too long", one(packed, 99), "blte: offset 0x24: chunk 0: mode Z: more than the stated 99 bytes decoded"},
		{"zlib too short", one(packed, 101), "blte: offset 0x24: chunk 0: mode Z: 100 bytes decoded, 101 stated"},
		{"zlib far too short", one(packed, 1<<20), fmt.Sprintf("blte: offset 0x24: chunk 0: mode Z: %d bytes can't become the stated 1048576", len(packed)-1)},
		{"zlib header", one([]byte("Zxyz"), 9), "blte: offset 0x24: chunk 0: mode Z: zlib: invalid header"},
		{"zlib cut", one(packed[:len(packed)-4], 100), "blte: offset 0x24: chunk 0: mode Z: unexpected EOF"},
		{"zlib checksum", one(patched(packed, len(packed)-1, 0), 100), "blte: offset 0x24: chunk 0: mode Z: the checksum is b69c21e9, the stream has b69c2100"},
		{"lz4 header", one([]byte("4\x01"), 9), "blte: offset 0x24: chunk 0: mode 4: 1 bytes are no header"},
		{"lz4 size", one([]byte("4\x03\x00\x00\x00\x00\x00\x00\x00\x30abc"), 4), "blte: offset 0x24: chunk 0: mode 4: neither layout has the stated 4 bytes"},
		{"lz4 too long", one([]byte("4\x03\x00\x00\x00\x00\x00\x00\x00\x30abcd"), 3), "blte: offset 0x24: chunk 0: mode 4: 1 bytes behind the block"},
		{"lz4 cut", one([]byte("4\x03\x00\x00\x00\x00\x00\x00\x00\x30ab"), 3), "blte: offset 0x24: chunk 0: mode 4: the LZ4 data ends early"},
		{"key name", one([]byte("E\x07aaaaaaaaaa"), 4), "blte: offset 0x24: chunk 0: mode E: a key name of 7 bytes, expected 8"},
		{"encryption cut", one(salsa(0x11), 4), "blte: offset 0x24: chunk 0: mode E: ends in its header"},
		{"iv", one(salsa(0x11, 5, 0, 0, 0, 0, 0, 'S', 0), 4), "blte: offset 0x24: chunk 0: mode E: an IV of 5 bytes, expected 4 or 8"},
		{"cipher", one(salsa(0x11, 4, 0, 0, 0, 0, 'X', 0), 4), "blte: offset 0x24: chunk 0: mode E: unknown cipher 'X'"},
		{"no key", one(salsa(0x12, 4, 0, 0, 0, 0, 'S', 0), 4), "blte: offset 0x24: chunk 0: encrypted with key 1222334455667788, which is not known"},
		{"decrypts to nothing", one(salsa(0x11, 4, 0, 0, 0, 0, 'S'), 4), "blte: offset 0x24: chunk 0: decrypted with key 1122334455667788: no mode"},
		{"frame of another size", one(Frame(one(plain, 100)), 99), "blte: offset 0x24: chunk 0: mode F: 100 bytes in the file inside, 99 stated"},
		{"frame without a file", one(Frame([]byte("none of it")), 99), `blte: offset 0x24: chunk 0: mode F: blte: offset 0x0: header: found 6e 6f 6e 65 instead of "BLTE"`},
		{"too deep", one(deep, 100), "blte: offset 0x24: chunk 0: " + nested(5) + "nested deeper than 4 times"},
		{"too large", one([]byte("Nx"), 0x7fffffff), "blte: offset 0x24: chunk 0: 2147483647 bytes decoded, more than the 1073741824 that are supported"},
	}
}

func nested(n int) (s string) {
	for range n {
		s += "mode F: chunk inside: "
	}
	return s
}
