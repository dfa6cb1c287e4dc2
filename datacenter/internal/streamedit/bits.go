package streamedit

import "encoding/binary"

// bitBuffer collects bits. The first bit of a byte is its lowest.
type bitBuffer struct {
	b   []byte
	acc uint64 // bits behind b
	n   uint   // their number, at most 32
}

// put appends the n lowest bits of v, at most 32; the others must be 0.
func (w *bitBuffer) put(v uint64, n uint) {
	w.acc |= v << w.n
	if w.n += n; w.n > 32 {
		w.b = binary.LittleEndian.AppendUint32(w.b, uint32(w.acc))
		w.acc >>= 32
		w.n -= 32
	}
}

// len returns the number of bits.
func (w *bitBuffer) len() int64 { return int64(len(w.b))*8 + int64(w.n) }

// settle moves all whole bytes to b.
func (w *bitBuffer) settle() {
	for w.n >= 8 {
		w.b = append(w.b, byte(w.acc))
		w.acc >>= 8
		w.n -= 8
	}
}

// align appends zeros up to a byte boundary.
func (w *bitBuffer) align() {
	w.n = (w.n + 7) &^ 7
	w.settle()
}

// copyBits appends n bits of src from the bit offset from on.
func (w *bitBuffer) copyBits(src []byte, from, n int64) {
	w.settle()
	if lead := min(int64(8-w.n)&7, n); lead > 0 {
		w.put(bitsAt(src, from, uint(lead)), uint(lead))
		w.settle()
		from += lead
		n -= lead
	}
	if n >= 8 {
		// Here the buffer ends at a byte boundary.
		w.copyBytes(src[from>>3:], uint(from&7), int(n>>3))
		from += n &^ 7
		n &= 7
	}
	if n > 0 {
		w.put(bitsAt(src, from, uint(n)), uint(n))
	}
}

// copyBytes appends n bytes of src, which begin at one of the bits of its first byte.
func (w *bitBuffer) copyBytes(src []byte, shift uint, n int) {
	if shift == 0 {
		w.b = append(w.b, src[:n]...)
		return
	}
	for ; n >= 8 && len(src) >= 9; n -= 8 {
		v := binary.LittleEndian.Uint64(src)>>shift | uint64(src[8])<<(64-shift)
		w.b = binary.LittleEndian.AppendUint64(w.b, v)
		src = src[8:]
	}
	for ; n > 0; n-- {
		w.b = append(w.b, src[0]>>shift|src[1]<<(8-shift))
		src = src[1:]
	}
}

// sameBits reports whether n bits, a multiple of 8, are the same in x and y from two bit offsets
// on. It leaves out what has not reached y yet.
func sameBits(x []byte, xFrom int64, y []byte, yFrom, n int64) bool {
	n = min(n, int64(len(y))*8-yFrom) &^ 7
	if n <= 0 {
		return true
	}
	x, y = x[xFrom>>3:], y[yFrom>>3:]
	xShift, yShift := uint(xFrom&7), uint(yFrom&7)
	for n >= 64 && len(x) > 8 && len(y) > 8 {
		v := binary.LittleEndian.Uint64(x)>>xShift | uint64(x[8])<<1<<(63-xShift)
		w := binary.LittleEndian.Uint64(y)>>yShift | uint64(y[8])<<1<<(63-yShift)
		if v != w {
			return false
		}
		x, y = x[8:], y[8:]
		n -= 64
	}
	for i := int64(0); i < n; i += 8 {
		if bitsAt(x, int64(xShift)+i, 8) != bitsAt(y, int64(yShift)+i, 8) {
			return false
		}
	}
	return true
}

// bitsAt returns n bits, at most 8, from the bit offset from on.
func bitsAt(src []byte, from int64, n uint) uint64 {
	i := from >> 3
	v := uint64(src[i]) >> (from & 7)
	if uint(from&7)+n > 8 {
		v |= uint64(src[i+1]) << (8 - from&7)
	}
	return v & (1<<n - 1)
}
