package casc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/config"
	"lorefs/casc/index"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/testneeds"
)

// mirrorOf is a mirror of a game of one file, whose build configuration has more lines.
func mirrorOf(t *testing.T, group bool, content string, lines ...string) (files write.Files, build keys.Key) {
	t.Helper()
	g := newGame()
	g.Config = append(g.Config, lines...)
	g.Add([]byte(content + " is loose"))
	s := g.Add([]byte(content)) // it and the root are in the archive, the encoding file is loose
	g.Add([]byte(content + " is loose, too"))
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "x", CKey: s.CKey}})))
	files, err := g.Mirror(group)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if strings.HasPrefix(name, "config/") && strings.Contains(string(data), "encoding = ") {
			build = write.Key(data)
		}
	}
	return files, build
}

// readX returns what the file x of a storage has.
func readX(t *testing.T, files write.Files, opts casc.Options) (string, *casc.Storage, error) {
	t.Helper()
	st, err := casc.Open(casctest.FS(files), opts)
	if err != nil {
		return "", nil, err
	}
	c, err := st.OpenName(t.Context(), "x")
	if err != nil {
		return "", st, err
	}
	b, err := c.ReadAll(t.Context(), 1000)
	return string(b), st, err
}

// TestTwoBuilds has a mirror of two builds with their two CDN configurations.
func TestTwoBuilds(t *testing.T) {
	for _, group := range []bool{false, true} {
		one, oneKey := mirrorOf(t, group, "the first", "build-uid = wow")
		two, twoKey := mirrorOf(t, group, "the second", "build-uid = wow_classic")
		both := maps.Clone(one)
		maps.Copy(both, two)
		for want, opts := range map[string]casc.Options{
			"the first": {BuildKey: oneKey}, "the second": {Product: "WoW_classic"},
		} {
			got, st, err := readX(t, both, opts)
			if err != nil || got != want {
				t.Errorf("group %v: %q, %v, want %q", group, got, err, want)
				continue
			}
			if p := st.Problems(); len(p) > 0 {
				t.Errorf("group %v: %v", group, p)
			}
		}
		_, _, err := readX(t, both, casc.Options{})
		e, ok := errors.AsType[*config.BuildsError](err)
		if !ok || len(e.Builds) != 2 {
			t.Fatalf("group %v: %v", group, err)
		}
		for _, part := range []string{oneKey.String() + " wow 1.0.0.1", twoKey.String() + " wow_classic 1.0.0.1"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v, without %s", err, part)
			}
		}
		if _, _, err := readX(t, both, casc.Options{Product: "d3"}); err == nil || err.Error() != `casc: no build of product "d3" is active; installed are wow, wow_classic` &&
			err.Error() != `casc: no build of product "d3" is active; installed are wow_classic, wow` {
			t.Errorf("another product: %v", err)
		}
		_, _, err = readX(t, one, casc.Options{Product: "d3"})
		if _, ok := errors.AsType[*config.ProductError](err); !ok {
			t.Errorf("one build, another product: %v", err)
		}
	}
}

// TestGroupOfNone has an index of a group that no CDN configuration names.
func TestGroupOfNone(t *testing.T) {
	files, _ := mirrorOf(t, true, "text")
	for i := range 2 {
		other := fmt.Appendf(nil, "archives = %v\n", keys.Key{byte(i + 1)})
		files[config.Path("config", write.Key(other))] = other
	}
	for name, data := range files {
		if strings.HasPrefix(name, "config/") && strings.Contains(string(data), "archive-group") {
			delete(files, name)
		}
	}
	st, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if told := fmt.Sprint(st.Problems()); !strings.Contains(told, "none of 2 CDN configurations says which archives it is of") {
		t.Error(told)
	}
}

// TestMisnamedIndex has an index with the name of another archive. It is reported, and all
// files are read as before.
func TestMisnamedIndex(t *testing.T) {
	files, _ := mirrorOf(t, false, "text")
	other := write.ArchiveIndex([]index.ArchiveEntry{{Key: keys.Key{1}, Size: 3, Off: 5}}, 4)
	for name, data := range maps.Clone(files) {
		if !strings.HasSuffix(name, ".index") {
			continue
		}
		wrong := write.Key(other)
		files[config.Path("data", wrong)] = files[strings.TrimSuffix(name, ".index")][:20]
		files[config.Path("data", wrong)+".index"] = data
	}
	got, st, err := readX(t, files, casc.Options{})
	if err != nil || got != "text" {
		t.Fatalf("%q, %v", got, err)
	}
	if p := fmt.Sprint(st.Problems()); len(st.Problems()) != 1 || !strings.Contains(p, "the footer has the MD5 ") || !strings.Contains(p, write.Key(other).String()) {
		t.Error(p)
	}
}

// manyArchives adds archives with perArchive files each to a mirror, and returns the files'
// keys. The archives are empty.
func manyArchives(files write.Files, archives, perArchive int) (keys []keys.Key) {
	for i := range archives {
		var own []index.ArchiveEntry
		for j := range perArchive {
			key := write.Key(binary.BigEndian.AppendUint64(nil, uint64(i*perArchive+j)))
			own = append(own, index.ArchiveEntry{Key: key, Size: 100, Off: int64(100 * j)})
			keys = append(keys, key)
		}
		index := write.ArchiveIndex(own, 4)
		name := config.Path("data", write.Key(index[len(index)-28:]))
		files[name], files[name+".index"] = nil, index
	}
	return keys
}

// BenchmarkMirrorHas looks keys up in a mirror of 1,400 archives.
func BenchmarkMirrorHas(b *testing.B) {
	g := casctest.New()
	g.Root(g.Add([]byte("root")))
	files, err := g.Mirror(false)
	if err != nil {
		b.Fatal(err)
	}
	keys := manyArchives(files, 1400, 700)
	st, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		i += 7919
		if !st.Has(keys[i%len(keys)][:]) {
			b.Fatal("not there")
		}
	}
}

// BenchmarkMirrorOpen opens a mirror of 1,400 archives.
func BenchmarkMirrorOpen(b *testing.B) {
	g := casctest.New()
	g.Root(g.Add([]byte("root")))
	files, err := g.Mirror(false)
	if err != nil {
		b.Fatal(err)
	}
	manyArchives(files, 1400, 700)
	fsys := casctest.FS(files)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := casc.Open(fsys, casc.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// memoryStore is an IndexStore.
type memoryStore map[string][]byte

func (s memoryStore) Load(key string) ([]byte, error) {
	if b, ok := s[key]; ok {
		return b, nil
	}
	return nil, iofs.ErrNotExist
}

func (s memoryStore) Save(key string, data []byte) error {
	s[key] = bytes.Clone(data)
	return nil
}

// TestKeptGroup keeps the table of all indexes, so that the next run does not read them. A
// damaged table is made anew, and an incomplete one is not kept.
func TestKeptGroup(t *testing.T) {
	testneeds.Seconds(t)
	for _, group := range []bool{false, true} {
		files, _ := mirrorOf(t, group, "text")
		many := manyArchives(files, 20, 30)
		kept := memoryStore{}
		look := func(what string, files write.Files) {
			t.Helper()
			got, st, err := readX(t, files, casc.Options{Index: kept})
			if err != nil || got != "text" {
				t.Fatalf("%s: %q, %v", what, got, err)
			}
			for _, k := range many {
				if !st.Has(k[:]) || !st.Has(k[:9]) {
					t.Errorf("%s: %v is not there", what, k)
				}
			}
			if st.Has(make([]byte, 9)) || st.Has(bytes.Repeat([]byte{0xFF}, 16)) {
				t.Errorf("%s: what nobody has", what)
			}
		}
		look("first", files)
		if len(kept) != 1 {
			t.Fatalf("%d tables are kept", len(kept))
		}
		unread := maps.Clone(files)
		for name, data := range files {
			if strings.HasSuffix(name, ".index") {
				unread[name] = make([]byte, len(data))
			}
		}
		look("kept", unread)
		for name, data := range kept {
			for i := 0; i < len(data); i += max(1, len(data)/97) {
				kept[name] = bytes.Clone(data)
				kept[name][i] ^= 1 << (i % 8)
				look(fmt.Sprintf("byte %d flipped", i), files)
				kept[name] = data[:i]
				look(fmt.Sprintf("cut at %d", i), files)
				if !bytes.Equal(kept[name], data) {
					t.Fatal("the table is another")
				}
			}
		}
		kept = memoryStore{}
		files[config.Path("data", keys.Key{5})+".index"] = []byte("damaged")
		look("damaged index", files)
		if len(kept) > 0 {
			t.Error("what is not whole is kept")
		}
	}
}

// TestMisfit has a file in two archives, one of which is cut, and a file in none that fits.
func TestMisfit(t *testing.T) {
	for _, cut := range []bool{false, true} {
		files, _ := mirrorOf(t, false, "text")
		var all []index.ArchiveEntry
		st, err := casc.Open(casctest.FS(files), casc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		names, err := st.IndexNames()
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		x, err := st.ReadIndex(t.Context(), names[0])
		if err != nil {
			t.Fatal(err)
		}
		for e := range x.Entries() {
			e.Off++
			all = append(all, e)
		}
		other := write.ArchiveIndex(all, 4)
		name := config.Path("data", write.Key(other[len(other)-28:]))
		files[name], files[name+".index"] = nil, other
		whole := config.Path("data", names[0])
		if cut {
			files[whole] = files[whole][:10]
		}
		got, st, err := readX(t, files, casc.Options{})
		switch {
		case !cut && (err != nil || got != "text"):
			t.Errorf("%q, %v", got, err)
		case cut && (err == nil || !strings.Contains(err.Error(), "bytes, the archive has ")):
			t.Errorf("cut: %q, %v", got, err)
		}
		misfits := 0
		for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
			if err != nil {
				t.Error(err)
			}
			if strings.Contains(f.What, "the archive has 0") && f.EKey != nil {
				misfits++
			}
			if f.File != "" && !cut {
				t.Errorf("%v, which is read from elsewhere", f)
			}
		}
		if misfits != len(all) {
			t.Errorf("verify tells of %d places that do not fit, there are %d", misfits, len(all))
		}
	}
}

// TestUnknownProduct asks for a product where nothing says which one the storage has. The
// error says that.
func TestUnknownProduct(t *testing.T) {
	files, _ := mirrorOf(t, false, "text")
	var log bytes.Buffer
	got, _, err := readX(t, files, casc.Options{Product: "d3", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil || got != "text" || !strings.Contains(log.String(), `nothing says which product the storage is of" wanted=d3`) {
		t.Errorf("%q, %v, log: %s", got, err, log.String())
	}
}

// TestOtherPlace has a file at two places in a mirror, of which the first is damaged: in the header
// of the encoded file, or behind it.
func TestOtherPlace(t *testing.T) {
	const content = "what is in x"
	for _, fromEnd := range []bool{false, true} {
		files, _ := mirrorOf(t, false, content)
		_, st, err := readX(t, files, casc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := st.Encoding().Find(t.Context(), write.Key([]byte(content)))
		if err != nil {
			t.Fatal(err)
		}
		f, err := st.EncodedFile(t.Context(), e.EKeys[0][:])
		if err != nil {
			t.Fatal(err)
		}
		whole := files[f.Archive][f.Off:][:f.Size]
		files[config.Path("data", e.EKeys[0])] = bytes.Clone(whole)
		if fromEnd {
			whole[len(whole)-1] ^= 1
		} else {
			whole[10] ^= 1
		}
		got, st, err := readX(t, files, casc.Options{})
		if err != nil || got != content {
			t.Errorf("at the end %v: %q, %v", fromEnd, got, err)
		}
		var found []string
		for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, f.String())
		}
		if len(found) != 1 || !strings.HasPrefix(found[0], "damaged: "+f.Archive) {
			t.Errorf("at the end %v: %q", fromEnd, found)
		}
	}
}
