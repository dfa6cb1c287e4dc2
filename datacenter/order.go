package datacenter

import (
	"bytes"
	"cmp"
	"math"
)

// compareValues is the order of key values: absent, int, float, string, bool;
// numbers by value, NaN first; strings by their UTF-16 units, which text gives.
func compareValues(x rawAttribute, xok bool, y rawAttribute, yok bool, text func(Address) []byte) int {
	if !xok || !yok {
		return cmp.Compare(bit(xok), bit(yok))
	}
	// A type that does not exist is reported where it is read.
	xt, _ := x.decodeType()
	yt, _ := y.decodeType()
	if xt != yt {
		return cmp.Compare(xt, yt)
	}
	switch xt {
	case Int:
		return cmp.Compare(int32(x.bits), int32(y.bits))
	case Float:
		return cmp.Compare(math.Float32frombits(x.bits), math.Float32frombits(y.bits))
	case String:
		if x.bits == y.bits {
			return 0
		}
		return compareUnits(text(x.value()), text(y.value()))
	}
	return cmp.Compare(x.bits, y.bits)
}

// compareUnits compares little-endian UTF-16, unit by unit.
func compareUnits(p, q []byte) int {
	if bytes.Equal(p, q) {
		return 0
	}
	for i := 0; i+1 < min(len(p), len(q)); i += charSize {
		// Little-endian: the second byte counts first.
		if c := cmp.Compare(uint16(p[i+1])<<8|uint16(p[i]), uint16(q[i+1])<<8|uint16(q[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(p), len(q))
}
