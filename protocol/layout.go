package protocol

import (
	"encoding/hex"
	"slices"
	"strconv"
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

// layout returns the layout of a packet that was walked with record set.
func (w *walker) layout() *Layout {
	l := &Layout{Size: len(w.p), At: w.at}
	for off := 0; off < len(w.p); off++ {
		if w.used[off] || w.p[off] == 0 {
			continue
		}
		end := off
		for end < len(w.p) && !w.used[end] {
			end++
		}
		for w.p[end-1] == 0 {
			end--
		}
		l.Gaps = append(l.Gaps, Gap{Off: off, Data: slices.Clone(w.p[off:end])})
		off = end
	}
	return l
}

// strict refuses a layout with bytes that belong to no field or to two.
func (w *walker) strict() error {
	if w.shared {
		return badf(0, "some bytes belong to two fields")
	}
	if off := slices.Index(w.used, false); off >= 0 {
		return badf(off, "a byte that belongs to no field")
	}
	return nil
}

func (l *Layout) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"size":`...)
	dst = strconv.AppendInt(dst, int64(l.Size), 10)
	dst = append(dst, `,"at":[`...)
	for i, off := range l.At {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(off), 10)
	}
	dst = append(dst, `],"gaps":[`...)
	for i, g := range l.Gaps {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"at":`...)
		dst = strconv.AppendInt(dst, int64(g.Off), 10)
		dst = append(dst, `,"hex":"`...)
		dst = hex.AppendEncode(dst, g.Data)
		dst = append(dst, `"}`...)
	}
	return append(dst, `]}`...)
}
