package casctest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"lorefs/casc/index"
	"lorefs/casc/keys"
)

// IdxEntries makes n entries of different keys.
func IdxEntries(n int, seed uint64) []index.IdxEntry {
	r := rand.New(rand.NewPCG(seed, 5))
	entries := make([]index.IdxEntry, n)
	for i := range entries {
		for j := range entries[i].Key {
			entries[i].Key[j] = byte(r.UintN(256))
		}
		entries[i].Location = index.Location{Archive: r.IntN(1 << 10), Off: r.Int64N(1 << 30), Size: 31 + r.Int64N(1<<31)}
	}
	return entries
}

// ParseIdx opens the bytes of an index file, which must be right.
func ParseIdx(t testing.TB, data []byte) *index.Idx {
	t.Helper()
	x, err := NewIdx(data)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// NewIdx opens the bytes of an index file.
func NewIdx(data []byte) (*index.Idx, error) {
	return index.NewIdx(bytes.NewReader(data), int64(len(data)), index.IdxOptions{})
}

// FindIdx is Find of a file that can be read.
func FindIdx(t testing.TB, x *index.Idx, key keys.Short) (index.IdxEntry, bool) {
	t.Helper()
	e, ok, err := x.Find(key)
	if err != nil {
		t.Fatal(err)
	}
	return e, ok
}

// AllIdx returns the entries of a file that can be read.
func AllIdx(t testing.TB, x *index.Idx) (all []index.IdxEntry) {
	t.Helper()
	for e, err := range x.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}
