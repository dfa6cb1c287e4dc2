package dctest

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/hash"
)

// Counts of buckets in the two string tables.
const (
	ValueBuckets = 1024
	NameBuckets  = 512
)

// Image is an inflated data center, and the place of everything in it. A test may edit Data
// in place. All offsets are into Data.
type Image struct {
	Layout datacenter.Layout
	Data   []byte

	// Keys is the offset of the count of key definitions.
	Keys       int64
	Attributes Region
	Nodes      Region
	Values     Table
	Names      Table
	Footer     int64
}

// Region is a segmented region.
type Region struct {
	// Offset is the offset of the count of segments.
	Offset   int64
	Segments []Segment
	// Size is the size of an element in bytes.
	Size int64
}

// Segment is a segment of a region.
type Segment struct {
	// Offset is the offset of full_count; used_count is 4 bytes on.
	Offset int64
	// Elements is the offset of the first element.
	Elements   int64
	Full, Used int
}

// Table is a string table.
type Table struct {
	// Data is the region of characters.
	Data    Region
	Buckets []Bucket
	// Addresses is the offset of the count, which is larger by one than the number of
	// addresses behind it.
	Addresses int64
	// Count is the number of strings.
	Count int
}

// Bucket is a segment of a string table's table.
type Bucket struct {
	// Offset is the offset of the count.
	Offset int64
	// Entries is the offset of the first entry.
	Entries int64
	Count   int
}

// Sizes of the structures that are the same in all layouts, and the offsets of fields in
// them and in nodes and attributes.
const (
	KeySize     = 8
	EntrySize   = 16
	AddressSize = 4

	EntryHash    = 0
	EntryLength  = 4
	EntryIndex   = 8
	EntryAddress = 12

	NodeName             = 0
	NodeKey              = 2
	NodeAttributeCount   = 4
	NodeChildCount       = 6
	NodeAttributeAddress = 8

	AttributeName  = 0
	AttributeType  = 2
	AttributeValue = 4
)

// imageWriter appends the parts of an image to its data.
type imageWriter struct {
	Image
	o     Options
	noise *rand.Rand
}

// NewImage lays out a data center.
func NewImage(d Doc, o Options) *Image {
	b := newBuilder(d, o)
	w := &imageWriter{Image: Image{Layout: d.layout()}, o: o, noise: rand.New(rand.NewPCG(o.Garbage, 1))}
	values := b.values.place(o)
	w.header(d)
	w.keys(b.keys)
	w.attributes(b.attrs.segments, values.addresses)
	w.nodes(b.nodes.segments)
	w.Values = w.table(b.values, values, ValueBuckets)
	w.Names = w.table(b.names, b.names.place(o), NameBuckets)
	w.Footer = w.offset()
	w.u32(0)
	return &w.Image
}

func (w *imageWriter) offset() int64 { return int64(len(w.Data)) }
func (w *imageWriter) u16(v uint16)  { w.Data = binary.LittleEndian.AppendUint16(w.Data, v) }
func (w *imageWriter) u32(v uint32)  { w.Data = binary.LittleEndian.AppendUint32(w.Data, v) }

func (w *imageWriter) address(a datacenter.Address) { w.Data = appendAddress(w.Data, a) }

// reference appends an address of n elements. It is undefined if n is 0.
func (w *imageWriter) reference(a datacenter.Address, n uint16) {
	if n == 0 && w.o.Garbage != 0 {
		w.u32(w.noise.Uint32())
		return
	}
	w.address(a)
}

// undefined appends n bytes that have no meaning.
func (w *imageWriter) undefined(n int64) {
	for range n {
		var v uint32
		if w.o.Garbage != 0 {
			v = w.noise.Uint32()
		}
		w.Data = append(w.Data, byte(v))
	}
}

// padding appends the word that follows an address or a value in 64-bit layouts.
func (w *imageWriter) padding() {
	if w.Layout == datacenter.LayoutV6X64 {
		w.undefined(4)
	}
}

func (w *imageWriter) header(d Doc) {
	w.u32(w.Layout.Version())
	timestamp := cmp.Or(d.Timestamp, -1)
	w.Data = binary.LittleEndian.AppendUint64(w.Data, math.Float64bits(timestamp))
	if w.Layout != datacenter.LayoutV3 {
		w.u32(d.Revision)
	}
	for range 4 {
		w.u32(0)
	}
}

func (w *imageWriter) keys(keys [][4]uint16) {
	w.Keys = w.offset()
	w.u32(uint32(len(keys)))
	for _, key := range keys {
		for _, name := range key {
			w.u16(name)
		}
	}
}

func (w *imageWriter) attributes(segments [][]attr, values []datacenter.Address) {
	w.Attributes = region(w, w.Layout.AttributeSize(), w.o.FullCount, segments, func(a attr) {
		w.u16(a.name)
		w.u16(a.code)
		if a.text {
			w.address(values[a.value])
		} else {
			w.u32(a.value)
		}
		w.padding()
	})
}

func (w *imageWriter) nodes(segments [][]node) {
	w.Nodes = region(w, w.Layout.NodeSize(), w.o.FullCount, segments, func(n node) {
		w.u16(n.name)
		if n.name == 0 {
			for range (w.Layout.NodeSize() - 2) / 2 {
				w.u16(uint16(w.noise.Uint32()))
			}
			return
		}
		w.u16(n.key)
		w.u16(n.attrCount)
		w.u16(n.children)
		w.reference(n.attrAddr, n.attrCount)
		w.padding()
		w.reference(n.childAddr, n.children)
		w.padding()
	})
}

// region appends segments of elements of the given size, with slack up to a full count.
func region[T any](w *imageWriter, size int64, full int, segments [][]T, element func(T)) Region {
	r := Region{Offset: w.offset(), Size: size}
	w.u32(uint32(len(segments)))
	for _, elements := range segments {
		s := Segment{Offset: w.offset(), Full: max(full, len(elements)), Used: len(elements)}
		w.u32(uint32(s.Full))
		w.u32(uint32(s.Used))
		s.Elements = w.offset()
		w.Data = slices.Grow(w.Data, s.Full*int(size))
		for _, e := range elements {
			element(e)
		}
		w.undefined(int64(s.Full-s.Used) * size)
		r.Segments = append(r.Segments, s)
	}
	return r
}

// entry is a DataCenterString.
type entry struct {
	hash, length, index uint32
	address             datacenter.Address
}

func (w *imageWriter) table(t *stringTable, p placedStrings, buckets int) Table {
	full := w.o.FullCount
	if w.o.OmitNUL {
		full = 0
	}
	out := Table{Count: len(p.addresses)}
	out.Data = region(w, 2, full, p.segments, w.u16)
	for _, entries := range sortBuckets(t, p, buckets) {
		b := Bucket{Offset: w.offset(), Count: len(entries)}
		w.u32(uint32(len(entries)))
		b.Entries = w.offset()
		for _, e := range entries {
			w.u32(e.hash)
			w.u32(e.length)
			w.u32(e.index)
			w.address(e.address)
		}
		out.Buckets = append(out.Buckets, b)
	}
	out.Addresses = w.offset()
	w.u32(uint32(len(p.addresses) + 1))
	for _, a := range p.addresses {
		w.address(a)
	}
	return out
}

func sortBuckets(t *stringTable, p placedStrings, count int) [][]entry {
	buckets := make([][]entry, count)
	for i, units := range t.units {
		hash := hash.String(units)
		at := BucketOf(hash, count)
		buckets[at] = append(buckets[at], entry{
			hash: hash, length: uint32(len(units) + 1), index: uint32(i + 1), address: p.addresses[i],
		})
	}
	for _, entries := range buckets {
		slices.SortStableFunc(entries, func(x, y entry) int { return cmp.Compare(x.hash, y.hash) })
	}
	return buckets
}

// BucketOf returns the bucket of a hash among count.
func BucketOf(hash uint32, count int) int { return int((hash ^ hash>>16) % uint32(count)) }
