package splice

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/streamedit"
)

// A SplicedData is a file made by edits of bytes. What they mean is not looked at.
type SplicedData struct{ *spliced }

// SpliceData writes the file that f becomes when edits are made in its inflated data.
func SpliceData(ctx context.Context, f *datacenter.File, w io.Writer, edits []streamedit.Edit) (SplicedData, error) {
	s, err := spliceData(ctx, f.Form(), w, edits)
	return SplicedData{s}, err
}

// Check checks the file that was written.
func (s SplicedData) Check(ctx context.Context, r io.ReaderAt, sum [sha256.Size]byte) error {
	return errors.Join(s.checkBytes(ctx, r, sum), s.checkData(ctx, r))
}

// Starts returns the numbers of the deflate blocks whose starts Check looks at, and at last that of
// the end of the stream, if it looks at that.
func (s SplicedData) Starts() (all []int) {
	end := 0
	for _, span := range s.spans() {
		for end = span.first; end < span.next; end++ {
			all = append(all, end)
		}
	}
	for end > 0 && end < len(s.plan.Blocks) && s.plan.Blocks[end].Out == s.stated {
		all = append(all, end)
		end++
	}
	return all
}

// Blocks returns the number of deflate blocks.
func (s SplicedData) Blocks() int { return len(s.plan.Blocks) - 1 }

// MoveStart moves the start that is noted of a deflate block by some bits.
func (s SplicedData) MoveStart(block int, by int64) { s.plan.Blocks[block].Header += by }

// Touched returns the number of deflate blocks that were encoded anew.
func (s SplicedData) Touched() int { return s.touched }

// Open opens the file that was written by what is known of it, for SpliceData and ReadData.
func (s SplicedData) Open(r io.ReaderAt, size int64) (*datacenter.File, error) {
	c, err := form.Unlock(r, size, s.key)
	if err != nil {
		return nil, err
	}
	opts := form.Options{}
	form.SetDefaults(&opts)
	f := form.NewFile(c, opts.Blocks)
	f.Checkpoints, f.StreamEnd = s.Checkpoints, s.streamEnd
	return datacenter.Of(f), nil
}

// ReadData reads inflated data.
func ReadData(f *datacenter.File, off int64, p []byte) error {
	_, err := f.Form().Straddle(off, p)
	return err
}

// ErrTooMany is SpliceData's error for edits of too many places.
var ErrTooMany = errTooMany
