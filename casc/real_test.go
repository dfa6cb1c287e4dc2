package casc_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/config"
	"lorefs/casc/internal/root/tvfs"
	"lorefs/casc/internal/root/wow"
	"lorefs/casc/keys"
)

func openEncoding(t testing.TB, data []byte) *casc.Encoding {
	t.Helper()
	e, err := casc.NewEncoding(t.Context(), bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestRealEncodings reads the beginnings of real encoding files, cut to two pages of each
// table.
func TestRealEncodings(t *testing.T) {
	for file, specs := range map[string]int{"wow_classic_era_truncated.bin": 56, "wow_classic_truncated.bin": 1169} {
		data := casctest.Fixture(t, "cascette-rs/encoding/"+file)
		e := openEncoding(t, data)
		if e.Specs() != specs || e.OwnSpec != "" { // it is cut off
			t.Errorf("%s: %d specs, own %q", file, e.Specs(), e.OwnSpec)
		}
		for i := range e.Specs() {
			if _, err := blte.ParseSpec(e.Spec(i)); err != nil {
				t.Errorf("%s: spec %d: %v", file, i, err)
			}
		}
		contents, last := 0, keys.Key{}
		for c, err := range e.Contents(t.Context()) {
			if err != nil || c.CKey.Compare(last) <= 0 || len(c.EKeys) == 0 {
				t.Fatalf("%s: %+v, %v", file, c, err)
			}
			last = c.CKey
			contents++
			if got, err := e.Find(t.Context(), c.CKey); err != nil || got.CKey != c.CKey || got.Size != c.Size {
				t.Fatalf("%s: finding %v: %+v, %v", file, c.CKey, got, err)
			}
		}
		encoded := 0
		last = keys.Key{}
		for c, err := range e.Encoded(t.Context()) {
			if err != nil || c.EKey.Compare(last) <= 0 || c.Spec == "" {
				t.Fatalf("%s: %+v, %v", file, c, err)
			}
			last = c.EKey
			encoded++
			for _, n := range []int{9, 16} {
				if got, err := e.FindEncoded(t.Context(), c.EKey[:n]); err != nil || got != c {
					t.Fatalf("%s: finding %x: %+v, %v", file, c.EKey[:n], got, err)
				}
			}
		}
		if encoded != 2*163 || contents < 150 {
			t.Errorf("%s: %d content keys, %d encoding keys", file, contents, encoded)
		}
		for _, k := range []keys.Key{{}, {0: 0xff, 1: 0xff}} {
			if _, err := e.Find(t.Context(), k); !errors.Is(err, casc.ErrNotFound) {
				t.Errorf("%s: %v: %v", file, k, err)
			}
			if _, err := e.FindEncoded(t.Context(), k[:]); !errors.Is(err, casc.ErrNotFound) {
				t.Errorf("%s: %v: %v", file, k, err)
			}
		}
	}
}

// TestRealArchiveIndexes reads real indexes.
func TestRealArchiveIndexes(t *testing.T) {
	for file, want := range map[string]int{
		"0017a402f556fbece46c38dc431a2c9b.index": 7060, "00b79cc0eebdd26437c7e92e57ac7f5c.index": 2062, "s2_00872b40344ef1a3dac4aff09588603c.index": 1555,
	} {
		x, err := casc.ParseArchiveIndex(casctest.Fixture(t, "cascette-rs/archive/"+file))
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

func TestRealWoWRoots(t *testing.T) {
	for file, want := range map[string]struct{ version, files int }{
		"classic_era_v1_2blocks.root": {0, 1493}, "retail_11.2.7_v2_3blocks.root": {3, 0},
	} {
		r, err := wow.Parse(casctest.Fixture(t, "cascette-rs/root/"+file))
		if err != nil || r.Version != want.version {
			t.Errorf("%s: %+v, %v", file, r, err)
			continue
		}
		n := 0
		for f, err := range r.Files() {
			if err != nil || f.CKey.IsZero() || f.Locale == 0 || !f.HasID {
				t.Fatalf("%s: %+v, %v", file, f, err)
			}
			n++
		}
		if n == 0 || want.files > 0 && n != want.files {
			t.Errorf("%s: %d files", file, n)
		}
		t.Logf("%s: %d files", file, n)
	}
}

// TestRealTVFS reads real manifests, without those nested in them.
func TestRealTVFS(t *testing.T) {
	for _, name := range []string{"wow_classic_era_04ca19154f0c48b1", "wow_classic_cbd15a9f67c4d28d", "wow_dbd6a1911a9dd025"} {
		r, err := tvfs.Parse(casctest.Fixture(t, "cascette-rs/tvfs/"+name+".bin"), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n := 0
		for f, err := range r.Files() {
			if err != nil || f.Name == "" || len(f.Spans) != 1 || f.Spans[0].EKey.IsZero() || f.CKey.IsZero() || strings.HasSuffix(f.Name, "/") {
				t.Fatalf("%s: %+v, %v", name, f, err)
			}
			n++
		}
		if n == 0 {
			t.Errorf("%s: no files", name)
		}
		t.Logf("%s: %d files", name, n)
	}
}

// TestRealTVFSNests finds the nested manifests of a build configuration in the manifest
// that they are nested in.
func TestRealTVFSNests(t *testing.T) {
	cfg, err := config.Parse(casctest.Fixture(t, "cascette-rs/config/wow_classic_era_build_config.txt"))
	if err != nil {
		t.Fatal(err)
	}
	loader := &refusing{}
	r, err := tvfs.Parse(casctest.Fixture(t, "cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.bin"), loader)
	if err != nil {
		t.Fatal(err)
	}
	for ref, err := range cfg.VFS() {
		if err != nil {
			t.Fatal(err)
		}
		r.Nest(ref.EKey)
	}
	nested := 0
	for f, err := range r.Files() {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name, ":") {
			nested++
		}
	}
	if nested == 0 || nested != loader.asked || len(r.Problems()) != nested {
		t.Errorf("%d nested manifests, %d were asked for, %d problems", nested, loader.asked, len(r.Problems()))
	}
}

// refusing is a loader without files.
type refusing struct{ asked int }

func (l *refusing) Content(keys.Key) ([]byte, error) { l.asked++; return nil, casc.ErrNotLocal }

func (l *refusing) Encoded([]byte) ([]byte, error) { l.asked++; return nil, casc.ErrNotLocal }

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
	h, err := casc.ParseSpanHeader(b, 0)
	if err != nil || h.Key.String() != "0700009b820effbea1c2e871ffa24358" || h.Size != 30 || !h.Placeholder {
		t.Errorf("%+v, %v", h, err)
	}
	if got := h.Append(nil, 0); !bytes.Equal(got, b) {
		t.Errorf("written again: %x, want %x", got, b)
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1
		if _, err := casc.ParseSpanHeader(bad, 0); err == nil {
			t.Errorf("byte %d flipped: no error", i)
		}
	}
}

// TestRealIdxHead reads the beginning of a real index file. The entries are cut off.
func TestRealIdxHead(t *testing.T) {
	b := vectors(t)["idx_v7_head"]
	_, err := newIdx(b)
	if want := "casc: idx: offset 0x20: 44460 bytes of entries in a file of 58"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestRealShmemHead(t *testing.T) {
	b := append(vectors(t)["shmem_head"], make([]byte, 11280)...)[:11280]
	s, err := casc.ParseShmem(b)
	if err != nil || s.Version != 4 || s.DataPath != "C:/Program Files (x86)/StarCraft/Data/data" || len(s.Free) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSyntheticShmem compares the versions in shmem with the names of the files.
func TestSyntheticShmem(t *testing.T) {
	for _, kind := range casctest.Synthetics {
		s := loadSynthetic(t, kind)
		m, err := casc.ParseShmem(s.store["Data/data/shmem"].Data)
		if err != nil {
			t.Fatal(err)
		}
		var want [casc.Buckets]uint32
		for name := range s.store {
			if b, v, ok := casc.ParseIdxName(name[strings.LastIndexByte(name, '/')+1:]); ok {
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
	s := loadSynthetic(t, "wow3")
	n := 0
	for name, f := range s.store {
		if !strings.HasSuffix(name, ".idx") {
			continue
		}
		for _, e := range allIdx(t, parseIdx(t, f.Data)) {
			archive := s.store["Data/data/data.00"+string(rune('0'+e.Archive))].Data
			if e.Off+e.Size > int64(len(archive)) {
				continue // of an old version
			}
			h, err := casc.ParseSpanHeader(archive[e.Off:], e.Off)
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
