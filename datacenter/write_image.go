package datacenter

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// imageWriter writes the inflated data of a Builder.
type imageWriter struct {
	b     *Builder
	names stringStore
	s     *sealer
	buf   []byte // scratch
	err   error
}

func (i *imageWriter) write(ctx context.Context, w io.Writer) error {
	// The tables are not needed any more, and writing needs memory of its own.
	i.b.attributes.found, i.b.nodes.found, i.b.values.found = table{}, table{}, table{}
	size := i.size()
	if i.s, i.err = newSealer(ctx, w, i.b.deflate, i.b.opts, size); i.err != nil {
		return i.err
	}
	for _, s := range i.stores() {
		s.finish()
	}
	i.regions()
	if i.err == nil {
		i.err = i.s.close()
	}
	if i.err == nil && i.s.size != size {
		i.err = fmt.Errorf("BUG: %d bytes instead of %d", i.s.size, size)
	}
	return i.err
}

// stores returns the segmented regions in the order of the file.
func (i *imageWriter) stores() [4]*segmentStore {
	b := i.b
	return [...]*segmentStore{&b.attributes.segmentStore, &b.nodes.segmentStore, &b.values.segmentStore, &i.names.segmentStore}
}

// size returns the number of bytes that regions writes.
func (i *imageWriter) size() int64 {
	l := i.b.opts.Layout
	n := l.HeaderSize() + 4 + int64(len(i.b.keys))*keySize
	sizes := [...]int64{l.AttributeSize(), l.NodeSize(), charSize, charSize}
	for j, s := range i.stores() {
		n += 4 + s.written(sizes[j])
	}
	for _, s := range []*stringStore{&i.b.values, &i.names} {
		n += int64(s.buckets)*4 + 4 + int64(len(s.entries))*(stringSize+addressSize)
	}
	return n + footerSize
}

func (i *imageWriter) regions() {
	b := i.b
	i.put(b.opts.Header.append(nil, b.opts.Layout))
	i.u32(len(b.keys))
	for _, k := range b.keys {
		i.put(k.append(i.buf[:0]))
	}
	i.segments(&b.attributes.segmentStore)
	i.segments(&b.nodes.segmentStore)
	for _, s := range []*stringStore{&b.values, &i.names} {
		i.segments(&s.segmentStore)
		i.table(s)
	}
	i.u32(0) // the footer's marker
}

func (i *imageWriter) put(b []byte) {
	if i.err == nil {
		_, i.err = i.s.Write(b)
	}
}

func (i *imageWriter) u32(v int) {
	i.put(binary.LittleEndian.AppendUint32(i.buf[:0], uint32(v)))
}

func (i *imageWriter) segments(s *segmentStore) {
	i.u32(len(s.segments))
	for _, b := range s.blocks {
		if i.err == nil {
			i.err = i.s.block(b)
		}
	}
}

// table writes the buckets and the addresses of a string table.
func (i *imageWriter) table(s *stringStore) {
	s.prepareTable()
	i.put(s.table)
	s.table = nil
}
