package splice_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"hash"
	"os"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/internal/streamedit"
	"lorefs/datacenter/splice"
	"lorefs/nodes/blockcache"
)

// benchData returns the large fixture if it exists, otherwise a generated file.
func benchData(b *testing.B) []byte {
	data, err := os.ReadFile("../../../shared/fixtures/datacenter/p100_x64.dat")
	if err == nil {
		return data
	}
	b.Logf("a generated file stands in for the fixture: %v", err)
	return dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 1, Sheets: 1200, Nodes: 600_000}), dctest.Options{})
}

// BenchmarkSplice splices edits that keep the length or change it, and checks what was written.
func BenchmarkSplice(b *testing.B) {
	data := benchData(b)
	f, err := datacenter.Open(context.Background(), bytes.NewReader(data), int64(len(data)),
		datacenter.Options{Blocks: blockcache.New(256 << 20).View()})
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct {
		name          string
		bytes, places int
	}{{"bytes", 4, 1}, {"length", 5, 1}, {"many", 4, 400}} {
		place := int64(1)
		out := &writtenFile{data: make([]byte, 0, len(data)+len(data)/10)}
		var s splice.SplicedData
		splices := func(b *testing.B) {
			place = place * 31 % 97
			out.data = out.data[:0]
			out.sum = sha256.New()
			var edits []streamedit.Edit
			for i := range int64(bb.places) {
				off := f.Size() * (i*97 + place) / int64(97*bb.places)
				edits = append(edits, streamedit.Edit{Off: off, Len: 4, New: []byte{1, 200, 3, 4, 5}[:bb.bytes]})
			}
			if s, err = splice.SpliceData(context.Background(), f, out, edits); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				splices(b)
			}
		})
		b.Run(bb.name+"/check", func(b *testing.B) {
			for b.Loop() {
				if err := s.Check(context.Background(), bytes.NewReader(out.data), [32]byte(out.sum.Sum(nil))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// writtenFile is a file in memory, with its hash.
type writtenFile struct {
	data []byte
	sum  hash.Hash
}

func (w *writtenFile) Write(p []byte) (int, error) {
	w.sum.Write(p)
	w.data = append(w.data, p...)
	return len(p), nil
}
