package casc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/config"
	"lorefs/casc/internal/root/tvfs"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/testneeds"
)

// tryDamaged opens a damaged storage and reads all files. It returns what was reported, or
// nil if nothing was and all files are right.
func tryDamaged(t *testing.T, g game, opts casc.Options, files write.Files) error {
	t.Helper()
	st, err := casc.Open(casctest.FS(files), opts)
	if err != nil {
		return err
	}
	err = g.check(st)
	if closed := st.Close(); closed != nil {
		t.Error(closed)
	}
	return err
}

// TestEveryFlip flips bits of all files of storages. Each flip must be reported or do no
// harm: no wrong byte may be returned, and nothing may be missing silently.
func TestEveryFlip(t *testing.T) {
	step, most, forms := 67, 60, []struct{ root, form string }{
		{"tvfs", "install"}, {"text", "mirror"}, {"wow 3", "install"}, {"tvfs", "mirror of group"}, {"diablo3", "install"}, {"mndx 2", "install"},
	}
	if testneeds.Quick() {
		step, most, forms = 201, 15, forms[:2]
	}
	for _, form := range forms {
		g, files := makeGame(t, form.root, form.form)
		opts := g.options(t)
		told, harmless := 0, 0
		for k, name := range slices.Sorted(maps.Keys(files)) {
			// Files of a kind are flipped at different places.
			apart := max(step, len(files[name])/most)
			for i := 29 * k % min(apart, max(1, len(files[name]))); i < len(files[name]); i += apart {
				damaged := maps.Clone(files)
				damaged[name] = bytes.Clone(files[name])
				damaged[name][i] ^= 1 << (i % 8)
				err := tryDamaged(t, g, opts, damaged)
				if errors.Is(err, errWrong) {
					t.Fatalf("%v: byte %d of %s flipped: %v", form, i, name, err)
				}
				if err == nil {
					harmless++
				} else {
					told++
				}
				if err == nil && !harmlessIn(name, i) {
					t.Errorf("%v: byte %d of %s flipped: nothing is said", form, i, name)
				}
			}
		}
		if told < 20 {
			t.Errorf("%v: only %d damages were told of, %d did no harm", form, told, harmless)
		}
	}
}

// harmlessIn reports whether a flip may do no harm, because the byte is not needed.
func harmlessIn(name string, off int) bool {
	switch {
	case name == ".build.info":
		return true // names of columns, the region
	case strings.HasSuffix(name, "shmem"):
		return true
	case strings.HasSuffix(name, ".idx"):
		return off >= 0x18 // what is not hashed
	case strings.Contains(name, "/data."):
		return true // span headers, and files that are not named
	}
	return strings.HasPrefix(name, "data/") // loose files that are not named
}

// TestEveryCut cuts all files of a storage, and removes each.
func TestEveryCut(t *testing.T) {
	g, files := makeGame(t, "wow 2", "install")
	opts := g.options(t)
	for name, data := range files {
		for _, n := range []int{0, 1, 20, 39, 100, len(data) / 2, len(data) - 1} {
			damaged := maps.Clone(files)
			if n >= 0 && n < len(data) {
				damaged[name] = data[:n]
			}
			if err := tryDamaged(t, g, opts, damaged); errors.Is(err, errWrong) {
				t.Errorf("%s cut at %d: %v", name, n, err)
			}
		}
		damaged := maps.Clone(files)
		delete(damaged, name)
		err := tryDamaged(t, g, opts, damaged)
		if errors.Is(err, errWrong) || err == nil && !strings.HasSuffix(name, "shmem") && name != ".build.info" {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// TestWhatIsSaid checks whole texts of errors of a storage.
func TestWhatIsSaid(t *testing.T) {
	g := newGame()
	s := g.Add([]byte("content"))
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "x", CKey: s.CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	chunk := s.Encoded[36:]
	at := bytes.Index(files["Data/data/data.000"], chunk)
	damaged := maps.Clone(files)
	damaged["Data/data/data.000"] = bytes.Clone(files["Data/data/data.000"])
	damaged["Data/data/data.000"][at+3] ^= 1
	sum := write.Key(damaged["Data/data/data.000"][at : at+len(chunk)])
	st, err := casc.Open(casctest.FS(damaged), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = st.Content(t.Context(), s.CKey)
	where := fmt.Sprintf("encoding key %v, data.000 at %#x: ", s.EKey, at-36)
	want := "byte 0 of 7: casc: " + where + "blte: offset 0x24: chunk 0: the MD5 is " + sum.String() + ", the table has " + write.Key(chunk).String()
	if err == nil || err.Error() != want {
		t.Errorf("chunk: %v, want %s", err, want)
	}
	damaged["Data/data/data.000"][at-2] ^= 1
	_, err = st.Content(t.Context(), s.CKey)
	head := write.Key(damaged["Data/data/data.000"][at-36 : at])
	want = "casc: content key " + s.CKey.String() + ": " + where + "blte: offset 0x0: header: the encoding key is " +
		head.String() + ", expected " + s.EKey.String()
	if err == nil || err.Error() != want {
		t.Errorf("header: %v, want %s", err, want)
	}
}

// TestNoBuild opens folders that are no storage, or lack something that one needs.
func TestNoBuild(t *testing.T) {
	_, install := makeGame(t, "text", "install")
	_, mirror := makeGame(t, "text", "mirror")
	without := func(f write.Files, part string) write.Files {
		f = maps.Clone(f)
		maps.DeleteFunc(f, func(name string, _ []byte) bool { return strings.Contains(name, part) })
		return f
	}
	twoBuilds := maps.Clone(mirror)
	other := []byte("encoding = 1 2\n")
	twoBuilds[config.Path("config", write.Key(other))] = other
	for name, c := range map[string]struct {
		files write.Files
		opts  casc.Options
		want  string
	}{
		"nothing":       {write.Files{}, casc.Options{}, "casc: no folder with a folder config in it"},
		"no data":       {without(install, "/data/"), casc.Options{}, "casc: no folder data in Data"},
		"no configs":    {without(install, "/config/"), casc.Options{}, "casc: no folder with a folder config in it"},
		"other product": {install, casc.Options{Product: "d3"}, ""},
		"two builds":    {twoBuilds, casc.Options{}, "casc: no .build.info, and 2 build configurations; give the key of one: "},
		"no index":      {without(mirror, ".index"), casc.Options{}, "root: casc: content key"},
	} {
		st, err := casc.Open(casctest.FS(c.files), c.opts)
		if c.want == "" {
			if err != nil { // its rows have no product: they are of any
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil {
			_, err = st.Files(t.Context())
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	build := keys.Key{}
	for name, data := range mirror {
		if strings.HasPrefix(name, "config/") && bytes.Contains(data, []byte("encoding =")) {
			build = write.Key(data)
		}
	}
	if _, err := casc.Open(casctest.FS(twoBuilds), casc.Options{BuildKey: build}); err != nil {
		t.Errorf("two builds, one wanted: %v", err)
	}
}

// TestTVFSInItself nests a manifest in itself.
func TestTVFSInItself(t *testing.T) {
	name := root.File{Name: "again", Spans: []root.Span{{EKey: keys.Key{1}, Size: 1, ContentSize: 1}}}
	data := write.TVFS([]root.File{name})
	r, err := tvfs.Parse(data, always(data))
	if err != nil {
		t.Fatal(err)
	}
	r.Nest(keys.Key{1})
	n := 0
	for f, err := range r.Files() {
		if err != nil || f.Err != nil {
			t.Error(f, err)
		}
		n++
	}
	want := "nested manifest again:again:: casc: TVFS: offset 0x0: it is nested in itself"
	if p := r.Problems(); n != 2 || len(p) != 1 || p[0].Error() != want {
		t.Errorf("%d files, %v", n, p)
	}
}

// oddTVFS opens a storage with damaged entries in its manifest. It returns the names of the
// other files, those of the damaged ones, and the reported problems.
func oddTVFS(t *testing.T, damage func(data []byte) []byte) (good, odd []string, problems []error) {
	t.Helper()
	var files []root.File
	for _, name := range []string{"a/one", "a/two", "b/one", "b/two", "c"} {
		files = append(files, root.File{Name: name, Spans: []root.Span{{EKey: keys.Key{byte(len(files) + 1)}, Size: 5, ContentSize: 5}}})
	}
	r, err := tvfs.Parse(damage(write.TVFS(files)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range r.Files() {
		switch {
		case err != nil:
			t.Error(err)
		case f.Err != nil:
			odd = append(odd, f.Name)
		default:
			good = append(good, f.Name)
		}
	}
	return good, odd, r.Problems()
}

// TestTVFSOdd damages entries of a manifest: each is reported, and all other files are
// there.
func TestTVFSOdd(t *testing.T) {
	// at finds a table: 0 is path, 1 vfs, 2 containers.
	at := func(b []byte, table int) []byte { return b[binary.BigEndian.Uint32(b[12+8*table:]):] }
	for name, c := range map[string]struct {
		damage   func(b []byte)
		good     string
		odd      string
		problems int
	}{
		"whole":                   {func([]byte) {}, "a/one a/two b/one b/two c", "", 0},
		"size beyond content":     {func(b []byte) { at(b, 1)[8] = 9 }, "a/two b/one b/two c", "a/one", 1},
		"no such container":       {func(b []byte) { at(b, 1)[9] = 0xFF }, "a/two b/one b/two c", "a/one", 1},
		"no such spans":           {func(b []byte) { b[bytes.Index(b, []byte("two\xFF"))+4] = 1 }, "a/one b/one b/two c", "a/two", 1},
		"a name without end":      {func(b []byte) { b[bytes.Index(b, []byte("\x03two"))] = 0xF0 }, "a/one b/one b/two c", "", 1},
		"a folder without end":    {func(b []byte) { b[bytes.Index(b, []byte("b\x00\xFF"))+4] = 9 }, "a/one a/two", "", 1},
		"spans that are cut":      {func(b []byte) { b[12+8+7] -= 3 }, "a/one a/two b/one b/two", "c", 1},
		"containers that are cut": {func(b []byte) { b[12+16+7] -= 3 }, "a/one a/two b/one b/two", "c", 1},
	} {
		good, odd, problems := oddTVFS(t, func(b []byte) []byte { c.damage(b); return b })
		if strings.Join(good, " ") != c.good || strings.Join(odd, " ") != c.odd || len(problems) != c.problems {
			t.Errorf("%s: %v, odd are %v, %v", name, good, odd, problems)
		}
	}
}

// TestTVFSOddNested has an odd file in a nested manifest.
func TestTVFSOddNested(t *testing.T) {
	g := newGame()
	a, b := g.Add([]byte("one")), g.Add([]byte("two"))
	span := func(s write.Stored) []root.Span {
		return []root.Span{{EKey: s.EKey, CKey: s.CKey, Size: s.Size, ContentSize: s.Size}}
	}
	bad := span(b)
	bad[0].Size = 1000
	nested := g.Add(write.TVFS([]root.File{{Name: "bad", Spans: bad}, {Name: "good", Spans: span(b)}}))
	g.Ref("vfs-root", g.Add(write.TVFS([]root.File{{Name: "sub", Spans: span(nested)}, {Name: "x", Spans: span(a)}})))
	g.Ref("vfs-1", nested)
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	st, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := st.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, f := range all {
		c, err := st.Open(t.Context(), &f)
		if err == nil {
			var text []byte
			text, err = c.ReadAll(t.Context(), 1000)
			said[f.Name] = string(text)
		}
		if err != nil {
			said[f.Name] = err.Error()
		}
	}
	const why = "casc: sub:bad: casc: TVFS: offset 0x39: span 0: 1000 bytes at 0 of a content of 3"
	if len(said) != 4 || said["x"] != "one" || said["sub:good"] != "two" || said["sub:bad"] != why {
		t.Errorf("%q", said)
	}
	if p := st.Problems(); len(p) != 1 || "casc: "+p[0].Error() != why {
		t.Errorf("%v", p)
	}
	var found []string
	for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
		if err != nil {
			t.Error(err)
		}
		found = append(found, f.File+"|"+f.What)
	}
	if want := []string{"sub:bad|" + why[len("casc: sub:bad: "):], "|" + why[6:]}; !slices.Equal(found, want) {
		t.Errorf("%q", found)
	}
}

// always is a loader that has one file only.
type always []byte

func (a always) Content(keys.Key) ([]byte, error) { return a, nil }
func (a always) Encoded([]byte) ([]byte, error)   { return a, nil }
