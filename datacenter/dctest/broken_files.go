package dctest

import (
	"bytes"
	"math"

	"lorefs/datacenter"
)

// brokenDocs returns mistakes that are made in a Doc.
func brokenDocs(layout datacenter.Layout) []BrokenFile {
	build := func(d Doc, o Options) []byte { return Build(inLayout(d, layout), o) }
	rootFirst, valueFirst := plain(), plain()
	rootFirst.Names = []string{RootName}
	valueFirst.Names = []string{ValueName, RootName}
	nameless := Doc{Root: &Node{Name: "root", Children: []*Node{{Name: "Sheet"}}}}
	// The documents' hash ends at a NUL, and so do strings for a client.
	ends := Doc{Root: Root(&Node{Name: "Ends", Attrs: []Attr{{"a", "in\x00side"}, {"b", "\x00"}, {"c", "end\x00"}, {"d\x00e", "in"}}})}
	return []BrokenFile{
		{"NUL inside strings", "strings have a NUL before their end", AtVerify, layout, build(ends, Options{})},
		{"root name is first", "__root__ is not the last name but one", AtVerify, layout, build(rootFirst, Options{})},
		{"text name is first", "__value__ is not the last name", AtVerify, layout, build(valueFirst, Options{})},
		{"no special names", "__root__ and __value__ are missing", AtVerify, layout, build(nameless, Options{noSpecialNames: true})},
	}
}

// brokenFiles returns mistakes around an image.
func brokenFiles(layout datacenter.Layout) []BrokenFile {
	m := NewImage(inLayout(crowd(), layout), Options{})
	file := func(name, want string, found Stage, o SealOptions) BrokenFile {
		return BrokenFile{Name: name, Want: want, Found: found, Layout: layout, Data: m.Seal(o)}
	}
	size := func(n uint32) SealOptions { return SealOptions{Size: &n} }
	length := len(m.Seal(SealOptions{}))
	all := []BrokenFile{
		file("empty", "the file is empty", AtOpen, SealOptions{Cut: length}),
		file("1 byte", "the file is shorter than its header", AtOpen, SealOptions{Cut: length - 1}),
		file("5 bytes", "the file is shorter than its header", AtOpen, SealOptions{Cut: length - 5}),
		file("header alone", "the stream is missing", AtOpen, SealOptions{Cut: length - 6}),
		file("cut after a byte", "the stream ends early", AtOpen, SealOptions{Cut: length - 7}),
		file("cut in the middle", "the stream ends early", AtOpen, SealOptions{Cut: length / 2}),
		file("cut at the end", "the stream ends early", AtOpen, SealOptions{Cut: 8}),
		// The documents do not mention a trailer, but a zlib stream has one.
		file("no trailer", "the zlib trailer is missing", AtVerify, SealOptions{NoAdler: true}),
		file("cut in the trailer", "the zlib trailer is not whole", AtVerify, SealOptions{Cut: 2}),
		file("wrong Adler-32", "the zlib trailer is not the sum of the data", AtVerify, SealOptions{WrongAdler: true}),
		file("behind the stream", "bytes follow the stream", AtVerify, SealOptions{Trailing: []byte("more")}),
		file("much behind the stream", "bytes follow the stream", AtVerify, SealOptions{Trailing: bytes.Repeat([]byte("more"), 50000)}),
		file("size 0", "the stated size is too small", AtOpen, size(0)),
		file("size of a header", "the stated size is too small", AtOpen, size(uint32(layout.HeaderSize()))),
		file("size less by one", "the stated size is too small", AtVerify, SealOptions{SizeDelta: -1}),
		file("size more by one", "the stated size is too large", AtVerify, SealOptions{SizeDelta: 1}),
		file("size huge", "the stated size is too large", AtVerify, size(math.MaxUint32)),
		file("wrong key", "the file is encrypted with another key", AtOpen, SealOptions{Key: bytes.Repeat([]byte{1}, 16)}),
		file("wrong IV", "the file is encrypted with another IV", AtOpen, SealOptions{IV: bytes.Repeat([]byte{2}, 16)}),
		{"not encrypted", "the file is not encrypted", AtOpen, layout, m.Data},
		{"no stream", "what follows the header is no Deflate stream", AtOpen, layout, sealStream(1000, []byte{7, 7, 7, 7, 7, 7}, 0, SealOptions{})},
	}
	return append(all, brokenZlib(file)...)
}

func brokenZlib(file func(name, want string, found Stage, o SealOptions) BrokenFile) []BrokenFile {
	header := func(cmf, flg byte) SealOptions { return SealOptions{ZlibHeader: [2]byte{cmf, flg}} }
	return []BrokenFile{
		file("zlib check", "FCHECK is wrong", AtOpen, header(0x78, 0x9d)),
		file("zlib method", "CM is not 8", AtOpen, header(0x77, 0x85)),
		file("zlib dictionary", "FDICT is set", AtOpen, header(0x78, 0xbb)),
		file("zlib window", "CINFO is larger than 7", AtOpen, header(0x88, 0x1c)),
	}
}
