package write

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"lorefs/datacenter/internal/form"
)

// imageWriter writes the inflated data of a Store.
type imageWriter struct {
	b     *Store
	names stringStore
	to    imageTarget
	buf   []byte // scratch
	err   error
}

// imageTarget takes the data that is written.
type imageTarget interface {
	io.Writer
	// segments writes the segments of a region, table the buckets and addresses of a string table.
	segments(s *segmentStore) error
	table(t writtenTable) error
}

func (i *imageWriter) write(ctx context.Context, w io.Writer) error {
	i.b.deflate.useAll()
	size := i.size()
	s, err := newSealer(ctx, w, i.b.deflate, i.b.Opts, size)
	if err != nil {
		return err
	}
	i.to = s
	// The table of values is made while the regions before it are written.
	tables := make(chan writtenTable, 2)
	go func() {
		defer close(tables)
		for _, s := range i.tables() {
			tables <- s.writtenTable()
		}
	}()
	for _, s := range i.stores() {
		s.finish()
	}
	i.regions(tables)
	for range tables {
	}
	if i.err == nil {
		i.err = s.close()
	}
	if i.err == nil && s.size != size {
		i.err = fmt.Errorf("BUG: %d bytes instead of %d", s.size, size)
	}
	return i.err
}

// stores returns the segmented regions in the order of the file.
func (i *imageWriter) stores() [4]*segmentStore {
	b := i.b
	return [...]*segmentStore{&b.Attributes.segmentStore, &b.nodes.segmentStore, &b.Values.segmentStore, &i.names.segmentStore}
}

// tables returns the string tables in the order of the file.
func (i *imageWriter) tables() [2]*stringStore { return [...]*stringStore{&i.b.Values, &i.names} }

// size returns the number of bytes that regions writes.
func (i *imageWriter) size() int64 {
	l := i.b.Opts.Layout
	n := l.HeaderSize() + 4 + int64(len(i.b.keys))*form.KeySize
	sizes := [...]int64{l.AttributeSize(), l.NodeSize(), form.CharSize, form.CharSize}
	for j, s := range i.stores() {
		n += 4 + s.written(sizes[j])
	}
	for _, s := range i.tables() {
		n += int64(s.buckets)*4 + 4 + int64(len(s.Entries))*(form.StringSize+form.AddressSize)
	}
	return n + form.FooterSize
}

func (i *imageWriter) regions(tables <-chan writtenTable) {
	b := i.b
	i.put(b.Opts.Header.Append(nil, b.Opts.Layout))
	i.u32(len(b.keys))
	for _, k := range b.keys {
		i.put(k.Append(i.buf[:0]))
	}
	i.segments(&b.Attributes.segmentStore)
	i.segments(&b.nodes.segmentStore)
	for _, s := range i.tables() {
		i.segments(&s.segmentStore)
		if t := <-tables; i.err == nil {
			i.err = i.to.table(t)
		}
	}
	i.u32(0) // the footer's marker
}

func (i *imageWriter) put(b []byte) {
	if i.err == nil {
		_, i.err = i.to.Write(b)
	}
}

func (i *imageWriter) u32(v int) {
	i.put(binary.LittleEndian.AppendUint32(i.buf[:0], uint32(v)))
}

func (i *imageWriter) segments(s *segmentStore) {
	i.u32(len(s.segments))
	if i.err == nil {
		i.err = i.to.segments(s)
	}
}
