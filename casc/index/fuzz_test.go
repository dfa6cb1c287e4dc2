package index_test

import (
	"testing"

	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/keys"
)

func FuzzArchiveIndex(f *testing.F) {
	f.Add(write.ArchiveIndex([]index.ArchiveEntry{{Key: keys.Key{1}, Size: 5, Off: 9}}, 4))
	f.Add(write.ArchiveIndex([]index.ArchiveEntry{{Key: keys.Key{1}, Size: 5, Off: 9, Archive: 3}}, 6))
	f.Add(write.ArchiveIndexOf([]index.ArchiveEntry{{Key: keys.Key{1}, Size: 5, Off: 9}}, 4, 16))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := index.ParseArchive(data)
		if err != nil {
			return
		}
		for e := range x.Entries() {
			if _, _, ok := x.Find(e.Key[:]); !ok {
				t.Fatalf("%v is not found", e.Key)
			}
		}
	})
}
