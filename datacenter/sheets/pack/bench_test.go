package pack_test

import (
	"io"
	iofs "io/fs"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/xmlsheet"
	"lorefs/datacenter/sheets/pack"
)

// BenchmarkPack packs real sheets; bytes are those of the XML.
func BenchmarkPack(b *testing.B) {
	for _, name := range []string{"p115_small_x64.dat", "p100_x64.dat"} {
		b.Run(name, func(b *testing.B) {
			fsys := exported(b, openFixture(b, name, datacenter.Options{}))
			b.SetBytes(sizeOf(b, fsys))
			for b.Loop() {
				if _, err := pack.Pack(b.Context(), fsys, io.Discard, pack.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// sizeOf returns the size of the sheets in a folder.
func sizeOf(b *testing.B, fsys iofs.FS) (size int64) {
	b.Helper()
	err := iofs.WalkDir(fsys, ".", func(name string, d iofs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".xml") {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return size
}

// BenchmarkParse parses a sheet of short elements, as most real ones are.
func BenchmarkParse(b *testing.B) {
	data := []byte("<S xmlns=\"https://vezel.dev/novadrop/dc/S\">\n" +
		strings.Repeat("    <Item id=\"1234\" name=\"sword_of_tests\" weight=\"0.25\" tradable=\"true\" />\n", 20_000) + "</S>\n")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		p, err := xmlsheet.New("S-0.xml", data)
		for err == nil {
			_, err = p.Next()
		}
		if err != io.EOF { //nolint:errorlint // Next gives it as it is
			b.Fatal(err)
		}
	}
}
