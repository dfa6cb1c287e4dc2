package protocol

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"

	"lorefs/internal/wtf8"
)

// AppendJSON appends packet, header included, as one line of JSON to dst:
//
//	{"code":51973,"data":{"id":"7","name":"x","items":[{"slot":1}]}}
//
// "data" has the fields in the order of the definition. Integers of 64 bits are strings,
// since JSON readers round numbers above 2^53. Floats that JSON has no number for are
// strings too: "NaN", "Infinity", "-Infinity", and "NaN:7fc00001" for another NaN, by its
// bits. A bool is true or false, or a number if it is neither 1 nor 0. An angle is in
// radians. Bytes are hex digits. A lone surrogate in a string is a \ud800 escape.
//
// Some members are there only if needed: "length" if the header has another length than the
// packet, "padding" for a padded packet, "guessed" with the paths of [Table.Guessed], and
// "layout" if the data is not where it would be written; see [Layout]. With them,
// [Table.ParseJSON] and [Table.Encode] make the same bytes again.
//
// If the packet does not fit the definition, dst is returned unchanged with an error.
func (t *Table) AppendJSON(dst, packet []byte) ([]byte, error) {
	w := walker{t: t, p: packet}
	lay, err := w.run()
	if err != nil {
		return dst, err
	}
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendUint(dst, uint64(binary.LittleEndian.Uint16(packet[2:])), 10)
	if n := binary.LittleEndian.Uint16(packet); int(n) != len(packet) {
		dst = append(dst, `,"length":`...)
		dst = strconv.AppendUint(dst, uint64(n), 10)
	}
	if t.opts.Padded {
		dst = append(dst, `,"padding":"`...)
		dst = hex.AppendEncode(dst, packet[headerSize:headerSize+paddingSize])
		dst = append(dst, '"')
	}
	dst = t.appendGuessed(dst)
	dst = append(dst, `,"data":`...)
	dst = emitter{packet}.object(dst, t.body.root, 0)
	if lay != nil {
		dst = append(dst, `,"layout":`...)
		dst = lay.appendJSON(dst)
	}
	return append(dst, '}'), nil
}

// run checks the packet, and returns its layout if it differs from the rule's.
func (w *walker) run() (*Layout, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	if w.plain {
		return nil, nil
	}
	again := walker{t: w.t, p: w.p, record: true}
	if err := again.check(); err != nil {
		return nil, err
	}
	if w.t.opts.Strict {
		if err := again.strict(); err != nil {
			return nil, err
		}
	}
	return again.layout(), nil
}

// emitter writes JSON of a packet that a walker has accepted.
type emitter struct{ p []byte }

func (e emitter) object(dst []byte, m *member, base int) []byte {
	dst = append(dst, '{')
	for i, sub := range m.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, sub.key...)
		dst = e.value(dst, sub, base)
	}
	return append(dst, '}')
}

func (e emitter) value(dst []byte, m *member, base int) []byte {
	switch m.typ {
	case TypeObject:
		return e.object(dst, m, base)
	case TypeString:
		text := e.p[e.u16(base+m.at):]
		return wtf8.AppendUnitsJSON(dst, text[:textLen(text)-2])
	case TypeBytes:
		return e.bytes(dst, m, base)
	case TypeArray:
		return e.array(dst, m, base)
	case TypeFixed:
		dst = append(dst, '[')
		for i := range m.n {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.value(dst, m.item, base+m.at+i*m.item.stride)
		}
		return append(dst, ']')
	}
	return appendScalar(dst, m.typ, e.p[base+m.at:])
}

func (e emitter) u16(off int) int { return int(binary.LittleEndian.Uint16(e.p[off:])) }

func (e emitter) bytes(dst []byte, m *member, base int) []byte {
	dst = append(dst, '"')
	if n := e.u16(base + m.countAt); n > 0 {
		off := e.u16(base + m.at)
		dst = hex.AppendEncode(dst, e.p[off:off+n])
	}
	return append(dst, '"')
}

func (e emitter) array(dst []byte, m *member, base int) []byte {
	dst = append(dst, '[')
	here := e.u16(base + m.at)
	for i := range e.u16(base + m.countAt) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if m.elem.bare {
			dst = e.value(dst, m.elem.root.members[0], here)
		} else {
			dst = e.object(dst, m.elem.root, here)
		}
		here = e.u16(here + 2)
	}
	return append(dst, ']')
}

// appendScalar appends the value at the beginning of p.
func appendScalar(dst []byte, typ Type, p []byte) []byte {
	le := binary.LittleEndian
	switch typ {
	case TypeBool:
		return appendBool(dst, p[0])
	case TypeByte:
		return strconv.AppendUint(dst, uint64(p[0]), 10)
	case TypeInt16:
		return strconv.AppendInt(dst, int64(int16(le.Uint16(p))), 10)
	case TypeUint16:
		return strconv.AppendUint(dst, uint64(le.Uint16(p)), 10)
	case TypeInt32:
		return strconv.AppendInt(dst, int64(int32(le.Uint32(p))), 10)
	case TypeUint32:
		return strconv.AppendUint(dst, uint64(le.Uint32(p)), 10)
	case TypeInt64:
		return append(strconv.AppendInt(append(dst, '"'), int64(le.Uint64(p)), 10), '"')
	case TypeUint64:
		return append(strconv.AppendUint(append(dst, '"'), le.Uint64(p), 10), '"')
	case TypeFloat:
		return appendFloat(dst, le.Uint32(p))
	case TypeDouble:
		return appendDouble(dst, le.Uint64(p))
	case TypeAngle:
		return strconv.AppendFloat(dst, Angle(le.Uint16(p)).Radians(), 'g', -1, 64)
	case TypeVec3, TypeVec3FA:
		return appendVec3(dst, typ, p)
	case TypeSkillID:
		return skill64.appendJSON(dst, le.Uint64(p))
	case TypeSkillID32:
		return skill32.appendJSON(dst, uint64(le.Uint32(p)))
	case TypeCustomize:
		return Customize(p[:8]).appendJSON(dst)
	}
	panic("BUG: appendScalar of " + typ.String())
}

func appendBool(dst []byte, b byte) []byte {
	switch b {
	case 0:
		return append(dst, "false"...)
	case 1:
		return append(dst, "true"...)
	}
	return strconv.AppendUint(dst, uint64(b), 10)
}

// Canonical NaNs, which are written without bits.
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

func appendFloat(dst []byte, bits uint32) []byte {
	f := math.Float32frombits(bits)
	switch {
	case f != f && bits != nan32:
		return append(hexDigits(append(dst, `"NaN:`...), uint64(bits), 8), '"')
	case f != f || math.IsInf(float64(f), 0):
		return appendNoNumber(dst, float64(f))
	}
	return strconv.AppendFloat(dst, float64(f), 'g', -1, 32)
}

func appendDouble(dst []byte, bits uint64) []byte {
	f := math.Float64frombits(bits)
	switch {
	case f != f && bits != nan64:
		return append(hexDigits(append(dst, `"NaN:`...), bits, 16), '"')
	case f != f || math.IsInf(f, 0):
		return appendNoNumber(dst, f)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// appendNoNumber appends a float that JSON has no number for.
func appendNoNumber(dst []byte, f float64) []byte {
	switch {
	case f > 0:
		return append(dst, `"Infinity"`...)
	case f < 0:
		return append(dst, `"-Infinity"`...)
	}
	return append(dst, `"NaN"`...)
}

func hexDigits(dst []byte, v uint64, n int) []byte {
	for n--; n >= 0; n-- {
		dst = append(dst, "0123456789abcdef"[v>>(4*n)&15])
	}
	return dst
}

func appendVec3(dst []byte, typ Type, p []byte) []byte {
	for i, key := range [3]string{`{"x":`, `,"y":`, `,"z":`} {
		dst = append(dst, key...)
		bits := binary.LittleEndian.Uint32(p[4*i:])
		f := float64(math.Float32frombits(bits))
		if typ == TypeVec3 || f != f || math.IsInf(f, 0) {
			dst = appendFloat(dst, bits)
		} else {
			dst = strconv.AppendFloat(dst, f*math.Pi/32768, 'g', -1, 64)
		}
	}
	return append(dst, '}')
}

// appendJSON appends the parts of a skill id and the raw number, because patches differ in
// the meaning of its bits.
func (s skillShape) appendJSON(dst []byte, raw uint64) []byte {
	id := s.unpack(raw)
	dst = append(dst, `{"reserved":`...)
	dst = strconv.AppendUint(dst, uint64(id.Reserved), 10)
	dst = append(dst, `,"npc":`...)
	dst = strconv.AppendBool(dst, id.NPC)
	dst = append(dst, `,"type":`...)
	dst = strconv.AppendUint(dst, uint64(id.Type), 10)
	dst = append(dst, `,"huntingZoneId":`...)
	dst = strconv.AppendUint(dst, uint64(id.HuntingZone), 10)
	dst = append(dst, `,"id":`...)
	dst = strconv.AppendUint(dst, uint64(id.ID), 10)
	dst = append(dst, `,"raw":"0x`...)
	return append(strconv.AppendUint(dst, raw, 16), `"}`...)
}

func (c Customize) appendJSON(dst []byte) []byte {
	for i, key := range customizeKeys {
		dst = append(dst, "{,"[min(i, 1)], '"')
		dst = append(append(dst, key...), `":`...)
		dst = strconv.AppendUint(dst, uint64(c[i]), 10)
	}
	return append(dst, '}')
}
