package index_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/keys"
)

func TestShmemFree(t *testing.T) {
	s, err := index.ParseShmem(write.Shmem("C:/x", 9))
	if err != nil || s.DataPath != "C:/x" || s.Versions[15] != 9 {
		t.Fatalf("%+v, %v", s, err)
	}
	if want := []index.Location{{Archive: 3, Off: 77, Size: 500}}; !slices.Equal(s.Free, want) {
		t.Errorf("free %+v", s.Free)
	}
}

func TestArchiveIndexes(t *testing.T) {
	for _, n := range []int{0, 1, 170, 171, 1000} {
		for _, offsets := range []int{0, 4, 5, 6} {
			var entries []index.ArchiveEntry
			for i, e := range casctest.IdxEntries(n, uint64(n)) {
				a := index.ArchiveEntry{Size: e.Size}
				copy(a.Key[:], e.Key[:])
				binary.BigEndian.PutUint32(a.Key[12:], uint32(i))
				if offsets > 0 {
					a.Off = e.Off
				}
				if offsets > 4 {
					a.Archive = e.Archive
				}
				entries = append(entries, a)
			}
			for _, hash := range []int{8, 12, 16} {
				data := write.ArchiveIndexOf(entries, offsets, hash)
				x, err := index.ParseArchive(data)
				if err != nil || x.Len() != n || x.OffsetBytes != offsets || x.Name != write.Key(data[len(data)-12-2*hash:]) {
					t.Errorf("%d entries, offsets of %d, hashes of %d: %+v, %v", n, offsets, hash, x, err)
					continue
				}
				for _, e := range entries {
					if got, _, ok := x.Find(e.Key[:]); !ok || got != e {
						t.Fatalf("%d entries, offsets of %d, hashes of %d: %+v, want %+v", n, offsets, hash, got, e)
					}
				}
			}
		}
	}
}

// TestArchiveIndexFlips flips every byte of an index. All bytes are hashed.
func TestArchiveIndexFlips(t *testing.T) {
	for _, hash := range []int{8, 12, 16} {
		data := write.ArchiveIndexOf([]index.ArchiveEntry{{Key: keys.Key{1}, Size: 5, Off: 9}, {Key: keys.Key{2}, Size: 5, Off: 14}}, 4, hash)
		for i := range data {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << (i % 8)
			if _, err := index.ParseArchive(bad); err == nil {
				t.Fatalf("hashes of %d, byte %d flipped: no error", hash, i)
			}
			if _, err := index.ParseArchive(data[:i]); err == nil {
				t.Fatalf("hashes of %d, cut at %d: no error", hash, i)
			}
		}
	}
}
