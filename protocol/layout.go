package protocol

import (
	"bytes"
	"slices"
)

// Layout says where the data of a packet lies if that is not where the rule puts it.
// Official packets have some data in another order than their pointers, and some packets
// have bytes that belong to no field.
type Layout struct {
	// Size is the length of the packet in bytes.
	Size int
	// At is the offset of each datum, in the order of the rule: a string, bytes, or an
	// element of an array, each followed by its own data. Empty bytes and arrays are
	// included, with the offset in their pointer.
	At []int
	// Gaps are the bytes that belong to no field and are not 0.
	Gaps []Gap
}

// Gap is a run of bytes between the fields, or behind them.
type Gap struct {
	Off  int
	Data []byte
}

// layout returns the layout of a packet that is not plain.
func (w *walker) layout() *Layout {
	l := &Layout{Size: len(w.p), At: make([]int, len(w.at)), Gaps: w.gaps()}
	for i, off := range w.at {
		l.At[i] = int(off)
	}
	return l
}

// gaps returns the gaps of a packet that is not plain.
func (w *walker) gaps() (list []Gap) {
	for off := w.free(0); off < len(w.p); off = w.free(off) {
		end := off + 1
		for end < len(w.p) && !w.isUsed(end) {
			end++
		}
		if data := bytes.TrimRight(w.p[off:end], "\x00"); len(data) > 0 {
			zeros := len(data) - len(bytes.TrimLeft(data, "\x00"))
			list = append(list, Gap{Off: off + zeros, Data: slices.Clone(data[zeros:])})
		}
		off = end
	}
	return list
}

// free returns the first byte from off on that belongs to no field, or at least the length of
// the packet.
func (w *walker) free(off int) int {
	for off < len(w.p) && w.isUsed(off) {
		if w.used[off/64]>>(off%64) == ^uint64(0)>>(off%64) {
			off = off/64*64 + 64
		} else {
			off++
		}
	}
	return off
}

func (w *walker) isUsed(off int) bool { return w.used[off/64]>>(off%64)&1 != 0 }

// strict refuses a layout with bytes that belong to no field or to two.
func (w *walker) strict() error {
	if w.shared {
		return badf(0, "some bytes belong to two fields")
	}
	if off := w.free(0); off < len(w.p) {
		return badf(off, "a byte that belongs to no field")
	}
	return nil
}
