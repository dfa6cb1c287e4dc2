package form

import (
	"encoding/binary"
	"math"
	"time"
)

// Header is the header of the inflated data. Only the version must have a certain value.
type Header struct {
	Version   uint32
	Timestamp float64 // Unix time; -1 in files that novadrop wrote
	Revision  uint32  // 0 in version 3, which has none
	Unknown1  int16
	Unknown2  int16
	Unknown3  int32
	Unknown4  int32
	Unknown5  int32
}

// Time returns the timestamp, or the zero time if the timestamp is not a time.
func (h Header) Time() time.Time {
	if h.Timestamp <= 0 || h.Timestamp > math.MaxUint32 || math.IsNaN(h.Timestamp) {
		return time.Time{}
	}
	sec, frac := math.Modf(h.Timestamp)
	return time.Unix(int64(sec), int64(frac*1e9)).UTC()
}

// Same reports whether two headers have the same bits. A comparison with == would fail for
// a timestamp that is a NaN.
func (h Header) Same(o Header) bool {
	bits := math.Float64bits
	same := bits(h.Timestamp) == bits(o.Timestamp)
	h.Timestamp, o.Timestamp = 0, 0
	return same && h == o
}

// parseHeader reads a header of layout l from b, l.HeaderSize() bytes.
func parseHeader(b []byte, l Layout) Header {
	le := binary.LittleEndian
	h := Header{Version: le.Uint32(b), Timestamp: math.Float64frombits(le.Uint64(b[4:]))}
	b = b[12:]
	if l != LayoutV3 {
		h.Revision = le.Uint32(b)
		b = b[4:]
	}
	h.Unknown1 = int16(le.Uint16(b))
	h.Unknown2 = int16(le.Uint16(b[2:]))
	h.Unknown3 = int32(le.Uint32(b[4:]))
	h.Unknown4 = int32(le.Uint32(b[8:]))
	h.Unknown5 = int32(le.Uint32(b[12:]))
	return h
}

// Append is the inverse of parseHeader.
func (h Header) Append(b []byte, l Layout) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, h.Version)
	b = le.AppendUint64(b, math.Float64bits(h.Timestamp))
	if l != LayoutV3 {
		b = le.AppendUint32(b, h.Revision)
	}
	b = le.AppendUint16(b, uint16(h.Unknown1))
	b = le.AppendUint16(b, uint16(h.Unknown2))
	b = le.AppendUint32(b, uint32(h.Unknown3))
	b = le.AppendUint32(b, uint32(h.Unknown4))
	return le.AppendUint32(b, uint32(h.Unknown5))
}
