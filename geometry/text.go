package geometry

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sort"
	"sync"
	"sync/atomic"

	"lorefs/internal/cores"
)

// Text is a text of parts, each of which can be made without those before it. So a text of
// 90 MB can be read at any offset without being kept.
//
// A text is always the same for the same zone or area, and safe for parallel use.
type Text interface {
	// Parts returns the number of parts.
	Parts() int
	// put writes part i, from 0 on, to a sink.
	put(s *sink, i int)
}

// appendPart appends part i of a text, from 0 on.
func appendPart(dst []byte, t Text, i int) []byte {
	s := sink{dst: dst}
	t.put(&s, i)
	return s.dst
}

// partSize returns the size of part i. It makes nothing of it.
func partSize(t Text, i int) int64 {
	s := sink{counts: true}
	t.put(&s, i)
	return int64(s.count)
}

// checkEvery is how many parts are made between checks of ctx.
const checkEvery = 256

// Offsets has the offset of each part of a text, and of its end. It is a slice of bytes, 8
// for each offset, so that a cache of blocks can hold it.
type Offsets []byte

const placeBytes = 8

// OffsetsOf computes the offsets, on all cores. It counts the bytes of all parts and makes none.
func OffsetsOf(ctx context.Context, t Text) (Offsets, error) {
	parts := t.Parts()
	o := make(Offsets, placeBytes*(parts+1))
	var next atomic.Int64
	count := func() {
		for ctx.Err() == nil {
			end := int(next.Add(checkEvery))
			for i := end - checkEvery; i < min(end, parts); i++ {
				o.set(i+1, partSize(t, i))
			}
			if end >= parts {
				return
			}
		}
	}
	var others sync.WaitGroup
	for range min(cores.Count(), parts/checkEvery+1) - 1 {
		others.Go(count)
	}
	count()
	others.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range parts {
		o.set(i+1, o.At(i)+o.At(i+1))
	}
	return o, nil
}

func (o Offsets) set(i int, off int64) {
	binary.LittleEndian.PutUint64(o[placeBytes*i:], uint64(off))
}

// At returns where part i begins; for i = Parts it is the end of the text.
func (o Offsets) At(i int) int64 { return int64(binary.LittleEndian.Uint64(o[placeBytes*i:])) }

// Parts returns the number of parts.
func (o Offsets) Parts() int { return len(o)/placeBytes - 1 }

// Size returns the size of the text.
func (o Offsets) Size() int64 { return o.At(o.Parts()) }

// ReadTextAt implements [io.ReaderAt] for a text with these offsets. The error is [io.EOF]
// or nil, unless off is negative.
func ReadTextAt(t Text, o Offsets, p []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, fmt.Errorf("geometry: negative offset %d", off)
	case off >= o.Size():
		return 0, io.EOF
	}
	// The last part that begins at off or before it.
	i := sort.Search(o.Parts(), func(i int) bool { return o.At(i) > off }) - 1
	n := 0
	var part []byte
	for ; n < len(p) && i < o.Parts(); i++ {
		part = appendPart(part[:0], t, i)
		n += copy(p[n:], part[off+int64(n)-o.At(i):])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteText writes the whole text.
func WriteText(ctx context.Context, w io.Writer, t Text) error {
	const enough = 64 << 10
	var buf []byte
	for i := range t.Parts() {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		buf = appendPart(buf, t, i)
		if len(buf) < enough && i < t.Parts()-1 {
			continue
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	return nil
}
