package capture

import (
	"encoding/binary"
	"errors"
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

// flatLeast is the least size of a packet: its offset in the vector, a table with the
// offset of its data, and the data with its length.
const flatLeast = 4 + 8 + 8

// flatShared is how many bytes of packets there may be for each byte of the file. Tables
// may share bytes, though no logger does that; but a file of 1 MB whose packets all share
// 64 kB would hold 3 GB of packets.
const flatShared = 4

// flat reads tables of FlatBuffers by a function whose bytes are valid until the next call.
// Every offset is checked when it is followed. Tables may share bytes.
type flat struct {
	bytes func(off int64, n int) ([]byte, error)
	// last is the vtable that was read last. Mostly all packets share one.
	last vtable
	// left is how many bytes the packets may still have.
	left int64
}

// vtable says where the fields of a table are.
type vtable struct {
	at     int64
	size   int                         // of the table; 0 if there is no vtable
	fields [packetTimestamp + 1]uint16 // offsets in the table, 0 for missing fields
}

type flatTable struct {
	*flat
	at int64
	vtable
}

func (f *flat) u16(off int64) (uint16, error) {
	b, err := f.bytes(off, 2)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint16(b), nil
}

func (f *flat) u32(off int64) (uint32, error) {
	b, err := f.bytes(off, 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// follow returns where the offset at off leads.
func (f *flat) follow(off int64) (int64, error) {
	n, err := f.u32(off)
	return off + int64(n), err
}

// table opens the table at off.
func (f *flat) table(off int64) (t flatTable, err error) {
	rel, err := f.u32(off)
	if err != nil {
		return t, err
	}
	if at := off - int64(int32(rel)); at != f.last.at || f.last.size == 0 {
		if f.last, err = f.vtable(at); err != nil {
			return t, err
		}
	}
	return flatTable{f, off, f.last}, nil
}

func (f *flat) vtable(off int64) (v vtable, err error) {
	head, err := f.bytes(off, 4)
	if err != nil {
		return v, err
	}
	vsize, size := int(binary.LittleEndian.Uint16(head)), int(binary.LittleEndian.Uint16(head[2:]))
	if vsize < 4 || vsize%2 != 0 || size < 4 {
		return v, badf(off, "a vtable of %d bytes for a table of %d", vsize, size)
	}
	b, err := f.bytes(off+4, min(vsize-4, 2*len(v.fields)))
	if err != nil {
		return v, err
	}
	for i := range len(b) / 2 {
		v.fields[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	v.at, v.size = off, size
	return v, nil
}

// field returns the place of a field of n bytes, or 0 if the table does not have it.
func (t *flatTable) field(number, n int) (int64, error) {
	at := int(t.fields[number])
	if at == 0 {
		return 0, nil
	}
	if at < 4 || at+n > t.size {
		return 0, badf(t.vtable.at, "field %d at %d in a table of %d bytes", number, at, t.size)
	}
	return t.at + int64(at), nil
}

// vector returns the place of the elements of the vector in a field, and their size in
// bytes. Both are 0 if the field is missing.
func (t *flatTable) vector(number int) (at int64, n uint32, err error) {
	field, err := t.field(number, 4)
	if err != nil || field == 0 {
		return 0, 0, err
	}
	vector, err := t.follow(field)
	if err != nil {
		return 0, 0, err
	}
	n, err = t.u32(vector)
	return vector + 4, n, err
}

// number returns an unsigned number of n bytes, or 0 if the field is missing.
func (t *flatTable) number(number, n int) (uint64, error) {
	at, err := t.field(number, n)
	if err != nil || at == 0 {
		return 0, err
	}
	b, err := t.bytes(at, n)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[:], b)
	return binary.LittleEndian.Uint64(wide[:]), nil
}

// isFlat reports whether the file begins like a log. The format has no magic number.
func isFlat(w *window) bool {
	if w.size < 16 || w.size > 1<<31 {
		return false // more than offsets reach
	}
	f := flat{bytes: w.bytes}
	at, n, err := f.packets()
	return err == nil && at+4*int64(n) <= w.size && (at != 0 || w.size < 64)
}

// packets returns the place of the offsets of the packets, and their number.
func (f *flat) packets() (at int64, n uint32, err error) {
	root, err := f.follow(0)
	if err != nil {
		return 0, 0, err
	}
	if root < 4 || root%4 != 0 {
		return 0, 0, badf(0, "the root table is at %d", root)
	}
	t, err := f.table(root)
	if err != nil {
		return 0, 0, err
	}
	return t.vector(logBuffer)
}

func (l *Log) openFlat(w *window) error {
	l.info.Format = Flat
	l.read = (*Log).readFlat
	f := flat{bytes: w.bytes}
	at, n, err := f.packets()
	if err != nil {
		return err
	}
	if int64(n) > w.size/flatLeast {
		return badf(at, "%d packets in a file of %d bytes", n, w.size)
	}
	// Read many offsets at once, or the window would move between them and the packets.
	f.left = flatShared * w.size
	var batch [4 * 1024]byte
	for end := at + 4*int64(n); at < end; {
		b, err := w.bytes(at, int(min(end-at, int64(len(batch)))))
		if err != nil {
			return err
		}
		if err := l.addFlat(&f, at, batch[:copy(batch[:], b)]); err != nil {
			return err
		}
		at += int64(len(b))
	}
	return nil
}

// addFlat adds the packets whose offsets lie at off to the index.
func (l *Log) addFlat(f *flat, off int64, offsets []byte) error {
	for i := 0; i < len(offsets); i += 4 {
		table := off + int64(i) + int64(binary.LittleEndian.Uint32(offsets[i:]))
		code, err := f.code(table)
		if err != nil {
			return err
		}
		if err := l.add(table, code); err != nil {
			return err
		}
		if err := l.noteFlat(f, table, code); err != nil {
			return err
		}
	}
	return nil
}

// noteFlat keeps the name of the packet whose table lies at off, if its code has none yet.
// A bad name is reported when the packet is read.
func (l *Log) noteFlat(f *flat, off int64, code uint16) error {
	if _, known := l.labels[code]; known {
		return nil
	}
	t, err := f.table(off)
	if err != nil {
		return err
	}
	var p Packet
	err = t.label(&p)
	if _, damage := errors.AsType[*FormatError](err); damage {
		return nil
	}
	l.note(code, &p)
	return err
}

// code returns the code in the packet itself. If the packet is too short for one it returns
// the copy in the table.
func (f *flat) code(off int64) (uint16, error) {
	t, err := f.table(off)
	if err != nil {
		return 0, err
	}
	data, size, err := t.vector(packetData)
	if err != nil {
		return 0, err
	}
	// A longer packet is damaged, which is reported when it is read.
	if size <= maxPacket {
		f.left -= int64(size)
	}
	if f.left < 0 {
		return 0, badf(off, "the packets up to here share bytes, and have more than %d for each one of the file", flatShared)
	}
	if size >= packetHeader {
		return f.u16(data + 2)
	}
	n, err := t.number(packetCode, 2)
	return uint16(n), err
}

func (l *Log) readFlat(i int, buf []byte) (p Packet, err error) {
	f := flat{bytes: l.parts()}
	t, err := f.table(l.at(i))
	if err != nil {
		return p, err
	}
	data, size, err := t.vector(packetData)
	if err != nil {
		return p, err
	}
	if size > maxPacket {
		return p, badf(data, "a packet of %d bytes: want at most %d", size, maxPacket)
	}
	if err := t.label(&p); err != nil {
		return p, err
	}
	p.Data = room(buf, int(size))
	if size > flatPart {
		return p, l.readAt(p.Data, data)
	}
	b, err := f.bytes(data, int(size))
	copy(p.Data, b)
	return p, err
}

// flatPart is how much of a file is read at once. The data of a packet lies behind its
// table, mostly not far.
const flatPart = 512

// parts returns a function that reads up to flatPart bytes of the file, mostly from memory.
func (l *Log) parts() func(off int64, n int) ([]byte, error) {
	var buf [flatPart]byte
	var part []byte
	var from int64 // of part
	return func(off int64, n int) ([]byte, error) {
		if off >= from && off-from <= int64(len(part)-n) {
			return part[off-from:][:n], nil
		}
		if n > len(buf) {
			return nil, badf(off, "%d bytes: want fewer", n)
		}
		from, part = off, buf[:max(int64(n), min(flatPart, l.size-off))]
		if err := l.readAt(part, off); err != nil {
			part = nil
			return nil, err
		}
		return part[:n], nil
	}
}

// label reads the name and version of a packet.
func (t *flatTable) label(p *Packet) error {
	name, err := t.text(packetName)
	if err != nil {
		return err
	}
	version, err := t.number(packetVersion, 2)
	if err != nil {
		return err
	}
	fake, err := t.number(packetFake, 1)
	if err != nil {
		return err
	}
	millis, err := t.number(packetTimestamp, 8)
	if err != nil {
		return err
	}
	p.Name, p.From = name, byName(name)
	p.Version, p.Fake = int(version), fake != 0
	p.Time = fromMillis(int64(millis))
	return nil
}

func (t *flatTable) text(number int) (string, error) {
	at, n, err := t.vector(number)
	if err != nil || n == 0 {
		return "", err
	}
	if n > maxFlatName {
		return "", badf(at, "a name of %d bytes: want at most %d", n, maxFlatName)
	}
	b, err := t.bytes(at, int(n))
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
