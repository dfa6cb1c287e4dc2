package datacenter

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"reflect"

	"lorefs/datacenter/internal/splice"
)

// A SplicedData is a file made by edits of bytes. What they mean is not looked at.
type SplicedData struct{ *spliced }

// SpliceData writes the file that f becomes when edits are made in its inflated data.
func (f *File) SpliceData(ctx context.Context, w io.Writer, edits []splice.Edit) (SplicedData, error) {
	s, err := f.splice(ctx, w, edits)
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
func (s SplicedData) Open(r io.ReaderAt, size int64) (*File, error) {
	c, err := unlock(r, size, s.key)
	if err != nil {
		return nil, err
	}
	opts := Options{}
	setDefaults(&opts)
	f := newFile(c, opts.Blocks)
	f.checkpoints, f.streamEnd = s.checkpoints, s.streamEnd
	return f, nil
}

// ReadData reads inflated data.
func (f *File) ReadData(off int64, p []byte) error { return f.readData(off, p) }

// ErrTooMany is SpliceData's error for edits of too many places.
var ErrTooMany = errTooMany

// VerifyInOrder is Verify, or VerifyStrict, without the attempt to check parts side by side.
func VerifyInOrder(ctx context.Context, r io.ReaderAt, size int64, opts Options, strict bool) (all []Finding, err error) {
	f, err := open(ctx, r, size, opts)
	v := &verifier{file: f, ctx: ctx, strict: strict, yield: func(f Finding) bool { all = append(all, f); return true }}
	if err == nil {
		v.work = workFree + workRatio*f.stated
		for _, check := range []func() error{
			v.container, v.header, v.segments, v.keys, v.names, v.values, v.graph, v.waste,
		} {
			if err = check(); err != nil {
				break
			}
		}
	}
	if v.fault(err) {
		err = nil
	}
	return all, err
}

// AskedFor returns for how many strings r asks before it moves the attributes of siblings.
func (r *Rewriter) AskedFor(siblings []Node) int {
	r.askForStrings(siblings)
	return len(r.asked)
}

// CompareCounts counts the nodes of a file in the order of the file and along the paths. It returns the
// error of counting, after whether the first way was enough, and what differs.
func CompareCounts(ctx context.Context, r io.ReaderAt, size int64) (inOrder bool, difference string, countErr error) {
	f, err := open(ctx, r, size, Options{})
	if err != nil {
		return false, "", err
	}
	count := func(inOrder bool) (*tally, error) {
		t, err := f.tableNodes(ctx)
		if err != nil {
			return nil, err
		}
		return t.tally(f.regions.attributes, f.regions.nodes, inOrder)
	}
	want, wantErr := count(false)
	if !reflect.DeepEqual(f.countErr, wantErr) {
		return false, fmt.Sprintf("opened: %v, along the paths: %v", f.countErr, wantErr), wantErr
	}
	if wantErr == nil && !reflect.DeepEqual(f.tally, *want) {
		return false, fmt.Sprintf("opened: %+v, along the paths: %+v", f.tally, *want), nil
	}
	got, err := count(true)
	inOrder = !errors.Is(err, errRecount)
	if inOrder && (!reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr)) {
		difference = fmt.Sprintf("in order: %+v, %v, along the paths: %+v, %v", got, err, want, wantErr)
	}
	return inOrder, difference, wantErr
}
