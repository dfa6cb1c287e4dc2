package picture

import (
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"image"
	"image/color"
)

// Parts of a PNG file, in bytes.
const (
	pngMagic = "\x89PNG\r\n\x1a\n"
	// pngChunk counts the bytes of a chunk beside its content: size, name and checksum.
	pngChunk = 12
	// pngHead is the content of the chunk IHDR.
	pngHead = 13
	// pngNote counts the bytes of a chunk iTXt beside its keyword and its text: ends of strings,
	// compression, and neither a language nor a translation.
	pngNote = 5
	// zlibHead and zlibSum are the ends of a zlib stream, storedHead begins each stored block.
	zlibHead, zlibSum, storedHead = 2, 4, 5
)

// Note is a text in a PNG file, with what it is. Programs that show pictures show it as well.
type Note struct{ Keyword, Text string }

// pngFile is a PNG file. It is not compressed, so that its size is known before the picture is.
type pngFile struct {
	width, height int
	// depth is 8, or 16 for grey.
	depth byte
	// palette is nil for grey.
	palette color.Palette
	notes   []Note
}

// HeightmapPNG returns a file of a [geometry.Heightmap].
func HeightmapPNG(img *image.Gray16, about HeightmapNotes) []byte {
	return about.file().append(img.Pix)
}

// HeightmapSize returns the size of that file.
func HeightmapSize(about HeightmapNotes) int { return about.file().size() }

// PreviewPNG returns a file of a [Relief], or of a picture that consists of [Tile].
func PreviewPNG(img *image.Paletted, notes []Note) []byte {
	return previewFile(img.Rect.Dx(), img.Rect.Dy(), notes).append(img.Pix)
}

// PreviewSize returns the size of such a file.
func PreviewSize(width, height int, notes []Note) int {
	return previewFile(width, height, notes).size()
}

func previewFile(width, height int, notes []Note) *pngFile {
	return &pngFile{width: width, height: height, depth: 8, palette: palette, notes: notes}
}

// row is the size of a row of pixels.
func (f *pngFile) row() int { return f.width * int(f.depth) / 8 }

// pixels is the size of the content of the chunk IDAT.
func (f *pngFile) pixels() int { return zlibHead + f.height*(storedHead+1+f.row()) + zlibSum }

func (f *pngFile) size() int {
	size := len(pngMagic) + pngChunk + pngHead + pngChunk + f.pixels() + pngChunk
	if f.palette != nil {
		size += pngChunk + 3*len(f.palette)
	}
	for _, n := range f.notes {
		size += pngChunk + n.size()
	}
	return size
}

func (n Note) size() int { return len(n.Keyword) + pngNote + len(n.Text) }

// append returns the file with pixels as it has them: rows of grey or of places in the palette.
func (f *pngFile) append(pix []byte) []byte {
	const grey, indexed = 0, 3
	dst := append(make([]byte, 0, f.size()), pngMagic...)
	head := binary.BigEndian.AppendUint32(nil, uint32(f.width))
	head = binary.BigEndian.AppendUint32(head, uint32(f.height))
	kind := byte(grey)
	if f.palette != nil {
		kind = indexed
	}
	// Behind the kind: deflate, filters for each row, and not interlaced.
	head = append(head, f.depth, kind, 0, 0, 0)
	dst = appendPNGChunk(dst, "IHDR", len(head), func(dst []byte) []byte { return append(dst, head...) })
	if f.palette != nil {
		dst = appendPNGChunk(dst, "PLTE", 3*len(f.palette), f.appendPalette)
	}
	for _, n := range f.notes {
		dst = appendPNGChunk(dst, "iTXt", n.size(), n.append)
	}
	dst = appendPNGChunk(dst, "IDAT", f.pixels(), func(dst []byte) []byte { return f.appendStored(dst, pix) })
	return appendPNGChunk(dst, "IEND", 0, func(dst []byte) []byte { return dst })
}

func (f *pngFile) appendPalette(dst []byte) []byte {
	for _, c := range f.palette {
		r, g, b, _ := c.RGBA()
		dst = append(dst, byte(r>>8), byte(g>>8), byte(b>>8))
	}
	return dst
}

func (n Note) append(dst []byte) []byte {
	// Behind the keyword: not compressed, no language, no translated keyword.
	dst = append(append(dst, n.Keyword...), 0, 0, 0, 0, 0)
	return append(dst, n.Text...)
}

// appendPNGChunk appends a chunk whose content appends size bytes.
func appendPNGChunk(dst []byte, name string, size int, content func([]byte) []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	from := len(dst)
	dst = content(append(dst, name...))
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[from:]))
}

// appendStored appends rows of pixels as a zlib stream with a stored block for each. No picture is
// so wide that a row does not fit into one.
func (f *pngFile) appendStored(dst, pix []byte) []byte {
	const (
		deflate32K, fastest = 0x78, 0x01
		noFilter            = 0
	)
	dst = append(dst, deflate32K, fastest)
	sum, row := adler32.New(), f.row()
	for y := range f.height {
		last := byte(0)
		if y == f.height-1 {
			last = 1
		}
		dst = append(dst, last)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(row+1))
		dst = binary.LittleEndian.AppendUint16(dst, ^uint16(row+1))
		from := len(dst)
		dst = append(append(dst, noFilter), pix[y*row:][:row]...)
		_, _ = sum.Write(dst[from:])
	}
	return sum.Sum(dst)
}
