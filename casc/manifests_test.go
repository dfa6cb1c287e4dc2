package casc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/internal/root/diablo3"
	"lorefs/casc/internal/root/mndx"
	"lorefs/casc/internal/root/overwatch"
	"lorefs/casc/internal/root/tvfs"
	"lorefs/casc/internal/root/wow"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
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
	before := heap()
	var all []root.File
	for f, err := range r.Files() {
		if err != nil || len(f.Spans) != 224 || f.Size != 224 {
			t.Fatalf("%d spans of %d bytes, %v", len(f.Spans), f.Size, err)
		}
		all = append(all, f)
	}
	if more := heap() - before; more > 8<<20 || len(all) != 10_000 {
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

func TestShmemFree(t *testing.T) {
	s, err := casc.ParseShmem(write.Shmem("C:/x", 9))
	if err != nil || s.DataPath != "C:/x" || s.Versions[15] != 9 {
		t.Fatalf("%+v, %v", s, err)
	}
	if want := []casc.Location{{Archive: 3, Off: 77, Size: 500}}; !slices.Equal(s.Free, want) {
		t.Errorf("free %+v", s.Free)
	}
}

func TestArchiveIndexes(t *testing.T) {
	for _, n := range []int{0, 1, 170, 171, 1000} {
		for _, offsets := range []int{0, 4, 5, 6} {
			var entries []casc.ArchiveEntry
			for i, e := range idxEntries(n, uint64(n)) {
				a := casc.ArchiveEntry{Size: e.Size}
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
				x, err := casc.ParseArchiveIndex(data)
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
		data := write.ArchiveIndexOf([]casc.ArchiveEntry{{Key: keys.Key{1}, Size: 5, Off: 9}, {Key: keys.Key{2}, Size: 5, Off: 14}}, 4, hash)
		for i := range data {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << (i % 8)
			if _, err := casc.ParseArchiveIndex(bad); err == nil {
				t.Fatalf("hashes of %d, byte %d flipped: no error", hash, i)
			}
			if _, err := casc.ParseArchiveIndex(data[:i]); err == nil {
				t.Fatalf("hashes of %d, cut at %d: no error", hash, i)
			}
		}
	}
}

// TestEncodingFlips flips every byte of an encoding file. Pages and their order are
// checked; a flip may go unnoticed only in a spec, or between the keys.
func TestEncodingFlips(t *testing.T) {
	var b write.Builder
	for i := range 200 {
		b.Add([]byte{byte(i), 1, 2, 3})
	}
	data := write.Encoding(b.Stored)
	for i := 0; i < len(data); i += 37 {
		bad := bytes.Clone(data)
		bad[i] ^= 1 << (i % 8)
		e, err := casc.NewEncoding(t.Context(), bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			continue
		}
		for _, s := range b.Stored {
			if got, err := e.Find(t.Context(), s.CKey); err == nil && (got.Size != s.Size || len(got.EKeys) != 1 || got.EKeys[0] != s.EKey) {
				t.Fatalf("byte %d flipped: %+v", i, got)
			}
			if got, err := e.FindEncoded(t.Context(), s.EKey[:]); err == nil && (got.Size != int64(len(s.Encoded)) || got.EKey != s.EKey) {
				t.Fatalf("byte %d flipped: %+v", i, got)
			}
		}
	}
}

func TestEncodingErrors(t *testing.T) {
	var b write.Builder
	s := b.Add([]byte("x"))
	good := write.Encoding(b.Stored)
	patch := func(off int, with ...byte) []byte {
		data := bytes.Clone(good)
		copy(data[off:], with)
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":   {nil, "casc: encoding: offset 0x0: 2 bytes expected, 0 there"},
		"magic":   {patch(0, 'X'), `casc: encoding: offset 0x0: found "XN" instead of "EN"`},
		"version": {patch(2, 2), "not supported: casc: encoding: offset 0x2: version 2 with keys of 16 and 16 bytes"},
		"page":    {patch(5, 0, 0), "casc: encoding: offset 0x5: pages of 0 bytes"},
		"pages":   {patch(9, 0xff), "casc: encoding: offset 0x9: 8 bytes of specs, 4278190081 and 1 pages end at"},
		"cut":     {good[:500], "casc: encoding: offset 0x9: 8 bytes of specs, 1 and 1 pages end at 8286, the file at 500"},
		"specs":   {patch(21, 7), "casc: encoding: offset 0x1d: the last spec has no end"},
	} {
		_, err := casc.NewEncoding(t.Context(), bytes.NewReader(c.data), int64(len(c.data)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	e := openEncoding(t, patch(22+8+32+100, 1))
	if _, err := e.Find(t.Context(), s.CKey); err == nil || !strings.HasPrefix(err.Error(), "casc: encoding: offset 0x3e: page 0 has the MD5") {
		t.Errorf("page: %v", err)
	}
}

// TestCuts cuts manifests and roots at every byte, and expects an error wherever the cut is
// inside of something.
func TestCuts(t *testing.T) {
	files := newGame()
	files.Fill(t)
	patch, _ := write.Patch([]manifests.PatchFile{{CKey: keys.Key{1}, Patches: make([]manifests.PatchStep, 2)}})
	for name, c := range map[string]struct {
		data  []byte
		parse func([]byte) error
	}{
		"install":   {write.Install(1, []manifests.InstallEntry{{Name: "a", CKey: keys.Key{1}, Size: 1}}, write.Tag{Name: "x", Type: 1}), func(b []byte) error { return second(manifests.ParseInstall(b)) }},
		"download":  {write.Download(3, []manifests.DownloadEntry{{Flags: []byte{1, 2}}}, write.Tag{Name: "x", Type: 1}), func(b []byte) error { return second(manifests.ParseDownload(b)) }},
		"size":      {write.SizeManifest(1, []manifests.SizeEntry{{EKey: make([]byte, 9), Size: 1}}), func(b []byte) error { return second(manifests.ParseSize(b)) }},
		"patch":     {patch, func(b []byte) error { return second(manifests.ParsePatch(b)) }},
		"shmem":     {write.Shmem("x", 1)[:0x150], func(b []byte) error { return second(casc.ParseShmem(b)) }},
		"WoW":       {write.WoWRoot(3, files.Files()[:1]), func(b []byte) error { return second(wow.Parse(b)) }},
		"overwatch": {[]byte("#MD5|FILENAME"), func(b []byte) error { return second(overwatch.Parse(b, nil)) }},
		"MNDX":      {write.MNDX(1, []write.MNDXFile{{Package: "p", Name: "n", CKey: keys.Key{1}, Size: 1}}), func(b []byte) error { return second(mndx.Parse(b)) }},
		"Diablo":    {write.Diablo3([]write.Diablo3Entry{{Name: "Base"}}), func(b []byte) error { return second(diablo3.Parse(b, nil)) }},
		"CMF":       {write.ContentManifest(70000, []overwatch.Asset{{GUID: 1, Size: 2, CKey: keys.Key{3}}}), func(b []byte) error { return second(overwatch.ParseContentManifest(b)) }},
		"TVFS":      {write.TVFS(files.Files()), readTVFS},
	} {
		if err := c.parse(c.data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range c.data {
			if (i == 12 || i == 24) && name == "WoW" {
				continue // a header without blocks
			}
			if err := c.parse(c.data[:i]); err == nil {
				t.Errorf("%s: cut at %d of %d: no error", name, i, len(c.data))
			}
		}
	}
}

func readTVFS(b []byte) error {
	r, err := tvfs.Parse(b, nil)
	if err != nil {
		return err
	}
	for _, err := range r.Files() {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestContentManifest(t *testing.T) {
	assets := []overwatch.Asset{{GUID: 0x0123456789ABCDEF, Size: 77, CKey: keys.Key{5}}, {GUID: 2, CKey: keys.Key{6}}}
	for _, build := range []int{30000, 47161, 47162, 57229, 57230, 68309, 68310, 120000} {
		data := write.ContentManifest(build, assets)
		m, err := overwatch.ParseContentManifest(data)
		if err != nil || m.Build != build || !slices.Equal(slices.Collect(m.Assets()), assets) {
			t.Errorf("build %d: %+v, %v", build, m, err)
		}
		at := bytes.Index(data, []byte("cmf"))
		copy(data[at:], []byte{24, 'f', 'm', 'c'})
		if _, err := overwatch.ParseContentManifest(data); !errors.Is(err, casc.ErrUnsupported) {
			t.Errorf("build %d, encrypted: %v", build, err)
		}
	}
}

// TestOverwatchAssets lists the assets of a content manifest.
func TestOverwatchAssets(t *testing.T) {
	g := newGame()
	s := g.Add([]byte("asset"))
	m := g.Add(write.ContentManifest(70000, []overwatch.Asset{{GUID: 0xAB, Size: 5, CKey: s.CKey}}))
	g.Root(g.Add(write.Overwatch([]root.File{{Name: "TactManifest/Win_SPWin_RCN.cmf", CKey: m.CKey}, {Name: "bad.cmf", CKey: s.CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	st, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := st.OpenName(t.Context(), "ContentManifestFiles/Win_SPWin_RCN/00000000000000AB")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := c.ReadAll(t.Context(), 100); err != nil || string(b) != "asset" {
		t.Errorf("%q, %v", b, err)
	}
	if p := st.Problems(); len(p) != 1 || !strings.HasPrefix(p[0].Error(), "content manifest bad.cmf: casc: content manifest") {
		t.Errorf("%v", p)
	}
}
