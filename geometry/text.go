package geometry

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sort"
)

// Text is a text of parts, each of which can be made without those before it. So a text of
// 90 MB can be read at any offset without being kept.
//
// A text is always the same for the same zone or area, and safe for parallel use.
type Text interface {
	// Parts returns the number of parts.
	Parts() int
	// AppendPart appends part i, from 0 on.
	AppendPart(dst []byte, i int) []byte
}

// checkEvery is how many parts are made between checks of ctx.
const checkEvery = 256

// Offsets has the offset of each part of a text, and of its end. It is a slice of bytes, 8
// for each offset, so that a cache of blocks can hold it.
type Offsets []byte

const placeBytes = 8

// OffsetsOf computes the offsets by making all parts, one at a time.
func OffsetsOf(ctx context.Context, t Text) (Offsets, error) {
	o := make(Offsets, 0, placeBytes*(t.Parts()+1))
	var part []byte
	total := uint64(0)
	for i := range t.Parts() {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		o = binary.LittleEndian.AppendUint64(o, total)
		part = t.AppendPart(part[:0], i)
		total += uint64(len(part))
	}
	return binary.LittleEndian.AppendUint64(o, total), nil
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
		part = t.AppendPart(part[:0], i)
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
		buf = t.AppendPart(buf, i)
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
