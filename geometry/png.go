package geometry

import (
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"image"
)

// The sizes of the files of pictures. They are not compressed, so that the sizes are known
// before the pictures are.
const (
	HeightmapSize = pngBase + PictureSide*(storedHead+1+2*PictureSide)
	ReliefSize    = pngBase + PictureSide*(storedHead+1+PictureSide)
)

// Parts of a PNG file, in bytes.
const (
	pngMagic = "\x89PNG\r\n\x1a\n"
	// pngChunk is what a chunk has beside its content: size, name and checksum.
	pngChunk = 12
	// pngHead is the content of the chunk IHDR.
	pngHead = 13
	// zlibHead and zlibSum are the ends of a zlib stream, storedHead begins each stored block.
	zlibHead, zlibSum, storedHead = 2, 4, 5

	pngBase = len(pngMagic) + pngChunk + pngHead + pngChunk + zlibHead + zlibSum + pngChunk
)

// HeightmapPNG returns a file of a Heightmap.
func HeightmapPNG(img *image.Gray16) []byte {
	return appendPNG(make([]byte, 0, HeightmapSize), 16, img.Pix)
}

// ReliefPNG returns a file of a Relief.
func ReliefPNG(img *image.Gray) []byte {
	return appendPNG(make([]byte, 0, ReliefSize), 8, img.Pix)
}

// appendPNG appends a file of a grey picture of PictureSide×PictureSide pixels of 8 or 16 bits,
// as the file has them.
func appendPNG(dst []byte, depth byte, pix []byte) []byte {
	dst = append(dst, pngMagic...)
	head := binary.BigEndian.AppendUint32(nil, PictureSide)
	head = binary.BigEndian.AppendUint32(head, PictureSide)
	// Behind the depth: grey; deflate, filters for each row, and not interlaced.
	head = append(head, depth, 0, 0, 0, 0)
	dst = appendPNGChunk(dst, "IHDR", len(head), func(dst []byte) []byte { return append(dst, head...) })
	row := len(pix) / PictureSide
	size := zlibHead + PictureSide*(storedHead+1+row) + zlibSum
	dst = appendPNGChunk(dst, "IDAT", size, func(dst []byte) []byte { return appendStored(dst, pix, row) })
	return appendPNGChunk(dst, "IEND", 0, func(dst []byte) []byte { return dst })
}

// appendPNGChunk appends a chunk whose content appends size bytes.
func appendPNGChunk(dst []byte, name string, size int, content func([]byte) []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	from := len(dst)
	dst = content(append(dst, name...))
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[from:]))
}

// appendStored appends rows of pixels as a zlib stream with a stored block for each.
func appendStored(dst, pix []byte, row int) []byte {
	const (
		deflate32K, fastest = 0x78, 0x01
		noFilter            = 0
	)
	dst = append(dst, deflate32K, fastest)
	sum := adler32.New()
	for y := range PictureSide {
		last := byte(0)
		if y == PictureSide-1 {
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
