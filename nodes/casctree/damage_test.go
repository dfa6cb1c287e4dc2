package casctree_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
)

// flipPage damages a page of content keys or of encoding keys of the encoding file, in
// place. The encoding file is the last that was stored.
func flipPage(t *testing.T, files write.Files, encoded bool, page int) {
	t.Helper()
	for name, data := range files {
		if !strings.Contains(name, "/data.") {
			continue
		}
		if !bytes.Contains(data, []byte("EN\x01\x10\x10\x00\x04\x00\x04")) {
			continue
		}
		st, err := casc.Open(casctest.FS(files), casc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		from, _, _ := st.Encoding().ContentRange(page)
		if encoded {
			from = firstEncoded(t, st, page)
		}
		data = bytes.Clone(data)
		data[bytes.LastIndex(data, from[:])+20] ^= 1 // before it are lists of pages and of keys
		files[name] = data
		return
	}
	t.Fatal("no encoding file")
}

// firstEncoded returns the first encoding key of a page.
func firstEncoded(t *testing.T, st *casc.Storage, page int) keys.Key {
	t.Helper()
	for row, err := range st.Encoding().EncodedRows(t.Context(), page, page+1) {
		if err != nil {
			t.Fatal(err)
		}
		return row.EKey
	}
	t.Fatal("an empty page")
	return keys.Key{}
}

// manyFiles makes a storage of n small files with names, whose sizes the root does not
// state.
func manyFiles(t *testing.T, n int) (write.Files, map[string]string) {
	t.Helper()
	g := casctest.New()
	var text strings.Builder
	want := map[string]string{}
	for i := range n {
		name, content := fmt.Sprintf("f%04d", i), fmt.Sprintf("content of %d", i)
		text.WriteString(name + "|" + g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: []byte(content)}).CKey.String() + "\n")
		want["files/"+name] = content
	}
	g.Root(g.Add([]byte(text.String())))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	return files, want
}

// checkAll reads all files, and returns the errors of those that can't be read. The others
// must be as wanted.
func checkAll(t *testing.T, tree nodes.Tree, want map[string]string) (failed map[string]error) {
	t.Helper()
	found := listed(t, tree, "files")
	failed = map[string]error{}
	for name, content := range want {
		e, ok := found[name]
		if !ok {
			t.Errorf("%s is not listed", name)
			continue
		}
		got, err := readAll(t.Context(), tree, e)
		switch {
		case err != nil:
			failed[name] = err
		case string(got) != content:
			t.Errorf("%s: %q", name, got)
		}
	}
	if len(found) != len(want) {
		t.Errorf("%d files, want %d", len(found), len(want))
	}
	return failed
}

// TestDamagedContentPage damages a page of the encoding file: its files are listed and fail
// with its error, all others are read.
func TestDamagedContentPage(t *testing.T) {
	files, want := manyFiles(t, 500)
	for _, page := range []int{0, 2, 4} {
		damaged := maps.Clone(files)
		flipPage(t, damaged, false, page)
		kept := newStore()
		tree, st := openBoth(t, casctest.FS(damaged), casc.Options{}, casctree.Options{Index: kept})
		failed := checkAll(t, tree, want)
		text := fmt.Sprintf(": reading page %d: ", page)
		from, to, last := st.Encoding().ContentRange(page)
		for name, content := range want {
			ckey := write.Key([]byte(content))
			inside := ckey.Compare(from) >= 0 && (last || ckey.Compare(to) < 0)
			err := failed[name]
			if inside != (err != nil) || err != nil && (!strings.Contains(err.Error(), text) || errors.Is(err, nodes.ErrUnavailable)) {
				t.Errorf("page %d: %s: %v", page, name, err)
			}
		}
		if len(failed) < 10 || len(failed) > 200 {
			t.Errorf("page %d: %d files can't be read", page, len(failed))
		}
		if p := tree.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), text) {
			t.Errorf("page %d: problems %v", page, p)
		}
		if kept.saves > 0 {
			t.Errorf("page %d: the table is kept", page)
		}
		if text, err := readPath(t.Context(), tree, "casc.json"); err != nil || !strings.Contains(string(text), "its files are listed, and can't be read") {
			t.Errorf("page %d: %s, %v", page, text, err)
		}
		lines, err := readPath(t.Context(), tree, "manifests/encoding/000000.jsonl")
		if err != nil || bytes.Count(lines, []byte(`{"page":`)) != 1 || bytes.Count(lines, []byte("\n")) < 300 {
			t.Errorf("page %d: %d bytes of lines, %v", page, len(lines), err)
		}
	}
}

// TestDamagedEncodedPage damages pages that only say how files are encoded: all files are
// read, and encrypted ones are still counted.
func TestDamagedEncodedPage(t *testing.T) {
	g := casctest.New()
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	var text strings.Builder
	want := map[string]string{}
	for i := range 400 {
		name, content := fmt.Sprintf("f%04d", i), fmt.Sprintf("content of %d", i)
		var s write.Stored
		if i%40 == 0 {
			s = g.AddChunks("b:{*=e:{1122334455667788,01020304,n}}", blte.WriteOptions{}, blte.Chunk{Content: []byte(content), Encrypt: secret, Key: bltetest.Key()})
		} else {
			s = g.Add([]byte(content))
		}
		text.WriteString(name + "|" + s.CKey.String() + "\n")
		want["files/"+name] = content
	}
	g.Root(g.Add([]byte(text.String())))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	for page := range 3 {
		damaged := maps.Clone(files)
		flipPage(t, damaged, true, page)
		kept := newStore()
		tree := open(t, casctest.FS(damaged), casc.Options{}, casctree.Options{Index: kept})
		for name, err := range checkAll(t, tree, want) {
			if !errors.Is(err, nodes.ErrNoKey) {
				t.Errorf("page %d: %s: %v", page, name, err)
			}
		}
		if len(tree.Problems()) != 1 || kept.saves > 0 {
			t.Errorf("page %d: %v, saved %d times", page, tree.Problems(), kept.saves)
		}
		about, err := readPath(t.Context(), tree, "casc.json")
		if err != nil || !strings.Contains(string(about), `"encrypted_without_key":         10`) {
			t.Errorf("page %d: %s, %v", page, about, err)
		}
	}
}

// TestDamagedRoot has roots that are damaged or missing: everything but the names is there,
// with the names of the install manifest.
func TestDamagedRoot(t *testing.T) {
	for _, root := range []string{"wow 3", "text", "tvfs", "diablo3", "mndx 2"} {
		for _, damage := range []string{"flipped", "absent", "no install manifest"} {
			g := casctest.New()
			g.Fill(t)
			if damage != "no install manifest" {
				g.Ref("install", g.Add(write.Install(1, []manifests.InstallEntry{{Name: "Read Me.txt", CKey: g.ByName["readme.txt"].CKey}})))
			}
			casctest.Roots[root](g)
			last := &g.Stored[len(g.Stored)-1]
			last.Absent = damage == "absent"
			last.Encoded = bytes.Clone(last.Encoded)
			last.Encoded[len(last.Encoded)-1] ^= 1
			files, err := g.Install()
			if err != nil {
				t.Fatal(err)
			}
			kept := newStore()
			tree, st := openBoth(t, casctest.FS(files), casc.Options{}, casctree.Options{Index: kept, Missing: true})
			problems := errors.Join(tree.Problems()...)
			if problems == nil || !strings.Contains(problems.Error(), "names are missing") || kept.saves > 0 {
				t.Errorf("%s, %s: %v, saved %d times", root, damage, problems, kept.saves)
			}
			if about, err := readPath(t.Context(), tree, "casc.json"); err != nil || !strings.Contains(string(about), "names are missing") {
				t.Errorf("%s, %s: %s, %v", root, damage, about, err)
			}
			var want []string
			if damage != "no install manifest" {
				want = []string{"files/Read Me.txt"}
			}
			if found := slices.Collect(maps.Keys(listed(t, tree, "files"))); !slices.Equal(found, want) {
				t.Errorf("%s, %s: %v, want %v", root, damage, found, want)
			}
			for _, f := range g.Files() {
				name := f.CKey.String()
				want := g.Want[f.Name]
				if want == nil || g.Secret[f.Name] {
					continue
				}
				if got, err := readPath(t.Context(), tree, "content/"+name[:2]+"/"+name); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %s: %s: %d bytes, %v", root, damage, f.Name, len(got), err)
				}
			}
			if n := len(listed(t, tree, "manifests/encoding")); n != 1 {
				t.Errorf("%s, %s: %d files of the encoding file", root, damage, n)
			}
			listed(t, tree, "manifests/root")
			told := false
			for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
				told = told || strings.Contains(f.What, "root: ")
				if err != nil {
					t.Errorf("%s, %s: %v", root, damage, err)
				}
			}
			if !told {
				t.Errorf("%s, %s: verify does not name the root", root, damage)
			}
		}
	}
}

// TestOddFiles has impossible files in a virtual file system: they are listed, and reading
// says what is wrong.
func TestOddFiles(t *testing.T) {
	g := casctest.New()
	one := g.Add([]byte("one"))
	good := root.Span{EKey: one.EKey, CKey: one.CKey, Size: 3, ContentSize: 3}
	bad := good
	bad.Size = 77
	files := []root.File{{Name: "good", Spans: []root.Span{good}}, {Name: "bad", Spans: []root.Span{bad}}, {Name: "bad", Spans: []root.Span{good, bad}}}
	g.Ref("vfs-root", g.Add(write.TVFS(files)))
	made, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	kept := newStore()
	tree := open(t, casctest.FS(made), casc.Options{}, casctree.Options{Index: kept})
	failed := checkAll(t, tree, map[string]string{"files/good": "one", "files/bad": "", "files/bad%~2": ""})
	for name, span := range map[string]string{"files/bad": "span 0: 77 bytes", "files/bad%~2": "span 1: 77 bytes"} {
		if err := failed[name]; err == nil || !strings.Contains(err.Error(), span) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(failed) != 2 || len(tree.Problems()) != 2 || kept.saves > 0 {
		t.Errorf("%v, %v, saved %d times", failed, tree.Problems(), kept.saves)
	}
	lines, err := readPath(t.Context(), tree, path.Join("manifests", "root", "000000.jsonl"))
	if err != nil || bytes.Count(lines, []byte(`"error":`)) != 2 {
		t.Errorf("%s, %v", lines, err)
	}
}

// TestRootDamagedLater damages a root of which the table is kept: each file of its manifest that
// is listed says so, and none is empty.
func TestRootDamagedLater(t *testing.T) {
	for _, install := range []bool{false, true} {
		g := casctest.New()
		s := g.Add([]byte("content"))
		if install {
			g.Ref("install", g.Add(write.Install(1, []manifests.InstallEntry{{Name: "Read Me.txt", CKey: s.CKey, Size: s.Size}})))
		}
		const rows = 9000 // in three files
		var files []root.File
		for i := range rows {
			files = append(files, root.File{Name: fmt.Sprintf("f%05d", i), CKey: s.CKey})
		}
		root := g.Add(write.TextRoot(files))
		g.Root(root)
		stored, err := g.Install()
		if err != nil {
			t.Fatal(err)
		}
		kept := newStore()
		open(t, casctest.FS(stored), casc.Options{}, casctree.Options{Index: kept})
		damaged := maps.Clone(stored)
		for name, data := range stored {
			if at := bytes.Index(data, root.Encoded); at >= 0 && len(data) > len(root.Encoded) {
				data = bytes.Clone(data)
				data[at+len(root.Encoded)-1] ^= 1
				damaged[name] = data
			}
		}
		tree := open(t, casctest.FS(damaged), casc.Options{}, casctree.Options{Index: kept})
		if kept.saves != 1 || kept.hits == 0 {
			t.Fatalf("install %v: the table was saved %d times, and %d times taken", install, kept.saves, kept.hits)
		}
		all, pages := lines(t, tree, "root")
		told := 0
		for _, l := range all {
			if l["error"] != nil {
				told++
			}
		}
		if pages != 3 || told != 3 {
			t.Errorf("install %v: %d files, of which %d say that the root is damaged", install, pages, told)
		}
		for name, e := range listed(t, tree, "manifests/root") {
			if e.Size < 3 {
				t.Errorf("install %v: %s has %d bytes", install, name, e.Size)
			}
		}
	}
}
