package protocol

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
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
	w, err := t.walk(packet)
	if err != nil {
		return dst, err
	}
	defer w.release()
	e := emitter{p: packet, b: dst[:cap(dst)], n: len(dst)}
	e.text(`{"code":`)
	e.uint(uint32(e.u16(codeAt)))
	if n := e.u16(0); n != len(packet) {
		e.text(`,"length":`)
		e.uint(uint32(n))
	}
	if t.opts.Padded {
		e.text(`,"padding":`)
		e.hex(packet[headerSize : headerSize+paddingSize])
	}
	e.run(t.body.json, 0)
	if !w.plain {
		e.layout(w)
	}
	e.text("}")
	return e.b[:e.n], nil
}

// emitter writes JSON of a packet that a walker has accepted.
type emitter struct {
	p []byte // the packet
	// b has n bytes of JSON, and room behind them.
	b []byte
	n int
}

// set takes back b, to which something was appended.
func (e *emitter) set(b []byte) { e.b, e.n = b[:cap(b)], len(b) }

// room makes sure that there are n bytes of room.
func (e *emitter) room(n int) {
	if len(e.b)-e.n < n {
		e.set(slices.Grow(e.b[:e.n], n))
	}
}

func (e *emitter) text(s string) {
	e.room(len(s))
	e.n += copy(e.b[e.n:], s)
}

func (e *emitter) uint(v uint32) {
	e.room(maxNumber)
	e.n = putUint32(e.b, e.n, v)
}

func (e *emitter) hex(data []byte) {
	e.room(len(`""`) + hex.EncodedLen(len(data)))
	e.b[e.n] = '"'
	n := e.n + 1 + hex.Encode(e.b[e.n+1:], data)
	e.b[n] = '"'
	e.n = n + 1
}

func (e *emitter) u16(off int) int { return int(binary.LittleEndian.Uint16(e.p[off:])) }

// run writes the fields of the scope, or the item of T[n], that begins at base.
func (e *emitter) run(prog *program, base int) {
	e.room(prog.room)
	le, p, b, n := binary.LittleEndian, e.p, e.b, e.n
	for i := range prog.ops {
		o := &prog.ops[i]
		if len(o.text) <= len(o.begin) {
			*(*[shortText]byte)(b[n:]) = o.begin
		} else {
			copy(b[n:], o.text)
		}
		n += len(o.text)
		at := base + o.at
		switch o.typ {
		case TypeBool:
			n = putBool(b, n, p[at])
		case TypeByte:
			n = putUint32(b, n, uint32(p[at]))
		case TypeInt16:
			n = putInt32(b, n, int32(int16(le.Uint16(p[at:]))))
		case TypeUint16:
			n = putUint32(b, n, uint32(le.Uint16(p[at:])))
		case TypeInt32:
			n = putInt32(b, n, int32(le.Uint32(p[at:])))
		case TypeUint32:
			n = putUint32(b, n, le.Uint32(p[at:]))
		case TypeInt64:
			b[n] = '"'
			n = putInt64(b, n+1, int64(le.Uint64(p[at:])))
			b[n] = '"'
			n++
		case TypeUint64:
			b[n] = '"'
			n = putUint64(b, n+1, le.Uint64(p[at:]))
			b[n] = '"'
			n++
		case TypeFloat:
			n = putFloatBits(b, n, le.Uint32(p[at:]))
		case TypeDouble:
			n = putDoubleBits(b, n, le.Uint64(p[at:]))
		case TypeAngle:
			n = putDouble(b, n, Angle(le.Uint16(p[at:])).Radians())
		case TypeVec3FA:
			n = putFloatAngle(b, n, le.Uint32(p[at:]))
		case TypeSkillID:
			n = len(skill64.appendJSON(b[:n], le.Uint64(p[at:])))
		case TypeSkillID32:
			n = len(skill32.appendJSON(b[:n], uint64(le.Uint32(p[at:]))))
		default:
			e.n = n
			e.far(o, base)
			e.room(prog.room)
			b, n = e.b, e.n
		}
	}
	e.n = n + copy(b[n:], prog.tail)
}

// far writes a value that may be of any length.
func (e *emitter) far(o *op, base int) {
	at := base + o.at
	switch o.typ {
	case TypeString:
		text := e.p[e.u16(at):]
		e.set(wtf8.AppendUnitsJSON(e.b[:e.n], text[:textLen(text)-2]))
	case TypeBytes:
		var data []byte
		if n := e.u16(base + o.countAt); n > 0 { // else its offset means nothing
			data = e.p[e.u16(at):][:n]
		}
		e.hex(data)
	case TypeArray:
		e.elements(o.each, e.u16(at), e.u16(base+o.countAt))
	case TypeFixed:
		e.items(o.each, at, o.stride, o.n)
	}
}

// elements writes the n elements of an array.
func (e *emitter) elements(each *program, here, n int) {
	e.text("[")
	for i := range n {
		if i > 0 {
			e.text(",")
		}
		e.run(each, here)
		here = e.u16(here + 2)
	}
	e.text("]")
}

// items writes the n items of T[n].
func (e *emitter) items(item *program, at, stride, n int) {
	e.text("[")
	for i := range n {
		if i > 0 {
			e.text(",")
		}
		e.run(item, at+i*stride)
	}
	e.text("]")
}

// layout writes the layout of a walker, as a member; see [Layout].
func (e *emitter) layout(w *walker) {
	e.text(`,"layout":{"size":`)
	e.uint(uint32(len(w.p)))
	e.text(`,"at":[`)
	e.room(len(w.at)*len("65535,") + maxNumber)
	for i, off := range w.at {
		if i > 0 {
			e.b[e.n] = ','
			e.n++
		}
		e.n = putUint32(e.b, e.n, uint32(off))
	}
	e.text(`],"gaps":[`)
	for i, g := range w.gaps() {
		if i > 0 {
			e.text(",")
		}
		e.text(`{"at":`)
		e.uint(uint32(g.Off))
		e.text(`,"hex":`)
		e.hex(g.Data)
		e.text("}")
	}
	e.text("]}")
}

func putBool(b []byte, n int, v byte) int {
	switch v {
	case 0:
		return n + copy(b[n:], "false")
	case 1:
		return n + copy(b[n:], "true")
	}
	return putUint32(b, n, uint32(v))
}

// Canonical NaNs, which are written without bits.
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

func putFloatBits(b []byte, n int, bits uint32) int {
	f := math.Float32frombits(bits)
	switch {
	case f != f && bits != nan32:
		return n + copy(b[n:], fmt.Sprintf(`"NaN:%08x"`, bits))
	case f != f || math.IsInf(float64(f), 0):
		return putNoNumber(b, n, float64(f))
	}
	return putFloat(b, n, f)
}

func putDoubleBits(b []byte, n int, bits uint64) int {
	f := math.Float64frombits(bits)
	switch {
	case f != f && bits != nan64:
		return n + copy(b[n:], fmt.Sprintf(`"NaN:%016x"`, bits))
	case f != f || math.IsInf(f, 0):
		return putNoNumber(b, n, f)
	}
	return putDouble(b, n, f)
}

// putNoNumber writes a float that JSON has no number for.
func putNoNumber(b []byte, n int, f float64) int {
	switch {
	case f > 0:
		return n + copy(b[n:], `"Infinity"`)
	case f < 0:
		return n + copy(b[n:], `"-Infinity"`)
	}
	return n + copy(b[n:], `"NaN"`)
}

// putFloatAngle writes one coordinate of a vec3fa, in radians.
func putFloatAngle(b []byte, n int, bits uint32) int {
	f := float64(math.Float32frombits(bits))
	if f != f || math.IsInf(f, 0) {
		return putFloatBits(b, n, bits)
	}
	return putDouble(b, n, f*math.Pi/32768)
}

// skillText is more than the length of a skill id's JSON.
const skillText = 200

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
