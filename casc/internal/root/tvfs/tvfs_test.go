package tvfs_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"lorefs/casc/casctest"
	"lorefs/casc/internal/root/tvfs"
	"lorefs/casc/root"
)

// tvfsOf makes a manifest whose names lead to places in the table of spans.
func tvfsOf(places []uint32, vfs, containers []byte) []byte {
	be := binary.BigEndian
	var path []byte
	for i, at := range places {
		path = append(path, 4)
		path = be.AppendUint32(path, uint32(i)|0x40404040)
		path = be.AppendUint32(append(path, 0xFF), at)
	}
	b := be.AppendUint32(append([]byte("TVFS"), 1, 38, 9, 9), 1)
	off := 38
	for _, table := range [][]byte{path, vfs, containers} {
		b = be.AppendUint32(be.AppendUint32(b, uint32(off)), uint32(len(table)))
		off += len(table)
	}
	return slices.Concat(be.AppendUint16(b, 1), path, vfs, containers)
}

// TestTVFSSpansShared has many names of one file of many spans, which must take little
// memory, and files whose spans overlap, of which a small table could have any number.
func TestTVFSSpansShared(t *testing.T) {
	containers := bytes.Repeat([]byte{0x7F}, 200)
	one := append([]byte{224}, bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 1, 0}, 224)...)
	r, err := tvfs.Parse(tvfsOf(make([]uint32, 10_000), one, containers), nil)
	if err != nil {
		t.Fatal(err)
	}
	before := casctest.Heap()
	var all []root.File
	for f, err := range r.Files() {
		if err != nil || len(f.Spans) != 224 || f.Size != 224 {
			t.Fatalf("%d spans of %d bytes, %v", len(f.Spans), f.Size, err)
		}
		all = append(all, f)
	}
	if more := casctest.Heap() - before; more > 8<<20 || len(all) != 10_000 {
		t.Errorf("%d files take %d bytes", len(all), more)
	}
	places := make([]uint32, 100)
	for i := range places {
		places[i] = uint32(i)
	}
	if r, err = tvfs.Parse(tvfsOf(places, bytes.Repeat([]byte{2}, 200), containers), nil); err != nil {
		t.Fatal(err)
	}
	odd := 0
	for f, err := range r.Files() {
		if err != nil {
			t.Fatal(err)
		}
		if f.Err != nil && strings.HasSuffix(f.Err.Error(), "spans that overlap those of other files") {
			odd++
		}
	}
	if odd < 80 {
		t.Errorf("%d of 100 files have spans that overlap", odd)
	}
}
