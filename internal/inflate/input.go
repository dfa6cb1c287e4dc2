package inflate

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	// inputSize is the size of the input buffer. It stays well within the
	// second-level cache, and is large enough that the cost of a read is small.
	inputSize = 64 << 10

	// headerRead is read at first when the header of a block lies far before the place to
	// resume at. A header takes at most 287 bytes.
	headerRead = 1 << 10
)

// Expect says that input is needed up to a bit offset, so that what lies behind it is not read for
// nothing: the source may have to decrypt it. More is read if it is needed after all. It is valid
// until the next Expect or Open.
func (d *Decoder) Expect(end int64) { d.expected = end>>3 + 2*fastInput }

// bitOffset returns the offset of the next bit not yet consumed.
func (d *Decoder) bitOffset() int64 {
	return (d.base+int64(d.pos))<<3 - int64(d.nbits)
}

// seek goes to a bit offset, which must not lie behind the end. It keeps the buffer if that
// includes the new place.
func (d *Decoder) seek(bit int64) error {
	off := bit >> 3
	if off < d.base || off > d.base+int64(d.end) {
		d.base, d.end = off, 0
	}
	d.pos = int(off - d.base)
	d.bits, d.nbits = 0, 0
	skip := uint(bit & 7)
	if d.refill(); d.nbits < skip {
		return d.inputErr()
	}
	d.drop(skip)
	return nil
}

// more reports whether fill can add input.
func (d *Decoder) more() bool {
	return d.readErr == nil && d.base+int64(d.end) < d.size
}

// fill moves the rest of the input to the start of the buffer and reads behind it. It keeps
// an error until the bytes before it are used up.
func (d *Decoder) fill() {
	if !d.more() {
		return
	}
	d.base += int64(d.pos)
	d.end = copy(d.in[:], d.in[d.pos:d.end])
	d.pos = 0
	off := d.base + int64(d.end)
	room := d.in[d.end:]
	if off < d.expected {
		room = room[:min(int64(len(room)), d.expected-off)]
	}
	room = room[:min(int64(len(room)), int64(d.readMax), d.size-off)]
	n, err := d.src.ReadAt(room, off)
	if n == len(room) {
		err = nil // ReadAt may return io.EOF along with all bytes
	} else if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the source is shorter than size says
	}
	d.end += n
	d.readErr = err
}

// refill fills the bit buffer to at least 56 bits, or with all bits left. A symbol with all
// its extra bits and its distance takes at most 48. The buffer never holds 64 bits: the hot
// loop counts on room for less than one byte, and would advance by a negative amount.
//
// The bits from nbits on are zero here and wherever the hot loop does not own the bit
// buffer: stored bytes bypass it, and stale bits would otherwise be merged with those that
// follow.
func (d *Decoder) refill() {
	for d.nbits < 56 {
		if d.pos == d.end {
			if d.fill(); d.pos == d.end {
				return
			}
		}
		d.bits |= uint64(d.in[d.pos]) << d.nbits
		d.pos++
		d.nbits += 8
	}
}

// refillFast is refill, by one load where there is enough input.
func (d *Decoder) refillFast() {
	if d.nbits >= 48 {
		return
	}
	if d.end-d.pos < 8 {
		d.refill()
		return
	}
	d.bits |= binary.LittleEndian.Uint64(d.in[d.pos:]) << d.nbits
	d.pos += int((63 - d.nbits) >> 3)
	d.nbits |= 56
	d.bits &= 1<<d.nbits - 1
}

// drop consumes n bits, which must be there.
func (d *Decoder) drop(n uint) {
	d.bits >>= n
	d.nbits -= n
}

// take refills, and consumes and returns n bits, n <= 32.
func (d *Decoder) take(n uint) (uint, error) {
	if d.nbits < n {
		if d.refill(); d.nbits < n {
			return 0, d.inputErr()
		}
	}
	v := uint(d.bits & (1<<n - 1))
	d.drop(n)
	return v, nil
}
