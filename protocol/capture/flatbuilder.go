package capture

import "encoding/binary"

// flatBuilder lays packets out as FlatBuffers. References lead only forward, so the vector
// of packets is put before them when their number is known.
//
//	 0  offset of the root table
//	 4  vtable of the root: it has 6 bytes, the table 8, field 0 is at 4
//	12  root table: distance to its vtable, offset of the vector
//	20  vector: count, offsets of the packets
//	    body: vtable of the packets, then each packet with what it refers to
type flatBuilder struct {
	body    []byte
	packets []int // in body
}

// A packet's table in the order of its bytes: vtable, data, timestamp, name, code, version,
// fake, three bytes of padding.
const (
	flatData      = 4
	flatTimestamp = 8
	flatName      = 16
	flatCode      = 20
	flatVersion   = 22
	flatFake      = 24
	flatTableSize = 28
)

// flatVtable is the vtable of packets: sizes, then the fields by their number.
var flatVtable = [...]uint16{16, flatTableSize, flatCode, flatName, flatVersion, flatFake, flatData, flatTimestamp}

// align pads to a multiple of 8.
func (f *flatBuilder) align() {
	for len(f.body)%8 != 0 {
		f.body = append(f.body, 0)
	}
}

func (f *flatBuilder) add(p *Packet) {
	le := binary.LittleEndian
	if len(f.body) == 0 {
		for _, v := range flatVtable {
			f.body = le.AppendUint16(f.body, v)
		}
	}
	f.align()
	at := len(f.body)
	f.packets = append(f.packets, at)
	var t [flatTableSize]byte
	le.PutUint32(t[:], uint32(at))
	millis, _ := toMillis(p.Time)
	le.PutUint64(t[flatTimestamp:], uint64(millis))
	le.PutUint16(t[flatCode:], p.Code())
	le.PutUint16(t[flatVersion:], uint16(p.Version))
	if p.Fake {
		t[flatFake] = 1
	}
	f.body = append(f.body, t[:]...)
	f.refer(at+flatData, len(p.Data), p.Data)
	// A string's length does not count its NUL.
	f.refer(at+flatName, len(p.Name), append([]byte(p.Name), 0))
}

// refer appends a vector of bytes and sets the offset at field to it.
func (f *flatBuilder) refer(field, n int, b []byte) {
	f.align()
	binary.LittleEndian.PutUint32(f.body[field:], uint32(len(f.body)-field))
	f.body = binary.LittleEndian.AppendUint32(f.body, uint32(n))
	f.body = append(f.body, b...)
}

func (f *flatBuilder) finish() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 12)
	for _, v := range []uint16{6, 8, 4, 0} {
		b = le.AppendUint16(b, v)
	}
	b = le.AppendUint32(b, 8)
	b = le.AppendUint32(b, 4)
	b = le.AppendUint32(b, uint32(len(f.packets)))
	start := (len(b) + 4*len(f.packets) + 7) &^ 7
	for _, at := range f.packets {
		b = le.AppendUint32(b, uint32(start+at-len(b)))
	}
	b = append(b, make([]byte, start-len(b))...)
	return append(b, f.body...)
}
