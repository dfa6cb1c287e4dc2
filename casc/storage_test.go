package casc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"
	"sync"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
)

func TestBuilt(t *testing.T) {
	for root := range casctest.Roots {
		for form := range casctest.Builds {
			g, files := makeGame(t, root, form)
			st, err := casc.Open(casctest.FS(files), g.options(t))
			if err != nil {
				t.Errorf("%s, %s: %v", root, form, err)
				continue
			}
			if err := g.check(st); err != nil {
				t.Errorf("%s, %s: %v", root, form, err)
			}
			if kind, _, _ := strings.Cut(root, " "); st.Kind(t.Context()) != kind {
				t.Errorf("%s, %s: the root is of kind %s", root, form, st.Kind(t.Context()))
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestOpenPath(t *testing.T) {
	for form := range casctest.Builds {
		g, files := makeGame(t, "text", form)
		dir := t.TempDir()
		if err := files.Write(dir); err != nil {
			t.Fatal(err)
		}
		st, err := casc.OpenPath(dir, g.options(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.check(st); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := casc.OpenPath(t.TempDir(), casc.Options{}); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestParallel reads from many goroutines with a cache of their own.
func TestParallel(t *testing.T) {
	for _, form := range []string{"install", "mirror"} {
		g, files := makeGame(t, "tvfs", form)
		opts := g.options(t)
		opts.Blocks = &keeping{blocks: map[uint64][]byte{}}
		st, err := casc.Open(casctest.FS(files), opts)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := g.check(st); err != nil {
					t.Error(err)
				}
				for name, want := range g.Want {
					if f, err := st.Lookup(t.Context(), strings.ToLower(name)); want != nil && (err != nil || f.Name != name) {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
		wg.Wait()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}

// keeping is a cache that checks that no block changes.
type keeping struct {
	mu     sync.Mutex
	blocks map[uint64][]byte
}

func (k *keeping) Block(ctx context.Context, n uint64, load func(context.Context, uint64) ([]byte, error)) ([]byte, error) {
	b, err := load(ctx, n)
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.blocks[n]; ok && err == nil && !bytes.Equal(old, b) {
		return nil, fmt.Errorf("block %d is another", n)
	}
	k.blocks[n] = b
	return b, err
}

func TestLookup(t *testing.T) {
	g := newGame()
	lower, upper := g.Add([]byte("lower")), g.Add([]byte("UPPER"))
	g.Root(g.Add([]byte(fmt.Sprintf("a/name.txt|%v\nA/NAME.txt|%v\nb:deDE|%v\nb:enUS|%v\n", lower.CKey, upper.CKey, lower.CKey, upper.CKey))))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	st, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]keys.Key{
		"a/name.txt": lower.CKey, "A/NAME.txt": upper.CKey, `\A\name.TXT`: lower.CKey, "B:ENUS": upper.CKey, "c": {}, "": {},
	} {
		f, err := st.Lookup(t.Context(), name)
		if f.CKey != want || errors.Is(err, casc.ErrNotFound) != want.IsZero() {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	for what, err := range map[string]error{
		"content key": second(st.OpenContent(t.Context(), keys.Key{1})), "name": second(st.OpenName(t.Context(), "none")), "encoding key": second(st.OpenEncoded(t.Context(), make([]byte, 9))),
	} {
		if !errors.Is(err, casc.ErrNotFound) && !errors.Is(err, casc.ErrNotLocal) {
			t.Errorf("unknown %s: %v", what, err)
		}
	}
	for _, n := range []int{0, 8, 17} {
		if _, err := st.OpenEncoded(t.Context(), make([]byte, n)); err == nil {
			t.Errorf("an encoding key of %d bytes", n)
		}
	}
}

func second[A any](_ A, err error) error { return err }

// TestManifestsOfAStorage reads the manifests through the storage.
func TestManifestsOfAStorage(t *testing.T) {
	g := newGame()
	s := g.Add([]byte("content"))
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "x", CKey: s.CKey}})))
	patch, key := write.Patch([]manifests.PatchFile{{CKey: s.CKey, Size: 7, Patches: []manifests.PatchStep{{From: keys.Key{1}, FromSize: 9, EKey: keys.Key{2}, Size: 3}}}})
	g.AddRaw(patch, key)
	g.Config = append(g.Config, "patch = "+key.String(), fmt.Sprintf("patch-size = %d", len(patch)))
	g.Ref("install", g.Add(write.Install(1, []manifests.InstallEntry{{Name: "x", CKey: s.CKey, Size: 7}})))
	g.Ref("download", g.Add(write.Download(1, []manifests.DownloadEntry{{EKey: s.EKey, Size: 9}})))
	g.Ref("size", g.Add(write.SizeManifest(2, []manifests.SizeEntry{{EKey: s.EKey[:9], Size: 9}})))
	g.KeyRing = "key-0123456789abcdef = 000102030405060708090a0b0c0d0e0f\n"
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	st, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil || len(st.Problems()) > 0 {
		t.Fatal(err, st.Problems())
	}
	if m, err := st.Install(t.Context()); err != nil || len(m.Entries) != 1 {
		t.Errorf("install: %+v, %v", m, err)
	}
	if m, err := st.Download(t.Context()); err != nil || m.Len() != 1 {
		t.Errorf("download: %+v, %v", m, err)
	}
	if m, err := st.SizeManifest(t.Context()); err != nil || m.Len() != 1 {
		t.Errorf("size: %+v, %v", m, err)
	}
	if m, err := st.Patch(t.Context()); err != nil || m.Key != key || len(m.Files) != 1 {
		t.Errorf("patch: %+v, %v", m, err)
	}
	if _, err := st.PatchIndex(t.Context()); !errors.Is(err, casc.ErrNotFound) {
		t.Errorf("patch index: %v", err)
	}
	manifests, err := st.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range manifests {
		names = append(names, f.Name)
		c, err := st.Open(t.Context(), &f)
		if err == nil {
			_, err = c.ReadAll(t.Context(), 1<<20)
		}
		info, statErr := st.Stat(t.Context(), &f)
		if err != nil || statErr != nil || info.State != casc.StateLocal || info.Size != c.Size() {
			t.Errorf("%s: %v, %+v, %v", f.Name, err, info, statErr)
		}
	}
	if want := "ENCODING ROOT INSTALL DOWNLOAD SIZE PATCH"; strings.Join(names, " ") != want {
		t.Errorf("manifests %v, want %s", names, want)
	}
}

// TestNoArchive removes an archive: its files are not local, the others can be read.
func TestNoArchive(t *testing.T) {
	g, files := makeGame(t, "wow 1", "install")
	delete(files, "Data/data/data.000")
	if len(files["Data/data/data.001"]) == 0 {
		t.Fatal("there is one archive only")
	}
	st, err := casc.Open(casctest.FS(files), g.options(t))
	if err != nil {
		t.Fatal(err)
	}
	all, err := st.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	local := 0
	for _, f := range all {
		info, err := st.Stat(t.Context(), &f)
		if err != nil {
			t.Error(err)
		}
		_, err = st.Open(t.Context(), &f)
		if errors.Is(err, casc.ErrNotLocal) != (info.State == casc.StateNotLocal) {
			t.Errorf("%s: %v, %v", f.Name, info.State, err)
		}
		if info.State != casc.StateNotLocal {
			local++
		}
	}
	if local == 0 || local == len(all) {
		t.Errorf("%d of %d files are local", local, len(all))
	}
}

// TestTablesOfAStorage reads the indexes through the storage.
func TestTablesOfAStorage(t *testing.T) {
	for form, want := range map[string][2]int{"install": {index.Buckets, 0}, "mirror": {0, 1}, "mirror of group": {0, 1}} {
		g, files := makeGame(t, "text", form)
		st, err := casc.Open(casctest.FS(files), g.options(t))
		if err != nil {
			t.Fatal(err)
		}
		buckets, indexes, entries := 0, 0, 0
		for b, x := range st.Indexes() {
			if x.Bucket != b {
				t.Errorf("%s: bucket %d is %d", form, b, x.Bucket)
			}
			buckets++
			entries += len(casctest.AllIdx(t, x))
		}
		names, err := st.IndexNames()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range names {
			x, err := st.ReadIndex(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			indexes++
			entries += 2*x.Len() + 1 // the other half is loose
		}
		if buckets != want[0] || indexes != want[1] || entries < len(g.Stored)-2 {
			t.Errorf("%s: %d buckets, %d indexes, %d entries of %d", form, buckets, indexes, entries, len(g.Stored))
		}
		m, err := st.Shmem()
		if form == "install" && (err != nil || m.Versions[3] != 2) || form != "install" && !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("%s: shmem %+v, %v", form, m, err)
		}
	}
}

// TestKeyRing opens a file with a key of the build's key ring.
func TestKeyRing(t *testing.T) {
	g := newGame()
	e := &blte.Encryption{Name: bltetest.KeyName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	s := g.AddChunks("b:{*=e:{8877665544332211,01020304,n}}", blte.WriteOptions{}, blte.Chunk{Content: []byte("lore"), Encrypt: e, Key: bltetest.Key()})
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "x", CKey: s.CKey}})))
	raw := binary.LittleEndian.AppendUint64(nil, uint64(bltetest.KeyName))
	k := bltetest.Key()
	// A bad line costs only its own key, and is reported.
	g.KeyRing = fmt.Sprintf("key-0123456789abcdef = 00\nkey-%x = %x\n", raw, k[:])
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	st, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := st.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), "key-0123456789abcdef") {
		t.Errorf("told of are %v", p)
	}
	f, err := st.Lookup(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := st.Stat(t.Context(), &f); err != nil || info.State != casc.StateLocal {
		t.Errorf("%+v, %v", info, err)
	}
	if b, err := st.Content(t.Context(), s.CKey); err != nil || string(b) != "lore" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestFirstLocalForm has a content whose first encoded form is not local.
func TestFirstLocalForm(t *testing.T) {
	g := newGame()
	content := []byte("twice")
	g.AddChunks("n", blte.WriteOptions{NoTable: true}, blte.Chunk{Content: content})
	g.Add(content)
	g.AddChunks("n", blte.WriteOptions{Long: true}, blte.Chunk{Content: content})
	g.Stored[0].Absent = true
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "x", CKey: write.Key(content)}})))
	for form, build := range casctest.Builds {
		files, err := build(g.Game)
		if err != nil {
			t.Fatal(err)
		}
		st, err := casc.Open(casctest.FS(files), casc.Options{})
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if b, err := st.Content(t.Context(), write.Key(content)); err != nil || !bytes.Equal(b, content) {
			t.Errorf("%s: %q, %v", form, b, err)
		}
		g.Config = g.Config[:len(g.Config)-2] // the encoding file, which each build adds
	}
}

// TestEarlyInstall has a .build.db instead of .build.info, its data in HeroesData,
// and index files of version 5.
func TestEarlyInstall(t *testing.T) {
	g, files := makeGame(t, "mndx 1", "install")
	early := write.Files{}
	for name, data := range files {
		name = strings.Replace(name, "Data/", "HeroesData/", 1)
		bucket, _, ok := index.ParseIdxName(name[strings.LastIndexByte(name, '/')+1:])
		switch {
		case name == ".build.info":
			row := bytes.Split(data, []byte("\n"))[1]
			cells := bytes.Split(row, []byte("|"))
			early[".build.db"] = bytes.Join([][]byte{cells[2], cells[3], []byte("Windows enUS?")}, []byte("|"))
		case ok:
			early[fmt.Sprintf("HeroesData/data/data.i%x2", bucket)] = write.Idx5(bucket, casctest.AllIdx(t, casctest.ParseIdx(t, data)), nil)
		default:
			early[name] = data
		}
	}
	st, err := casc.Open(casctest.FS(early), g.options(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.check(st); err != nil {
		t.Error(err)
	}
	// The data folder alone is a storage too.
	alone := write.Files{}
	for name, data := range files {
		if rest, ok := strings.CutPrefix(name, "Data/"); ok {
			alone[rest] = data
		}
	}
	if st, err = casc.Open(casctest.FS(alone), g.options(t)); err != nil {
		t.Fatal(err)
	}
	if err := g.check(st); err != nil {
		t.Error(err)
	}
}

// TestLocales has one name for two languages.
func TestLocales(t *testing.T) {
	g := newGame()
	german, english := g.Add([]byte("Hallo")), g.Add([]byte("Hello"))
	g.Root(g.Add(write.WoWRoot(3, []root.File{
		{ID: 7, CKey: german.CKey, Locale: root.LocaleDeDE}, {ID: 7, CKey: english.CKey, Locale: root.LocaleEnUS | root.LocaleEnGB},
	})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	names, err := root.ParseListFile([]byte("7;hello.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for locale, want := range map[root.Locale]struct {
		files int
		text  string
	}{0: {2, "Hello"}, root.LocaleDeDE: {1, "Hallo"}, root.LocaleEnGB: {1, "Hello"}, root.LocaleDeDE | root.LocaleEnUS: {2, "Hallo"}, root.LocaleKoKR: {0, ""}} {
		st, err := casc.Open(casctest.FS(files), casc.Options{Names: names, Locale: locale})
		if err != nil {
			t.Fatal(err)
		}
		all, err := st.Files(t.Context())
		if err != nil || len(all) != want.files {
			t.Errorf("%v: %d files, %v", locale, len(all), err)
		}
		c, err := st.OpenName(t.Context(), "hello.txt")
		if err != nil {
			if !errors.Is(err, casc.ErrNotFound) || want.files > 0 {
				t.Errorf("%v: %v", locale, err)
			}
			continue
		}
		if b, err := c.ReadAll(t.Context(), 10); err != nil || string(b) != want.text {
			t.Errorf("%v: %q, %v", locale, b, err)
		}
	}
}

func TestLocaleNames(t *testing.T) {
	for text, want := range map[string]root.Locale{"enUS": 2, "DEDE": 0x20, "ptPT": 0x10000} {
		if l, err := root.ParseLocale(text); err != nil || l != want || !strings.EqualFold(l.String(), text) {
			t.Errorf("%s: %v, %v", text, l, err)
		}
	}
	if _, err := root.ParseLocale("xxXX"); err == nil {
		t.Error("xxXX")
	}
	if s := root.Locale(0x80000022).String(); s != "enUS|deDE|0x80000000" {
		t.Error(s)
	}
}

func TestListFile(t *testing.T) {
	l, err := root.ParseListFile([]byte("\ufeff# names\r\n5;a/b.txt\r\n5;other\n4294967295;last\n\nWorld\\Map.adt\n7;with;semicolon"))
	if err != nil || l.Len() != 5 {
		t.Fatal(l.Len(), err)
	}
	hash := root.NameHash("world/map.ADT")
	for want, f := range map[string]root.File{
		"a/b.txt": {ID: 5, HasID: true}, "last": {ID: 0xFFFFFFFF, HasID: true}, "with;semicolon": {ID: 7, HasID: true},
		`World\Map.adt`: {ID: 6, HasID: true, NameHash: hash, HasHash: true}, "": {ID: 6, HasID: true, NameHash: 1, HasHash: true},
	} {
		if got := l.Name(&f); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
	var none *root.ListFile
	if none.Len() != 0 || none.Name(&root.File{ID: 5, HasID: true}) != "" {
		t.Error("no list has names")
	}
	var bad []string
	l, err = root.ReadListFile(strings.NewReader("id;path\n1;a\nx;b\n4294967296;c\n2;d\n"), 9, func(line int, err error) {
		bad = append(bad, fmt.Sprintf("%d: %v", line, err))
	})
	told := `3: casc: list file: offset 0xc: "x": no file data ID|4: casc: list file: offset 0x10: "4294967296": no file data ID`
	if err != nil || l.Len() != 2 || strings.Join(bad, "|") != told {
		t.Errorf("%d lines, %v, %s", l.Len(), err, bad)
	}
	for text, want := range map[string]string{
		"1;a\n" + strings.Repeat("b", 1<<16): "casc: list file: offset 0x4: a line of more than 65536 bytes",
	} {
		if _, err := root.ParseListFile([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
