package datacenter

import (
	"context"
	"errors"
	"io"

	"lorefs/internal/splice"
)

// maxSpliced is the number of deflate blocks that may have to be encoded anew.
const maxSpliced = 600

// errTooMany says that edits touch more than maxSpliced deflate blocks. Nothing was written
// then: writing the whole file anew is about as fast.
var errTooMany = errors.New("datacenter: too many deflate blocks are touched")

// spliced describes a file that splice wrote. It is what the index of the new file has of
// the stream.
type spliced struct {
	checkpoints
	stated    int64 // inflated size
	size      int64 // of the file
	streamEnd int64
	// touched is the number of deflate blocks that were encoded anew.
	touched int
}

// splice writes to w the file that f becomes when edits are made in its inflated data. It
// encodes anew only the deflate blocks that the edits touch. It writes nothing if it returns
// errTooMany.
func (f *File) splice(ctx context.Context, w io.Writer, edits []splice.Edit) (*spliced, error) {
	return nil, errors.ErrUnsupported
}

// check reads back the file that splice wrote, which has the SHA-256 sum as far as its writer
// knows. It decodes what was encoded anew through the new checkpoints and compares it with
// what was wanted.
func (s *spliced) check(ctx context.Context, r io.ReaderAt, sum [32]byte) error {
	return errors.ErrUnsupported
}
