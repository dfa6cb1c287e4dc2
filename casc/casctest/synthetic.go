package casctest

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"testing"

	"lorefs/casc/casctest/write"
	"lorefs/internal/testneeds"
)

// Synthetics are the storages of the fixtures, made independently of this project.
var Synthetics = []string{"install", "text", "tvfs", "tvfs_mixedidx", "wow0", "wow1", "wow2", "wow3"}

// Synthetic is one of the Synthetics in memory.
type Synthetic struct {
	// Store has the files of the storage. Beside has the files that its maker put beside
	// it, by what follows the storage's name: keys, lists, and CascLib's listing.
	Store, Beside write.Files
	// Files are the files in the storage.
	Files []SyntheticFile
}

// SyntheticFile is a file as its maker lists it.
type SyntheticFile struct {
	Name, Listed, Kind, MD5, CKey string
	EKeys                         []string
	Size                          int64
	FDID, CFlags, Locale          uint32
}

// Shown returns the name of the file in a root or a list, with slashes.
func (f *SyntheticFile) Shown() string {
	name := f.Name
	if f.Listed != "" {
		name = f.Listed
	}
	return strings.ReplaceAll(name, `\`, "/")
}

// LoadSynthetic unpacks one of Synthetics, or skips the test if it is not there.
func LoadSynthetic(tb testing.TB, kind string) *Synthetic {
	tb.Helper()
	folder := kind
	if kind == "tvfs_mixedidx" {
		folder = "mixed"
	}
	s := load(tb, "casc/synthetic/"+kind+".tar.gz", folder)
	made := struct{ Files *[]SyntheticFile }{&s.Files}
	if err := json.Unmarshal(s.Beside["manifest.json"], &made); err != nil {
		tb.Fatal(err)
	}
	return s
}

// LoadOdd unpacks one of the fixtures' storages that are well encoded but odd inside, or
// skips the test if it is not there. Its Files are not known.
func LoadOdd(tb testing.TB, name string) *Synthetic {
	tb.Helper()
	return load(tb, "casc/odd/"+name+".tar.gz", strings.TrimPrefix(name, "r-"))
}

// load unpacks the storage in a folder of an archive.
func load(tb testing.TB, archive, folder string) *Synthetic {
	tb.Helper()
	s := &Synthetic{Store: write.Files{}, Beside: write.Files{}}
	for name, data := range unpack(tb, testneeds.Fixture(tb, archive)) {
		if rest, ok := strings.CutPrefix(name, folder+"/"); ok {
			s.Store[rest] = data
		} else if rest, ok := strings.CutPrefix(name, folder+"."); ok {
			s.Beside[rest] = data
		}
	}
	return s
}

func unpack(tb testing.TB, archive string) write.Files {
	tb.Helper()
	f, err := os.Open(archive)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	files := write.Files{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			tb.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if files[path.Clean(h.Name)], err = io.ReadAll(r); err != nil {
			tb.Fatal(err)
		}
	}
}
