package blte

import (
	"encoding/binary"

	"lorefs/blte/internal/lz4block"
)

const (
	// lz4Version begins the layout of blocks.
	lz4Version = 1
	// lz4BlocksHeader is version:1 size:8 shift:1.
	lz4BlocksHeader = 10
	lz4MinShift     = 5
	lz4MaxShift     = 24
	// lz4Ratio is the most bytes that one byte of LZ4 can decode to.
	lz4Ratio = 255
)

// decodeLZ4 decodes both layouts. The stated size tells them apart. If there is none,
// decodeLZ4 tries the layout of blocks first, because its header is more specific.
func decodeLZ4(data []byte, size int64) ([]byte, error) {
	if len(data) < 8 {
		return nil, badChunk("mode 4: %d bytes are no header", len(data))
	}
	if blocks, n := lz4Blocks(data, size); blocks {
		return decodeLZ4Blocks(data, n)
	}
	n := binary.LittleEndian.Uint64(data)
	if size >= 0 && n != uint64(size) {
		return nil, badChunk("mode 4: neither layout has the stated %d bytes", size)
	}
	if err := checkLZ4Size(n, len(data)); err != nil {
		return nil, err
	}
	content := make([]byte, n)
	used, err := lz4block.Decode(content, 0, data[8:])
	if err != nil {
		return nil, &errFormat{what: "mode 4", err: err}
	}
	if rest := len(data) - 8 - used; rest > 0 && n > 0 {
		return nil, badChunk("mode 4: %d bytes behind the block", rest)
	}
	return content, nil
}

// lz4Blocks reports whether data has the layout of blocks, and the size it states.
func lz4Blocks(data []byte, size int64) (bool, uint64) {
	if len(data) < lz4BlocksHeader || data[0] != lz4Version {
		return false, 0
	}
	n := binary.BigEndian.Uint64(data[1:])
	shift := data[9]
	if shift < lz4MinShift || shift > lz4MaxShift || checkLZ4Size(n, len(data)) != nil {
		return false, 0
	}
	return size < 0 || n == uint64(size), n
}

func checkLZ4Size(n uint64, encoded int) error {
	if n > MaxChunk || n > uint64(encoded)*lz4Ratio {
		return badChunk("mode 4: %d bytes can't become the stated %d", encoded, n)
	}
	return nil
}

func decodeLZ4Blocks(data []byte, n uint64) ([]byte, error) {
	content := make([]byte, n)
	block, src := 1<<data[9], data[lz4BlocksHeader:]
	for at := 0; at < len(content); at += block {
		used, err := lz4block.Decode(content[:min(at+block, len(content))], at, src)
		if err != nil {
			return nil, &errFormat{what: "mode 4", err: err}
		}
		src = src[used:]
	}
	if len(src) > 0 {
		return nil, badChunk("mode 4: %d bytes behind the last block", len(src))
	}
	return content, nil
}
