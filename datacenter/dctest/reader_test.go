package dctest_test

import (
	"bytes"
	"compress/zlib"
	"crypto/aes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/internal/hash"
)

// reader reads a data center from the first byte to the last, as the documents describe it.
// It shares nothing with the builder, and panics on any surprise.
type reader struct {
	data   []byte
	at     int
	layout datacenter.Layout

	version   uint32
	timestamp float64
	revision  uint32
	keys      [][4]uint16
	attrs     segments
	nodes     segments
	values    table
	names     table
}

// segments are the used elements of a region, and the bytes of each.
type segments struct {
	size int
	used [][]byte
	full []int
}

type table struct {
	data      segments
	entries   []entry
	buckets   []int
	addresses []uint32
	byAddress map[uint32]entry
}

type entry struct {
	hash, length, index, address uint32
	bucket                       int
}

func (s segments) at(address uint32, n int) []byte {
	segment, element := int(address&0xffff), int(address>>16)
	return s.used[segment][element*s.size : (element+n)*s.size]
}

func (s segments) count() (n int) {
	for _, used := range s.used {
		n += len(used) / s.size
	}
	return n
}

func decrypt(t testing.TB, file []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher([]byte("\x33\x47\xa1\x74\xf9\x04\x0d\x47\x68\xa0\xb0\x55\x58\xdc\x86\x6b"))
	if err != nil {
		t.Fatal(err)
	}
	feedback := []byte("\xe4\x90\x56\x28\x21\xaf\x3e\x11\x76\xc9\x8d\x3c\xb9\xec\x46\x01")
	var plain []byte
	for part := range slices.Chunk(file, 16) {
		block.Encrypt(feedback, feedback)
		for i, c := range part {
			plain = append(plain, c^feedback[i])
		}
		copy(feedback, part)
	}
	return plain
}

// unseal decrypts and inflates a file.
func unseal(t testing.TB, file []byte) []byte {
	t.Helper()
	plain := decrypt(t, file)
	rest := bytes.NewReader(plain[4:])
	z, err := zlib.NewReader(rest)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if stated := binary.LittleEndian.Uint32(plain); int(stated) != len(data) {
		t.Fatalf("stated size %d, inflated %d", stated, len(data))
	}
	if rest.Len() > 0 {
		t.Fatalf("%d bytes follow the stream", rest.Len())
	}
	return data
}

func read(data []byte, layout datacenter.Layout) *reader {
	r := &reader{data: data, layout: layout}
	nodeSize, attrSize := 16, 8
	if layout == datacenter.LayoutV6X64 {
		nodeSize, attrSize = 24, 12
	}
	if r.version = r.u32(); r.version != layout.Version() {
		panic("version")
	}
	r.timestamp = math.Float64frombits(binary.LittleEndian.Uint64(r.take(8)))
	if layout != datacenter.LayoutV3 {
		r.revision = r.u32()
	}
	if !bytes.Equal(r.take(16), make([]byte, 16)) {
		panic("unknown header fields are set")
	}
	for range r.u32() {
		b := r.take(8)
		r.keys = append(r.keys, [4]uint16{u16(b), u16(b[2:]), u16(b[4:]), u16(b[6:])})
	}
	r.attrs = r.segments(attrSize)
	r.nodes = r.segments(nodeSize)
	r.values = r.table(1024)
	r.names = r.table(512)
	if r.u32() != 0 || r.at != len(data) {
		panic("footer")
	}
	return r
}

func (r *reader) take(n int) []byte {
	r.at += n
	return r.data[r.at-n : r.at : r.at]
}

func u16(b []byte) uint16       { return binary.LittleEndian.Uint16(b) }
func u32(b []byte) uint32       { return binary.LittleEndian.Uint32(b) }
func (r *reader) u32() uint32   { return u32(r.take(4)) }
func bucket(hash uint32) uint32 { return hash ^ hash>>16 }

func (r *reader) segments(size int) segments {
	s := segments{size: size}
	for range r.u32() {
		full, used := int(r.u32()), int(r.u32())
		s.used = append(s.used, r.take(full * size)[:used*size:used*size])
		s.full = append(s.full, full)
	}
	return s
}

func (r *reader) table(buckets int) table {
	t := table{data: r.segments(2), byAddress: map[uint32]entry{}}
	for i := range buckets {
		n := int(r.u32())
		t.buckets = append(t.buckets, n)
		for range n {
			b := r.take(16)
			e := entry{hash: u32(b), length: u32(b[4:]), index: u32(b[8:]), address: u32(b[12:]), bucket: i}
			t.entries = append(t.entries, e)
			t.byAddress[e.address] = e
		}
	}
	for range r.u32() - 1 {
		t.addresses = append(t.addresses, r.u32())
	}
	return t
}

// text returns the string of an entry, and whether it has its NUL.
func (t *table) text(e entry) ([]uint16, bool) {
	b := t.data.at(e.address, int(e.length)-1)
	units := make([]uint16, e.length-1)
	for i := range units {
		units[i] = u16(b[2*i:])
	}
	segment := t.data.used[e.address&0xffff]
	end := 2 * (int(e.address>>16) + len(units))
	return units, end < len(segment) && u16(segment[end:]) == 0
}

func (t *table) string(address uint32) string {
	units, _ := t.text(t.byAddress[address])
	return dctest.Text8(units)
}

func (r *reader) name(index uint16) string { return r.names.string(r.names.addresses[index-1]) }

func (r *reader) keyNames(index uint16) (names []string) {
	for _, name := range r.keys[index] {
		if name != 0 {
			names = append(names, r.name(name))
		}
	}
	return names
}

// stored is a node as in a file.
type stored struct {
	b      []byte
	layout datacenter.Layout
}

func (r *reader) node(address uint32, i int) stored {
	return stored{r.nodes.at(address, i+1)[i*r.nodes.size:], r.layout}
}

func (n stored) name() uint16    { return u16(n.b) }
func (n stored) flags() uint16   { return u16(n.b[2:]) & 15 }
func (n stored) key() uint16     { return u16(n.b[2:]) >> 4 }
func (n stored) attrs() int      { return int(u16(n.b[4:])) }
func (n stored) children() int   { return int(u16(n.b[6:])) }
func (n stored) attrsAt() uint32 { return u32(n.b[8:]) }
func (n stored) childAddr() uint32 {
	if n.layout == datacenter.LayoutV6X64 {
		return u32(n.b[16:])
	}
	return u32(n.b[12:])
}

// tree appends what a reader finds at a node and below it, a line for each node, in the
// form of dump.
func (r *reader) tree(n stored, depth int, lines *[]string) {
	line := fmt.Sprintf("%*s%q %d %q", depth, "", r.name(n.name()), n.flags(), r.keyNames(n.key()))
	for i := range n.attrs() {
		line += " " + r.attr(r.attrs.at(n.attrsAt(), i+1)[i*r.attrs.size:])
	}
	*lines = append(*lines, line)
	for i := range n.children() {
		if c := r.node(n.childAddr(), i); c.name() != 0 {
			r.tree(c, depth+1, lines)
		}
	}
}

func (r *reader) attr(b []byte) string {
	name, code, value := r.name(u16(b)), u16(b[2:]), u32(b[4:])
	switch {
	case code == 1:
		return fmt.Sprintf("%q=int:%d", name, int32(value))
	case code == 1|1<<2:
		return fmt.Sprintf("%q=bool:%d", name, value)
	case code == 2:
		return fmt.Sprintf("%q=float:%08x", name, value)
	case code&3 == 3:
		units, _ := r.values.text(r.values.byAddress[value])
		if hash.Value(units) != code>>2 {
			panic("value hash")
		}
		return fmt.Sprintf("%q=string:%x", name, units)
	}
	panic(fmt.Sprintf("type code %04x", code))
}
