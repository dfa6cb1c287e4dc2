package casctree_test

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
	"lorefs/nodes/casctree"
)

// TestVariants puts files of one ID into blocks of different flags, in every order. The
// file that the game loads has the name, then follow the others in the order of their ranks
// and of the root, for a listed name and for one by ID only.
func TestVariants(t *testing.T) {
	plain, audio := root.ContentWindows, root.ContentNoCompression
	lowViolence, dontLoad := root.ContentLowViolence, root.ContentDontLoad|root.ContentWindows
	for order := range permutations([]root.ContentFlags{plain, audio, lowViolence, dontLoad}) {
		g := casctest.New()
		var files []root.File
		for _, id := range []uint32{7, 9} {
			for _, flags := range order {
				s := g.Add(fmt.Appendf(nil, "%d of flags %x", id, flags))
				locale := root.LocaleEnUS
				if flags == plain {
					locale = root.LocaleDeDE // language is not what counts first
				}
				files = append(files, root.File{ID: id, CKey: s.CKey, Flags: flags | root.ContentNoNames, Locale: locale})
			}
		}
		g.Root(g.Add(write.WoWRoot(3, files)))
		install, err := g.Install()
		if err != nil {
			t.Fatal(err)
		}
		list := "7;Chars/Undead.m2\n"
		tree, st := openBoth(t, casctest.FS(install), casc.Options{}, casctree.Options{ListFiles: []casctree.ListFile{listFile(list)}})
		want := []root.ContentFlags{plain, audio}
		for _, flags := range order {
			if flags != plain && flags != audio {
				want = append(want, flags)
			}
		}
		for id, name := range map[int]string{7: "files/Chars/Undead.m2", 9: "unnamed/0000/00000009.dat"} {
			for i, flags := range want {
				at := name
				if i > 0 {
					at += fmt.Sprintf("%%~%d", i+1)
				}
				if got, text := textAt(t, tree, at), fmt.Sprintf("%d of flags %x", id, flags); got != text {
					t.Errorf("in the order %x, %s is %q, want %q", order, at, got, text)
				}
			}
		}
		if p := st.Problems(); len(p) > 0 {
			t.Error(p)
		}
	}
}

// permutations yields all orders of some flags.
func permutations(flags []root.ContentFlags) iter.Seq[[]root.ContentFlags] {
	return func(yield func([]root.ContentFlags) bool) {
		if len(flags) == 0 {
			yield(nil)
			return
		}
		for i, first := range flags {
			rest := slices.Delete(slices.Clone(flags), i, i+1)
			for order := range permutations(rest) {
				if !yield(append([]root.ContentFlags{first}, order...)) {
					return
				}
			}
		}
	}
}

func textAt(t *testing.T, tree *casctree.Tree, at string) string {
	t.Helper()
	e, err := lookup(t.Context(), tree, at)
	if err != nil {
		t.Error(err)
		return ""
	}
	b, err := readAll(t.Context(), tree, e)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// TestFormWithoutKey checks that a file with an unknown key in one form is not counted as
// lacking a key if another form does without.
func TestFormWithoutKey(t *testing.T) {
	for _, whole := range []bool{false, true} {
		g := casctest.New()
		content := []byte("in two forms")
		secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
		s := g.AddChunks("b:{*=e:{1122334455667788,01020304,n}}", blte.WriteOptions{}, blte.Chunk{Content: content, Encrypt: secret, Key: bltetest.Key()})
		if whole {
			g.Add(content)
		}
		g.Root(g.Add(write.TextRoot([]root.File{{Name: "a", CKey: s.CKey}})))
		install, err := g.Install()
		if err != nil {
			t.Fatal(err)
		}
		tree := open(t, casctest.FS(install), casc.Options{}, casctree.Options{})
		text := textAt(t, tree, "casc.json")
		if strings.Contains(text, `"encrypted_without_key":          0`) != whole {
			t.Errorf("with another form, %v: %s", whole, text)
		}
		if whole && textAt(t, tree, "files/a") != string(content) {
			t.Error("it is not read from the other form")
		}
	}
}

// TestLocaleFallback asks for British English and for the Portuguese of Portugal: the language
// that stands for them is taken only for what is not there in them.
func TestLocaleFallback(t *testing.T) {
	for want, stand := range map[root.Locale]root.Locale{root.LocaleEnGB: root.LocaleEnUS, root.LocalePtPT: root.LocalePtBR} {
		g := casctest.New()
		var files []root.File
		add := func(id uint32, flags root.ContentFlags, locales ...root.Locale) {
			for _, l := range locales {
				s := g.Add(fmt.Appendf(nil, "%d %v %x", id, l, flags))
				files = append(files, root.File{ID: id, CKey: s.CKey, Flags: flags | root.ContentNoNames, Locale: l})
			}
		}
		add(1, 0, root.LocaleDeDE, stand, want)
		add(2, 0, stand, root.LocaleDeDE)
		add(3, 0, root.LocaleDeDE, want)
		add(4, 0, root.LocaleDeDE)
		add(5, root.ContentNoCompression, want) // the game would load the other one
		add(5, 0, stand)
		// What is not installed has a stand-in, if that is.
		absent := func(id uint32, l root.Locale) {
			s := g.AddAbsent(fmt.Appendf(nil, "%d %v far", id, l))
			files = append(files, root.File{ID: id, CKey: s.CKey, Flags: root.ContentNoNames, Locale: l})
		}
		absent(6, want)
		absent(6, stand)
		add(6, 0, stand)
		add(7, 0, want)
		absent(7, stand)
		g.Root(g.Add(write.WoWRoot(3, files)))
		install, err := g.Install()
		if err != nil {
			t.Fatal(err)
		}
		list := "1;both\n2;stand\n3;own\n4;other\n5;rank\n6;far\n7;near\n"
		for _, c := range []struct {
			locale root.Locale
			want   map[string]string
		}{
			{want, map[string]string{
				"both": fmt.Sprintf("1 %v 0", want), "stand": fmt.Sprintf("2 %v 0", stand), "own": fmt.Sprintf("3 %v 0", want),
				"rank": fmt.Sprintf("5 %v 0", stand), "rank%~2": fmt.Sprintf("5 %v %x", want, root.ContentNoCompression),
				"far": fmt.Sprintf("6 %v 0", stand), "near": fmt.Sprintf("7 %v 0", want),
			}},
			{stand, map[string]string{
				"both": fmt.Sprintf("1 %v 0", stand), "stand": fmt.Sprintf("2 %v 0", stand), "rank": fmt.Sprintf("5 %v 0", stand),
				"far%~2": fmt.Sprintf("6 %v 0", stand),
			}},
		} {
			names, err := root.ParseListFile([]byte(list))
			if err != nil {
				t.Fatal(err)
			}
			tree, st := openBoth(t, casctest.FS(install), casc.Options{Locale: c.locale, Names: names}, casctree.Options{ListFiles: []casctree.ListFile{listFile(list)}})
			if n := len(listed(t, tree, "files")); n != len(c.want) {
				t.Errorf("%v: %d files, want %d", c.locale, n, len(c.want))
			}
			for name, text := range c.want {
				if got := textAt(t, tree, "files/"+name); got != text {
					t.Errorf("%v: %s is %q, want %q", c.locale, name, got, text)
				}
				f, err := st.Lookup(t.Context(), strings.TrimSuffix(name, "%~2"))
				if err != nil || !strings.Contains(name, "%") && name != "far" && f.CKey != write.Key([]byte(text)) {
					t.Errorf("%v: Lookup of %s: %v, %v", c.locale, name, f.CKey, err)
				}
			}
		}
	}
}

// TestReplacedNames checks that a root with languages in its names shows a file for a language that
// stands for the wanted one only where there is none for that itself.
func TestReplacedNames(t *testing.T) {
	g := casctest.New()
	var files []root.File
	for _, name := range []string{"both:enUS", "Both:engb", "one:enUS", "plain", "german:deDE"} {
		files = append(files, root.File{Name: name, CKey: g.Add([]byte(name)).CKey})
	}
	files = append(files,
		root.File{Name: "far:enUS", CKey: g.Add([]byte("here")).CKey},
		root.File{Name: "far:enGB", CKey: g.AddAbsent([]byte("not here")).CKey})
	g.Root(g.Add(write.TextRoot(files)))
	install, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	for locale, want := range map[root.Locale][]string{
		root.LocaleEnGB: {"files/Both:engb", "files/far:enUS", "files/one:enUS", "files/plain"},
		root.LocaleEnUS: {"files/both:enUS", "files/far:enUS", "files/one:enUS", "files/plain"},
	} {
		tree := open(t, casctest.FS(install), casc.Options{Locale: locale}, casctree.Options{})
		if got := slices.Sorted(maps.Keys(listed(t, tree, "files"))); !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", locale, got, want)
		}
	}
}

// TestStandInOfMissing lists what is not installed, too: each name is there once, and leads to
// the file that is installed, if one is.
func TestStandInOfMissing(t *testing.T) {
	g := casctest.New()
	var files []root.File
	for i, has := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
		for k, l := range []root.Locale{root.LocaleEnGB, root.LocaleEnUS} {
			content := fmt.Appendf(nil, "%d %v", i, l)
			s := write.Stored{}
			if has[k] {
				s = g.Add(content)
			} else {
				s = g.AddAbsent(content)
			}
			files = append(files, root.File{ID: uint32(i), CKey: s.CKey, Flags: root.ContentNoNames, Locale: l})
		}
	}
	g.Root(g.Add(write.WoWRoot(3, files)))
	install, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	for missing, want := range map[bool][]string{
		false: {"files/british", "files/both", "files/us"},
		true:  {"files/british", "files/both", "files/neither", "files/us"},
	} {
		slices.Sort(want)
		tree := open(t, casctest.FS(install), casc.Options{Locale: root.LocaleEnGB}, casctree.Options{
			Missing: missing, ListFiles: []casctree.ListFile{listFile("0;both\n1;british\n2;us\n3;neither\n")},
		})
		var got []string
		dir, err := lookup(t.Context(), tree, "files")
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range tree.ReadDir(t.Context(), dir.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, "files/"+e.Name)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		for name, text := range map[string]string{"both": "0 enGB", "british": "1 enGB", "us": "2 enUS"} {
			if got := textAt(t, tree, "files/"+name); got != text {
				t.Errorf("%s is %q, want %q", name, got, text)
			}
		}
	}
}

// TestStandInWithoutKey counts a stand-in that is shown and has an unknown key.
func TestStandInWithoutKey(t *testing.T) {
	g := casctest.New()
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	sealed := g.AddChunks("b:{*=e:{1122334455667788,01020304,n}}", blte.WriteOptions{}, blte.Chunk{Content: []byte("us"), Encrypt: secret, Key: bltetest.Key()})
	g.Root(g.Add(write.WoWRoot(3, []root.File{
		{ID: 1, CKey: g.AddAbsent([]byte("british")).CKey, Flags: root.ContentNoNames, Locale: root.LocaleEnGB},
		{ID: 1, CKey: sealed.CKey, Flags: root.ContentNoNames, Locale: root.LocaleEnUS},
	})))
	install, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	tree := open(t, casctest.FS(install), casc.Options{Locale: root.LocaleEnGB}, casctree.Options{})
	text := textAt(t, tree, "casc.json")
	for field, n := range map[string]int{"not_local": 0, "encrypted_without_key": 1} {
		if want := fmt.Sprintf("%q: %10d", field, n); !strings.Contains(text, want) {
			t.Errorf("%s is missing from %s", want, text)
		}
	}
}
