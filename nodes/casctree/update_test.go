package casctree_test

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/casctree"
)

// twoFiles returns a game whose file a is stored before the content.
func twoFiles(t *testing.T, content string) write.Files {
	t.Helper()
	g := casctest.New()
	var text strings.Builder
	for _, s := range []string{"the first file", content, "the last file"} {
		name, _, _ := strings.Cut(strings.TrimPrefix(s, "the "), " ")
		text.WriteString(name + "|" + g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: []byte(s)}).CKey.String() + "\n")
	}
	g.Root(g.Add([]byte(text.String())))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// become replaces the files of a storage by those of another in place, so that open files
// read the new bytes.
func become(fsys fstest.MapFS, files write.Files) {
	for name := range fsys {
		if _, ok := files[name]; !ok {
			delete(fsys, name)
		}
	}
	for name, f := range casctest.FS(files) {
		if old, ok := fsys[name]; ok {
			*old = *f
		} else {
			fsys[name] = f
		}
	}
}

// archive is the only archive with files of twoFiles.
const archive = "Data/data/data.000"

// TestMoved moves all data in the archive while files are open: they are found again.
func TestMoved(t *testing.T) {
	before := twoFiles(t, "the second file")
	fsys := casctest.FS(before)
	tree, st := openBoth(t, fsys, casc.Options{Blocks: blockcache.New(0).View()}, casctree.Options{})
	if got, err := readPath(t.Context(), tree, "files/first"); err != nil || string(got) != "the first file" {
		t.Fatalf("%q, %v", got, err)
	}
	become(fsys, casctest.Moved(t, before, 1000))
	for name, want := range map[string]string{"first": "the first file", "second": "the second file", "last": "the last file"} {
		if got, err := readPath(t.Context(), tree, "files/"+name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if st.Updates() != 1 {
		t.Errorf("%d updates were noticed", st.Updates())
	}
	if again, err := st.Refresh(); again || err != nil {
		t.Errorf("refreshed again: %v, %v", again, err)
	}
}

// TestMovedEncoding moves the encoding file, which is open as long as the storage is.
func TestMovedEncoding(t *testing.T) {
	l, err := casctest.NewLarge(2500)
	if err != nil {
		t.Fatal(err)
	}
	fsys := casctest.FS(l.Files)
	tree := open(t, fsys, casc.Options{Blocks: blockcache.New(0).View()}, casctree.Options{})
	become(fsys, casctest.Moved(t, l.Files, 1000))
	for i := range 500 {
		content := casctest.LargeContent(i)
		key := write.Key(content).String()
		got, err := readPath(t.Context(), tree, "content/"+key[:2]+"/"+key)
		if l.Local(i) && (err != nil || !bytes.Equal(got, content)) {
			t.Fatalf("file %d: %x, %v", i, got, err)
		}
	}
}

// TestUnasked reads for nobody what has moved or is damaged: the storage is not looked at again,
// and nothing is logged. The read of a program does both.
func TestUnasked(t *testing.T) {
	before := twoFiles(t, "the second file")
	fsys := casctest.FS(before)
	var log bytes.Buffer
	tree, st := openBoth(t, fsys, casc.Options{}, casctree.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	first, err := lookup(t.Context(), tree, "files/first")
	if err != nil {
		t.Fatal(err)
	}
	second, err := lookup(t.Context(), tree, "files/second")
	if err != nil {
		t.Fatal(err)
	}
	moved := casctest.Moved(t, before, 1000)
	moved[archive][bytes.Index(moved[archive], []byte("the second file"))] ^= 1
	become(fsys, moved)
	for _, e := range []nodes.Entry{first, second} {
		if got, err := readAll(nodes.Unasked(t.Context()), tree, e); err == nil {
			t.Errorf("what was moved is read: %q", got)
		}
	}
	if n := st.Updates(); n != 0 || log.Len() > 0 {
		t.Errorf("%d updates were noticed for nobody; logged: %s", n, &log)
	}
	if got, err := readAll(t.Context(), tree, first); err != nil || string(got) != "the first file" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := readAll(t.Context(), tree, second); err == nil {
		t.Errorf("what is damaged is read: %q", got)
	}
	if n := st.Updates(); n != 1 || strings.Count(log.String(), "can't be read") != 1 {
		t.Errorf("%d updates were noticed for a program; logged: %s", n, &log)
	}
}

// TestPutInPlace puts another file in the place of one: the old file is gone, and no byte
// of the new one is returned for it, whether chunks are cached or not.
func TestPutInPlace(t *testing.T) {
	before := twoFiles(t, "the second file")
	after := twoFiles(t, "the secret file")
	for _, size := range []int64{0, 1 << 20} {
		for _, opened := range []bool{false, true} {
			fsys := casctest.FS(before)
			tree := open(t, fsys, casc.Options{Blocks: blockcache.New(size).View()}, casctree.Options{})
			e, err := lookup(t.Context(), tree, "files/second")
			if err != nil {
				t.Fatal(err)
			}
			if opened {
				if _, err := readAll(t.Context(), tree, e); err != nil {
					t.Fatal(err)
				}
			}
			become(fsys, casctest.Moved(t, after, 0))
			got, err := readAll(t.Context(), tree, e)
			switch {
			case opened && size > 0 && err == nil: // its chunk was cached
				if string(got) != "the second file" {
					t.Errorf("cache of %d: %q", size, got)
				}
			case opened:
				if !errors.Is(err, nodes.ErrChanged) {
					t.Errorf("cache of %d: %q, %v, want ErrChanged", size, got, err)
				}
			case !errors.Is(err, nodes.ErrUnavailable):
				t.Errorf("cache of %d, not opened before: %q, %v, want ErrUnavailable", size, got, err)
			}
			if got, err := readPath(t.Context(), tree, "files/first"); err != nil || string(got) != "the first file" {
				t.Errorf("first: %q, %v", got, err)
			}
			// The other storage's file is found by its key only if the encoding file has
			// it.
			key := write.Key([]byte("the secret file")).String()
			if _, err := lookup(t.Context(), tree, "content/"+key[:2]+"/"+key); !errors.Is(err, nodes.ErrNotExist) {
				t.Errorf("the new file: %v", err)
			}
		}
	}
}

// TestLargeWrittenOver writes over an open file that is too large to be held: no wrong byte
// is returned, and when the bytes are put back it can be read again.
func TestLargeWrittenOver(t *testing.T) {
	content := bltetest.Text(9 << 20)
	g := casctest.New()
	s := g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: content})
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "film", CKey: s.CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	tree, st := openBoth(t, casctest.FS(files), casc.Options{}, casctree.Options{})
	e, err := lookup(t.Context(), tree, "files/film")
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 1000)
	if n, err := tree.ReadAt(t.Context(), e.ID, p, 0); n != len(p) || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	at := bytes.Index(files[archive], s.Encoded) + len(s.Encoded) - 500
	files[archive][at] ^= 1
	if n, err := tree.ReadAt(t.Context(), e.ID, p, int64(len(content)-len(p))); n > 0 || err == nil {
		t.Errorf("%d bytes of what is not the file, %v", n, err)
	}
	files[archive][at] ^= 1
	if got, err := readAll(t.Context(), tree, e); err != nil || !bytes.Equal(got, content) {
		t.Errorf("when it is put back: %d bytes, %v", len(got), err)
	}
	if st.Updates() != 0 {
		t.Errorf("%d updates were noticed: the test is of what is not noticed", st.Updates())
	}
}

// TestTruncated cuts the archive under the mount.
func TestTruncated(t *testing.T) {
	before := twoFiles(t, "the second file")
	fsys := casctest.FS(before)
	tree := open(t, fsys, casc.Options{}, casctree.Options{})
	e, err := lookup(t.Context(), tree, "files/last")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readPath(t.Context(), tree, "files/first"); err != nil {
		t.Fatal(err)
	}
	cut := bytes.Index(before[archive], []byte("the last"))
	fsys[archive].Data = before[archive][:cut]
	if got, err := readAll(t.Context(), tree, e); !errors.Is(err, nodes.ErrChanged) {
		t.Errorf("%q, %v, want ErrChanged", got, err)
	}
	if got, err := readPath(t.Context(), tree, "files/second"); err != nil || string(got) != "the second file" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNewBuild installs another build: the open one stays, and the new one is reported.
func TestNewBuild(t *testing.T) {
	before, after := twoFiles(t, "the second file"), twoFiles(t, "the secret file")
	fsys := casctest.FS(before)
	tree, st := openBoth(t, fsys, casc.Options{}, casctree.Options{})
	for name, f := range casctest.FS(after) {
		if name == ".build.info" || strings.HasPrefix(name, "Data/config") {
			f.ModTime = f.ModTime.AddDate(1, 0, 0)
			fsys[name] = f
		}
	}
	if _, ok := st.NewBuild(); ok {
		t.Error("a new build before it was looked for")
	}
	if _, err := st.Refresh(); err != nil {
		t.Fatal(err)
	}
	if b, ok := st.NewBuild(); !ok || b.BuildKey == st.Build.BuildKey {
		t.Errorf("%+v, %v", b, ok)
	}
	if got, err := readPath(t.Context(), tree, "files/second"); err != nil || string(got) != "the second file" {
		t.Errorf("%q, %v", got, err)
	}
	newer := fsys[".build.info"]
	for _, years := range []int{2, 0} { // written again, or put back with its time
		fsys[".build.info"] = newer
		if _, err := st.Refresh(); err != nil {
			t.Fatal(err)
		}
		if _, ok := st.NewBuild(); !ok {
			t.Error("the new build is not told")
		}
		back := casctest.FS(before)[".build.info"]
		back.ModTime = back.ModTime.AddDate(years, 0, 0)
		fsys[".build.info"] = back
		if _, err := st.Refresh(); err != nil {
			t.Fatal(err)
		}
		if b, ok := st.NewBuild(); ok {
			t.Errorf("after %d years the build that is open is back, and a new one is told: %+v", years, b)
		}
	}
}

// TestBecomesLocal adds the data of a file that was not local.
func TestBecomesLocal(t *testing.T) {
	files := twoFiles(t, "the second file")
	late := maps.Clone(files)
	delete(late, archive)
	// The root must be readable, so that only files go.
	g := casctest.New()
	s := g.Add([]byte("late"))
	for range 10 {
		g.Add(bltetest.Noise(20, uint64(len(g.Stored))))
	}
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "late", CKey: s.CKey}})))
	all, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	early := maps.Clone(all)
	delete(early, archive)
	fsys := casctest.FS(early)
	tree, st := openBoth(t, fsys, casc.Options{}, casctree.Options{})
	if _, err := lookup(t.Context(), tree, "files/late"); !errors.Is(err, nodes.ErrNotExist) {
		t.Fatalf("before it is there: %v", err)
	}
	notLocal := func(want string) {
		got, err := readPath(t.Context(), tree, "casc.json")
		if err != nil || !regexp.MustCompile(`"not_local": +`+want+",").Match(got) {
			t.Errorf("%s, %v, want %s not local", got, err, want)
		}
	}
	notLocal("1")
	become(fsys, all)
	if changed, err := st.Refresh(); !changed || err != nil {
		t.Fatalf("%v, %v", changed, err)
	}
	if got, err := readPath(t.Context(), tree, "files/late"); err != nil || string(got) != "late" {
		t.Errorf("%q, %v", got, err)
	}
	notLocal("0")
}

// TestDamagedChunk damages one chunk: its file fails and is reported once, with the place,
// and the others are read.
func TestDamagedChunk(t *testing.T) {
	files := twoFiles(t, "the second file")
	data := bytes.Clone(files[archive])
	data[bytes.Index(data, []byte("second file"))] ^= 1
	files[archive] = data
	var log bytes.Buffer
	tree := open(t, casctest.FS(files), casc.Options{}, casctree.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		got, err := readPath(t.Context(), tree, "files/second")
		fault, ok := errors.AsType[*blte.FormatError](err)
		if !ok || fault.Chunk != 0 || len(got) > 0 {
			t.Errorf("%q, %v", got, err)
		}
		if errors.Is(err, nodes.ErrChanged) || errors.Is(err, nodes.ErrUnavailable) || errors.Is(err, nodes.ErrNoKey) {
			t.Errorf("%v is not what it is", err)
		}
	}
	for _, part := range []string{"file=files/second", "data.000 at 0x", "chunk 0", "MD5"} {
		if strings.Count(log.String(), part) == 0 {
			t.Errorf("the log does not say %q: %s", part, &log)
		}
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("it was told of %d times", n)
	}
	for _, name := range []string{"first", "last"} {
		if got, err := readPath(t.Context(), tree, "files/"+name); err != nil || string(got) != "the "+name+" file" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestWrongKey has keys, some of which make a plain chunk of other content: no byte of it
// is returned, by any path.
func TestWrongKey(t *testing.T) {
	testneeds.Seconds(t)
	salsa := &blte.Encryption{Name: bltetest.KeyName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	g := casctest.New()
	s := g.AddChunks("e:{8877665544332211,01020304,n}", blte.WriteOptions{}, blte.Chunk{Content: bltetest.Text(50), Encrypt: salsa, Key: bltetest.Key()})
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "secret", CKey: s.CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	plain := 0
	for i := range 1000 {
		if i >= 50 && plain > 0 {
			break
		}
		key := blte.EncryptionKey{byte(i), byte(i >> 8)}
		tree := open(t, casctest.FS(files), casc.Options{Keys: blte.KeyRing{bltetest.KeyName: key}}, casctree.Options{})
		for _, name := range []string{"files/secret", "content/" + s.CKey.String()[:2] + "/" + s.CKey.String()} {
			got, err := readPath(t.Context(), tree, name)
			if err == nil || len(got) > 0 || errors.Is(err, nodes.ErrChanged) || errors.Is(err, nodes.ErrNoKey) {
				t.Fatalf("key %x: %s: %q, %v", key, name, got, err)
			}
			if strings.Contains(err.Error(), "a key that it is decrypted with is wrong") {
				plain++
			}
		}
	}
	if plain == 0 {
		t.Error("no key made a plain chunk")
	}
}

// TestDamagedAllAlong reads a damaged file after an update that did not touch it: the error
// does not say that it changed.
func TestDamagedAllAlong(t *testing.T) {
	files := twoFiles(t, "the second file")
	data := bytes.Clone(files[archive])
	data[bytes.Index(data, []byte("second file"))] ^= 1
	files[archive] = data
	fsys := casctest.FS(files)
	tree, st := openBoth(t, fsys, casc.Options{}, casctree.Options{})
	fsys[archive].ModTime = fsys[archive].ModTime.AddDate(1, 0, 0)
	if changed, err := st.Refresh(); !changed || err != nil || st.Updates() != 1 {
		t.Fatalf("%v, %v, %d updates", changed, err, st.Updates())
	}
	for range 2 {
		got, err := readPath(t.Context(), tree, "files/second")
		if _, ok := errors.AsType[*blte.FormatError](err); !ok || len(got) > 0 || errors.Is(err, nodes.ErrChanged) {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// TestOtherForm damages each of two encoded forms of one content in turn: the other is read
// instead.
func TestOtherForm(t *testing.T) {
	g := casctest.New()
	content := bltetest.Text(500)
	forms := []write.Stored{
		g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: content[:250]}, blte.Chunk{Content: content[250:]}), g.Add(content),
	}
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "twice", CKey: forms[0].CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range forms {
		at := bytes.Index(files[archive], s.Encoded)
		for _, off := range []int{1, 20, len(s.Encoded) - 3} {
			damaged := maps.Clone(files)
			damaged[archive] = bytes.Clone(files[archive])
			damaged[archive][at+off] ^= 1
			tree := open(t, casctest.FS(damaged), casc.Options{}, casctree.Options{})
			for _, name := range []string{"files/twice", "content/" + s.CKey.String()[:2] + "/" + s.CKey.String()} {
				if got, err := readPath(t.Context(), tree, name); err != nil || !bytes.Equal(got, content) {
					t.Errorf("form %d, byte %d damaged: %s: %d bytes, %v", i, off, name, len(got), err)
				}
			}
		}
	}
}
