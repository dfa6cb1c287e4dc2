package index_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"lorefs/casc/casctest"
	"lorefs/casc/index"
)

// TestRealArchiveIndexes reads real indexes.
func TestRealArchiveIndexes(t *testing.T) {
	for file, want := range map[string]int{
		"0017a402f556fbece46c38dc431a2c9b.index": 7060, "00b79cc0eebdd26437c7e92e57ac7f5c.index": 2062, "s2_00872b40344ef1a3dac4aff09588603c.index": 1555,
	} {
		x, err := index.ParseArchive(casctest.Fixture(t, "cascette-rs/archive/"+file))
		if err != nil || x.Len() != want || x.OffsetBytes != 4 {
			t.Errorf("%s: %v", file, err)
			continue
		}
		n, sum, end := 0, int64(0), int64(0)
		for e := range x.Entries() {
			sum += e.Size
			end = max(end, e.Off+e.Size)
			if got, i, ok := x.Find(e.Key[:9+n%8]); !ok || i != n || got != e {
				t.Fatalf("%s: finding %v: %+v, %d, %v", file, e.Key, got, i, ok)
			}
			n++
		}
		if n != want || sum != end {
			t.Errorf("%s: %d entries, %d bytes in an archive of %d", file, n, sum, end)
		}
		if _, _, ok := x.Find(make([]byte, 16)); ok {
			t.Errorf("%s: the zero key was found", file)
		}
	}
}

// vectors returns bytes of a real install of StarCraft: Remastered.
func vectors(t testing.TB) map[string][]byte {
	t.Helper()
	v := map[string][]byte{}
	for line := range strings.Lines(string(casctest.Fixture(t, "vectors/scr_real_bytes.txt"))) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), " ")
		if b, err := hex.DecodeString(text); ok && err == nil {
			v[name] = b
		}
	}
	return v
}

func TestRealSpanHeader(t *testing.T) {
	b := vectors(t)["span_placeholder_data000_at0"]
	h, err := index.ParseSpanHeader(b, 0)
	if err != nil || h.Key.String() != "0700009b820effbea1c2e871ffa24358" || h.Size != 30 || !h.Placeholder {
		t.Errorf("%+v, %v", h, err)
	}
	if got := h.Append(nil, 0); !bytes.Equal(got, b) {
		t.Errorf("written again: %x, want %x", got, b)
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1
		if _, err := index.ParseSpanHeader(bad, 0); err == nil {
			t.Errorf("byte %d flipped: no error", i)
		}
	}
}

// TestRealIdxHead reads the beginning of a real index file. The entries are cut off.
func TestRealIdxHead(t *testing.T) {
	b := vectors(t)["idx_v7_head"]
	_, err := casctest.NewIdx(b)
	if want := "casc: idx: offset 0x20: 44460 bytes of entries in a file of 58"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestRealShmemHead(t *testing.T) {
	b := append(vectors(t)["shmem_head"], make([]byte, 11280)...)[:11280]
	s, err := index.ParseShmem(b)
	if err != nil || s.Version != 4 || s.DataPath != "C:/Program Files (x86)/StarCraft/Data/data" || len(s.Free) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSyntheticShmem compares the versions in shmem with the names of the files.
func TestSyntheticShmem(t *testing.T) {
	for _, kind := range casctest.Synthetics {
		store := casctest.LoadSynthetic(t, kind).Store
		m, err := index.ParseShmem(store["Data/data/shmem"])
		if err != nil {
			t.Fatal(err)
		}
		var want [index.Buckets]uint32
		for name := range store {
			if b, v, ok := index.ParseIdxName(name[strings.LastIndexByte(name, '/')+1:]); ok {
				want[b] = max(want[b], uint32(v))
			}
		}
		if m.Versions != want {
			t.Errorf("%s: versions %v, want %v", kind, m.Versions, want)
		}
	}
}

// TestSyntheticSpans reads the header of every span of a storage.
func TestSyntheticSpans(t *testing.T) {
	store := casctest.LoadSynthetic(t, "wow3").Store
	n := 0
	for name, f := range store {
		if !strings.HasSuffix(name, ".idx") {
			continue
		}
		for _, e := range casctest.AllIdx(t, casctest.ParseIdx(t, f)) {
			archive := store["Data/data/data.00"+string(rune('0'+e.Archive))]
			if e.Off+e.Size > int64(len(archive)) {
				continue // of an old version
			}
			h, err := index.ParseSpanHeader(archive[e.Off:], e.Off)
			if err != nil {
				t.Logf("%s: %v: %v", name, e, err)
				continue
			}
			if h.Key.Short() == e.Key && int64(h.Size) == e.Size {
				n++
			}
		}
	}
	if n < 40 {
		t.Errorf("%d spans agree with their headers", n)
	}
}
