package capture

import (
	"encoding/binary"
	"strings"
)

// Fields of the tables, by their number in the schema.
const (
	logBuffer = 0

	packetCode      = 0
	packetName      = 1
	packetVersion   = 2
	packetFake      = 3
	packetData      = 4
	packetTimestamp = 5
)

// maxFlatName is the longest name in a log.
const maxFlatName = 255

// flatLeast is the least that a packet takes: its offset in the vector, a table with
// the offset of its data, and the data with its length.
const flatLeast = 4 + 8 + 8

// flat reads tables of FlatBuffers from what gives bytes. Every offset is checked
// when it is followed; tables may share bytes, which is legal.
type flat struct {
	bytes func(off int64, n int) ([]byte, error)
}

func (f flat) u16(off int64) (uint16, error) {
	b, err := f.bytes(off, 2)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint16(b), nil
}

func (f flat) u32(off int64) (uint32, error) {
	b, err := f.bytes(off, 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// follow gives where the offset at off leads.
func (f flat) follow(off int64) (int64, error) {
	n, err := f.u32(off)
	return off + int64(n), err
}

// field gives the place of a field of n bytes in a table, 0 if the table does not
// have it.
func (f flat) field(table int64, number, n int) (int64, error) {
	rel, err := f.u32(table)
	if err != nil {
		return 0, err
	}
	vtable := table - int64(int32(rel))
	head, err := f.bytes(vtable, 4)
	if err != nil {
		return 0, err
	}
	vsize, size := int(binary.LittleEndian.Uint16(head)), int(binary.LittleEndian.Uint16(head[2:]))
	if vsize < 4 || vsize%2 != 0 || size < 4 {
		return 0, badf(vtable, "a vtable of %d bytes for a table of %d", vsize, size)
	}
	if 4+2*number+2 > vsize {
		return 0, nil
	}
	at, err := f.u16(vtable + 4 + 2*int64(number))
	if err != nil || at == 0 {
		return 0, err
	}
	if at < 4 || int(at)+n > size {
		return 0, badf(vtable, "field %d at %d in a table of %d bytes", number, at, size)
	}
	return table + int64(at), nil
}

// vector gives the place of the elements of the vector in a field, and how many
// bytes of them there are. Both are 0 if the field is not there.
func (f flat) vector(table int64, number int) (at int64, n uint32, err error) {
	field, err := f.field(table, number, 4)
	if err != nil || field == 0 {
		return 0, 0, err
	}
	vector, err := f.follow(field)
	if err != nil {
		return 0, 0, err
	}
	n, err = f.u32(vector)
	return vector + 4, n, err
}

// number gives an unsigned number of n bytes, 0 if the field is not there.
func (f flat) number(table int64, number, n int) (uint64, error) {
	at, err := f.field(table, number, n)
	if err != nil || at == 0 {
		return 0, err
	}
	b, err := f.bytes(at, n)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[:], b)
	return binary.LittleEndian.Uint64(wide[:]), nil
}

// isFlat tells whether the file begins like a log: the format has no magic number.
func isFlat(w *window) bool {
	if w.size < 16 || w.size > 1<<31 {
		return false // larger than offsets reach
	}
	f := flat{w.bytes}
	root, err := f.follow(0)
	if err != nil || root < 4 || root%4 != 0 {
		return false
	}
	at, n, err := f.vector(root, logBuffer)
	return err == nil && at+4*int64(n) <= w.size && (at != 0 || w.size < 64)
}

func (l *Log) openFlat(w *window) error {
	l.info.Format = Flat
	l.read = (*Log).readFlat
	f := flat{w.bytes}
	root, err := f.follow(0)
	if err != nil {
		return err
	}
	at, n, err := f.vector(root, logBuffer)
	if err != nil {
		return err
	}
	if int64(n) > w.size/flatLeast {
		return badf(at, "%d packets in a file of %d bytes", n, w.size)
	}
	for i := range int64(n) {
		table, err := f.follow(at + 4*i)
		if err != nil {
			return err
		}
		code, err := f.code(table)
		if err != nil {
			return err
		}
		if err := l.add(table, code); err != nil {
			return err
		}
	}
	return nil
}

// code is that in the packet itself; the one in the table is only a copy of it,
// but all there is for a packet that is too short.
func (f flat) code(table int64) (uint16, error) {
	data, size, err := f.vector(table, packetData)
	if err != nil {
		return 0, err
	}
	if size >= packetHeader {
		return f.u16(data + 2)
	}
	n, err := f.number(table, packetCode, 2)
	return uint16(n), err
}

func (l *Log) readFlat(i int, buf []byte) (p Packet, err error) {
	var small [256]byte
	f := flat{func(off int64, n int) ([]byte, error) {
		if n > len(small) {
			return nil, badf(off, "%d bytes: want fewer", n)
		}
		return small[:n], l.readAt(small[:n], off)
	}}
	table := l.at(i)
	data, size, err := f.vector(table, packetData)
	if err != nil {
		return p, err
	}
	if size > maxPacket {
		return p, badf(data, "a packet of %d bytes: want at most %d", size, maxPacket)
	}
	if p.Name, err = f.text(table, packetName); err != nil {
		return p, err
	}
	version, err := f.number(table, packetVersion, 2)
	if err != nil {
		return p, err
	}
	fake, err := f.number(table, packetFake, 1)
	if err != nil {
		return p, err
	}
	millis, err := f.number(table, packetTimestamp, 8)
	if err != nil {
		return p, err
	}
	p.Version, p.Fake, p.From = int(version), fake != 0, byName(p.Name)
	p.Time = fromMillis(int64(millis))
	p.Data = room(buf, int(size))
	return p, l.readAt(p.Data, data)
}

func (f flat) text(table int64, number int) (string, error) {
	at, n, err := f.vector(table, number)
	if err != nil || n == 0 {
		return "", err
	}
	if n > maxFlatName {
		return "", badf(at, "a name of %d bytes: want at most %d", n, maxFlatName)
	}
	b, err := f.bytes(at, int(n))
	if err != nil {
		return "", err
	}
	return string(b), nil
}

// byName guesses who sends packets of a name.
func byName(name string) Direction {
	prefix, _, _ := strings.Cut(name, "_")
	switch prefix {
	case "C", "CU":
		return FromClient
	case "S", "SU":
		return FromServer
	}
	return Unknown
}
