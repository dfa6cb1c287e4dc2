package nodes

import (
	"fmt"
	"io"
)

// ReadContent implements [Tree.ReadAt] for content that is in memory.
func ReadContent[T string | []byte](content T, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("negative offset %d", off)
	}
	if off >= int64(len(content)) {
		return 0, io.EOF
	}
	n := copy(p, content[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
