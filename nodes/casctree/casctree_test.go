package casctree_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/config"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
	"lorefs/nodes/nodetest"
)

// TestConformance runs the suite of all trees over storages of every root.
func TestConformance(t *testing.T) {
	for root := range casctest.Roots {
		t.Run(root, func(t *testing.T) {
			_, files, sopts, opts := makeGame(t, root, "install")
			opts.Missing = true
			nodetest.Run(t, open(t, casctest.FS(files), sopts, opts))
		})
	}
}

// TestGames looks for all files of storages of every root and form.
func TestGames(t *testing.T) {
	for root := range casctest.Roots {
		for form := range casctest.Builds {
			g, files, sopts, opts := makeGame(t, root, form)
			tree := open(t, casctest.FS(files), sopts, opts)
			found := listed(t, tree, "files")
			for name, want := range g.Want {
				p := pathOf(root, name)
				e, ok := found[p]
				delete(found, p)
				if ok != (want != nil) {
					t.Errorf("%s, %s: %s is listed: %v", root, form, p, ok)
				}
				if !ok {
					continue
				}
				got, err := readAll(t.Context(), tree, e)
				if g.Secret[name] {
					if !errors.Is(err, nodes.ErrNoKey) {
						t.Errorf("%s, %s: %s: %v, want ErrNoKey", root, form, p, err)
					}
					continue
				}
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %s: %s: %d bytes, want %d: %v", root, form, p, len(got), len(want), err)
				}
				other, err := lookup(t.Context(), tree, "files/"+strings.ToUpper(strings.TrimPrefix(p, "files/")))
				if err != nil || other.ID != e.ID || other.Name != e.Name {
					t.Errorf("%s, %s: %s in upper case: %+v, %v", root, form, p, other, err)
				}
			}
			for p := range found {
				t.Errorf("%s, %s: %s is listed", root, form, p)
			}
		}
	}
}

// TestMissing shows files that are not local.
func TestMissing(t *testing.T) {
	for root := range casctest.Roots {
		g, files, sopts, opts := makeGame(t, root, "install")
		opts.Missing = true
		tree := open(t, casctest.FS(files), sopts, opts)
		absent := 0
		for name, want := range g.Want {
			if want != nil {
				continue
			}
			absent++
			e, err := lookup(t.Context(), tree, pathOf(root, name))
			if err != nil || e.Size != 50 && root[:3] != "wow" {
				t.Errorf("%s: %s: %+v, %v", root, name, e, err)
				continue
			}
			if _, err := tree.ReadAt(t.Context(), e.ID, make([]byte, 1), 0); !errors.Is(err, nodes.ErrUnavailable) {
				t.Errorf("%s: %s: %v, want ErrUnavailable", root, name, err)
			}
		}
		if absent != 1 {
			t.Errorf("%s: %d files are not local", root, absent)
		}
	}
}

// TestContent finds every stored file by its content key.
func TestContent(t *testing.T) {
	g, files, sopts, opts := makeGame(t, "wow 3", "install")
	tree := open(t, casctest.FS(files), sopts, opts)
	contents := map[keys.Key][]byte{}
	for name, content := range g.Want {
		contents[g.ByName[name].CKey] = content
	}
	for _, s := range g.Stored[:len(g.Stored)-1] { // the last is the encoding file, which does not have itself
		name := s.CKey.String()
		e, err := lookup(t.Context(), tree, "content/"+name[:2]+"/"+strings.ToUpper(name))
		if err != nil || e.Size != s.Size || e.Name != name {
			t.Fatalf("%s: %+v, %v", name, e, err)
		}
		if attr, err := tree.Attr(t.Context(), e.ID); err != nil || attr.Size != s.Size {
			t.Errorf("%s: %+v, %v", name, attr, err)
		}
		got, err := readAll(t.Context(), tree, e)
		switch {
		case s.Absent:
			if !errors.Is(err, nodes.ErrUnavailable) {
				t.Errorf("%s: %v, want ErrUnavailable", name, err)
			}
		case errors.Is(err, nodes.ErrNoKey):
			if !g.Secret["secret/plan.txt"] || s.CKey != g.ByName["secret/plan.txt"].CKey {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || write.Key(got) != s.CKey:
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"content/zz", "content/0", "content/00/x", "content/01/" + strings.Repeat("00", 16), "content/00/" + strings.Repeat("00", 16)} {
		if _, err := lookup(t.Context(), tree, name); !errors.Is(err, nodes.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDescription compares casc.json with the game.
func TestDescription(t *testing.T) {
	_, files, sopts, opts := makeGame(t, "wow 3", "install")
	opts.ListFiles = opts.ListFiles[:0]
	tree := open(t, casctest.FS(files), sopts, opts)
	data, err := readPath(t.Context(), tree, "casc.json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version, Root               string
		BuildConfig                 string `json:"build_config"`
		RootEntries                 int    `json:"root_entries"`
		NotLocal                    int    `json:"not_local"`
		NoKey                       int    `json:"encrypted_without_key"`
		Named, Unnamed, Undescribed int
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	g := casctest.New()
	g.Fill(t)
	n := len(g.Want)
	if got.Version != "1.0.0.1" || got.Root != "wow" || len(got.BuildConfig) != 32 || got.RootEntries != n ||
		got.Named != 0 || got.Unnamed != n || got.NotLocal != 1 || got.NoKey != 1 {
		t.Errorf("%s", data)
	}
}

// TestConfig compares config/ with the files themselves.
func TestConfig(t *testing.T) {
	_, files, sopts, opts := makeGame(t, "text", "install")
	tree := open(t, casctest.FS(files), sopts, opts)
	for name, e := range listed(t, tree, "config") {
		got, err := readAll(t.Context(), tree, e)
		if err != nil {
			t.Fatal(err)
		}
		at := ".build.info"
		if name != "config/build.info" {
			at = "Data/" + config.Path("config", write.Key(got))
		}
		if !bytes.Equal(got, files[at]) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if n := len(listed(t, tree, "config")); n != 3 {
		t.Errorf("%d files", n)
	}
}

// TestInstall has tags, and an entry without any.
func TestInstall(t *testing.T) {
	g := casctest.New()
	a, b := g.Add([]byte("program")), g.Add([]byte("library"))
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "x", CKey: a.CKey}})))
	g.Ref("install", g.Add(write.Install(1, []manifests.InstallEntry{
		{Name: `Bin\Game.exe`, CKey: a.CKey, Size: 7}, {Name: "Game.dll", CKey: b.CKey, Size: 7}, {Name: "rest", CKey: b.CKey, Size: 7},
	}, write.Tag{Name: "Windows", Type: manifests.TagPlatform, Entries: []int{0, 1}}, write.Tag{Name: "en/US", Type: manifests.TagLocale, Entries: []int{1}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	tree := open(t, casctest.FS(files), casc.Options{}, casctree.Options{})
	found := listed(t, tree, "install")
	for name, want := range map[string]string{
		"install/Windows/Bin/Game.exe": "program", "install/Windows/Game.dll": "library", "install/en%2FUS/Game.dll": "library", "install/%/rest": "library",
	} {
		e, ok := found[name]
		got, err := readAll(t.Context(), tree, e)
		if !ok || err != nil || string(got) != want {
			t.Errorf("%s: %v, %q, %v", name, ok, got, err)
		}
	}
	if len(found) != 4 {
		t.Errorf("%v", found)
	}
}

// TestNames has names that must be escaped, duplicate names, and names in two spellings.
func TestNames(t *testing.T) {
	g := casctest.New()
	var text strings.Builder
	add := func(name, content string) {
		text.WriteString(name + "|" + g.Add([]byte(content)).CKey.String() + "\n")
	}
	long := strings.Repeat("ü", 150)
	add("Data/a.txt", "1")
	add("data/B.TXT", "2")
	add("DATA/b.txt", "3")
	add("data/b.txt", "4")
	add("data/b.txt", "3")
	add("data/100%", "5")
	add("data/../x", "6")
	add("data//y", "7")
	add("data/dir", "8")
	add("data/dir/in", "9")
	add("data/"+long, "10")
	add("data/Ärger", "11")
	add("data/nul\x00", "12")
	add("top", "13")
	g.Root(g.Add([]byte(text.String())))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	tree := open(t, casctest.FS(files), casc.Options{}, casctree.Options{})
	found := listed(t, tree, "files")
	for name, want := range map[string]string{
		"a.txt": "1", "B.TXT": "2", "b.txt": "3", "b.txt%~2": "4", "100%25": "5", "%2E%2E/x": "6", "%/y": "7", "dir%~0": "8", "dir/in": "9",
		"Ärger": "11", "nul%00": "12", "../top": "13",
	} {
		name = "files/Data/" + name
		if name == "files/Data/../top" {
			name = "files/top"
		}
		e, ok := found[name]
		delete(found, name)
		got, err := readAll(t.Context(), tree, e)
		if !ok || err != nil || string(got) != want {
			t.Errorf("%s: %v, %q, %v; want %s", name, ok, got, err, want)
		}
	}
	for name := range found {
		if !strings.HasPrefix(name, "files/Data/üüü") || !strings.Contains(name, "ü%~x") || len(name) > 11+255 {
			t.Errorf("%q is listed", name)
		}
	}
	if len(found) != 1 {
		t.Errorf("%d files too many", len(found)-1)
	}
	for name, want := range map[string]string{"files/dAtA/A.Txt": "1", "FILES/data/B.txt": "2", "files/data/ärger": "11", "files/DATA/DIR": ""} {
		e, err := lookup(t.Context(), tree, name)
		if want == "" {
			if err != nil || e.Kind != nodes.Dir {
				t.Errorf("%s: %+v, %v", name, e, err)
			}
			continue
		}
		if got, err := readAll(t.Context(), tree, e); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	nodetest.Run(t, tree)
}

// TestLocales has one ID for two languages.
func TestLocales(t *testing.T) {
	g := casctest.New()
	german, english := g.Add([]byte("Hallo")), g.Add([]byte("Hello"))
	g.Root(g.Add(write.WoWRoot(3, []root.File{
		{ID: 7, CKey: german.CKey, Locale: root.LocaleDeDE},
		{ID: 7, CKey: english.CKey, Locale: root.LocaleEnUS},
		{ID: 0x123456, CKey: english.CKey, Locale: root.LocaleEnUS},
		{ID: 0x123456, CKey: english.CKey, Locale: root.LocaleEnGB},
	})))
	g.Tags = "Windows deDE speech?"
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	list := casctree.Options{ListFiles: []casctree.ListFile{listFile("7;dir\\hello.txt")}}
	for locale, want := range map[root.Locale]map[string]string{
		0:               {"files/dir/hello.txt": "Hallo", "files/dir/hello.txt%~2": "Hello", "unnamed/0012/00123456.dat": "Hello"},
		root.LocaleEnUS: {"files/dir/hello.txt": "Hello", "unnamed/0012/00123456.dat": "Hello"},
		root.LocaleDeDE: {"files/dir/hello.txt": "Hallo"},
	} {
		tree := open(t, casctest.FS(files), casc.Options{Locale: locale}, list)
		found := listed(t, tree, "files")
		if locale != root.LocaleDeDE {
			maps.Copy(found, listed(t, tree, "unnamed"))
		}
		for name, e := range found {
			got, err := readAll(t.Context(), tree, e)
			if err != nil || want[name] != string(got) {
				t.Errorf("%v: %s: %q, %v", locale, name, got, err)
			}
		}
		if len(found) != len(want) {
			t.Errorf("%v: %d files", locale, len(found))
		}
	}
}
