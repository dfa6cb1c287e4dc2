package datacenter_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/aes"
	"io"
	"os"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/cfb"
	"lorefs/nodes/blockcache"
)

// benchData returns the large fixture if it exists, otherwise a generated file.
func benchData(b *testing.B) []byte {
	data, err := os.ReadFile("../../shared/fixtures/datacenter/p100_x64.dat")
	if err == nil {
		return data
	}
	b.Logf("a generated file stands in for the fixture: %v", err)
	return dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 1, Sheets: 1200, Nodes: 600_000}), dctest.Options{})
}

// BenchmarkOpen compares the first and the second Open with the cost of decrypting and
// inflating with the standard library.
func BenchmarkOpen(b *testing.B) {
	data := benchData(b)
	ctx := context.Background()
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			if err := inflateOnly(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	opts := func(store datacenter.IndexStore) datacenter.Options {
		return datacenter.Options{Blocks: blockcache.New(256 << 20).View(), Index: store}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if _, err := datacenter.Open(ctx, bytes.NewReader(data), int64(len(data)), opts(nil)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("second", func(b *testing.B) {
		store := dctest.Index{}
		for b.Loop() { // the first round fills the store, so it is not a second Open
			if len(store) == 0 {
				b.StopTimer()
			}
			if _, err := datacenter.Open(ctx, bytes.NewReader(data), int64(len(data)), opts(store)); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
}

func inflateOnly(data []byte) error {
	key := datacenter.DefaultKeys()[0]
	block, err := aes.NewCipher(key.Key[:])
	if err != nil {
		return err
	}
	plain := io.NewSectionReader(cfb.NewReader(bytes.NewReader(data), block, key.IV), 4, int64(len(data)))
	z, err := zlib.NewReader(plain)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, z)
	return err
}

// BenchmarkWalk reads every name and the length of every value of a tenth of the sheets,
// with a cache for all blocks and with one for an eighth of them.
func BenchmarkWalk(b *testing.B) {
	data := benchData(b)
	for _, bb := range []struct {
		name   string
		budget int64
	}{{"256MiB", 256 << 20}, {"32MiB", 32 << 20}} {
		b.Run(bb.name, func(b *testing.B) {
			f, err := datacenter.Open(context.Background(), bytes.NewReader(data), int64(len(data)),
				datacenter.Options{Blocks: blockcache.New(bb.budget).View()})
			if err != nil {
				b.Fatal(err)
			}
			root, err := f.Root()
			if err != nil {
				b.Fatal(err)
			}
			entries := 0
			for b.Loop() {
				entries += touchTenth(b, root)
			}
			b.ReportMetric(float64(entries)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// BenchmarkRepack writes the whole file anew, with a cache for all blocks and with one for
// a tenth of them.
func BenchmarkRepack(b *testing.B) {
	data := benchData(b)
	for _, bb := range []struct {
		name   string
		budget int64
	}{{"256MiB", 256 << 20}, {"32MiB", 32 << 20}} {
		b.Run(bb.name, func(b *testing.B) {
			f, err := datacenter.Open(context.Background(), bytes.NewReader(data), int64(len(data)),
				datacenter.Options{Blocks: blockcache.New(bb.budget).View()})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(f.Size())
			for b.Loop() {
				n := &lengthWriter{}
				if err := writeAnew(context.Background(), f, n, datacenter.WriteOptions{}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(n.written)/float64(len(data)), "size/before")
			}
		})
	}
}

type lengthWriter struct{ written int }

func (w *lengthWriter) Write(p []byte) (int, error) {
	w.written += len(p)
	return len(p), nil
}

func touchTenth(b *testing.B, root datacenter.Node) (entries int) {
	buf := make([]byte, 0, 1<<16)
	i := 0
	for sheet, err := range root.Children() {
		if err != nil {
			b.Fatal(err)
		}
		if i++; i%10 != 0 {
			continue
		}
		if err := touch(sheet, buf); err != nil {
			b.Fatal(err)
		}
		entries += int(sheet.Entries())
	}
	return entries
}
