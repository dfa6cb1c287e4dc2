package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
	"lorefs/cmd/internal/cli"
	"lorefs/internal/testneeds"
)

// oddStorage is a storage with correct encoding and odd content, and what commands must show
// of it.
type oddStorage struct {
	files write.Files
	list  []byte
	// names are all files below files/, and sums the MD5 sums of some.
	names []string
	sums  map[string]string
	// told is what info, ls and status must say, and findings the lines of verify. They may
	// be empty.
	told     string
	findings []string
	// fallback means that names are missing.
	fallback bool
}

const (
	fallenBack = "names are missing, for the root can't be read, and those of the install manifest stand for them: root: "
	laterWoW   = "not supported: casc: WoW root: offset 0x8: version "
)

// numbered returns names with the numbers from 0 on.
func numbered(form string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf(form, i))
	}
	return names
}

// oddFixtures returns the odd storages among the fixtures, as their README describes them.
func oddFixtures() map[string]func(t *testing.T) oddStorage {
	var dirs []string
	for i := range 20 {
		dirs = append(dirs, fmt.Sprintf("data/dir%d/file%d.txt", i%3, i))
	}
	all := map[string]oddStorage{
		"m-wowv3future": {names: numbered("world/f%d.blp", 5), told: fallenBack + laterWoW + "3", fallback: true},
		"m-wowvfs":      {names: numbered("data/f%d.txt", 20), told: "root: " + laterWoW + "3"},
		"m-wowh32":      {names: numbered("world/f%d.blp", 30)},
		"m-wowh32v1":    {names: numbered("world/f%d.blp", 30)},
		"m-wowh24":      {names: numbered("world/f%d.blp", 30)},
		"m-mndxbad":     {names: numbered("data/f%d.txt", 5), told: fallenBack + "not supported: casc: MNDX root: ", fallback: true},
		"m-owbad":       {names: numbered("data/f%d.txt", 5), told: fallenBack + "casc: Overwatch root: offset 0x0: ", fallback: true},
		"m-badrow": {
			names: numbered("f%d.txt", 10), told: "text root: offset 0xc8: ",
			findings: []string{"damaged: casc: text root: offset 0xc8: ", "damaged: casc: text root: offset 0x109: "},
		},
		"m-tvfs8": {names: dirs},
		"m-tvfs5": {names: dirs},
		"m-wowdup": {
			names: []string{
				"bin/wow.exe", "bin/wow.exe%~2", "chars/undead.m2", "chars/undead.m2%~2", "dbfilesclient/map.db2", "dbfilesclient/map.db2%~2",
				"dbfilesclient/map.db2%~3", "dbfilesclient/map.db2%~4", "movies/x.avi", "movies/x.avi%~2", "sound/a.ogg", "sound/a.ogg%~2",
			},
			sums: map[string]string{
				"chars/undead.m2": "33dbc99d34740779f37d632846e1dc2c", "chars/undead.m2%~2": "0c7a6f9efbf84969f4a42f3795513153",
				"sound/a.ogg": "4798a5ce98c40cc866b34cec866fd410", "sound/a.ogg%~2": "4ee166bb86409141773f70b8c4f49720",
				"movies/x.avi": "09a5890e87b564af52567e257af34494",
			},
		},
		"m-noenc": {names: numbered("f%d.txt", 6), findings: []string{"missing: files/f2.txt: content key e6813be6874658a7e3f3ade0bf00edbc is not in the encoding file; "}},
		"m-twoforms": {
			names: []string{"one.txt", "two.txt"}, findings: []string{"damaged: data.000 at 0x1fe: encoding key "},
			sums: map[string]string{"one.txt": "bcf7a50445d2b3c4de5c01e2e823a734", "two.txt": "0ac0edbded5d95edbbdf7c5e80b9a3ab"},
		},
		"m-text": {
			names: []string{
				"%2E%2E/%2E%2E/etc/passwd", "Assets/snd.wav:deDE", "Assets/snd.wav:enUS", "Dir/File.TXT", "Dir/OTHER.txt", "Dir/file.txt",
				"a/%2E/b/%2E%2E/c.txt", "abs/x.txt", "back/slash/x.txt", "dirfile%~0", "dirfile/inner.txt", "locales/enUS/Assets/a.txt",
				"long/" + strings.Repeat("L", 221) + "%~x2325d8e89494fa63", "pct%2520x.txt", "same.txt", "same.txt%~2", "space in name /x .txt ", "tab\tname.txt",
				"trail./x", "umlaut/größe Ä.txt",
			},
			findings: []string{"missing: files/nokey.txt: content key abababababababababababababababab "},
		},
	}
	odd := map[string]func(t *testing.T) oddStorage{}
	for name, o := range all {
		odd[name] = func(t *testing.T) oddStorage {
			t.Helper()
			f := casctest.LoadOdd(t, name)
			o.files, o.list = f.Store, f.Beside["listfile.csv"]
			return o
		}
	}
	return odd
}

// oddBuilt returns storages like these, made here.
func oddBuilt() map[string]func(t *testing.T) oddStorage {
	content := func(i int) []byte { return fmt.Appendf(nil, "this is file %d, and some more of it\n", i) }
	// build makes a game of ten files; add adds the root.
	build := func(o oddStorage, add func(g *casctest.Game, files []root.File)) func(t *testing.T) oddStorage {
		return func(t *testing.T) oddStorage {
			t.Helper()
			g := casctest.New()
			var list strings.Builder
			for i, name := range numbered("lore/f%d.txt", 10) {
				g.Put(name, content(i), g.Add(content(i)))
			}
			files := g.Files()
			for i := range files {
				files[i].Flags, files[i].Locale = 0, root.LocaleEnUS
				fmt.Fprintf(&list, "%d;%s\n", files[i].ID, files[i].Name)
			}
			g.Ref("install", g.Add(write.Install(1, []manifests.InstallEntry{{Name: `Sub\Read Me.txt`, CKey: files[0].CKey, Size: files[0].Size}})))
			add(g, files)
			var err error
			if o.files, err = g.Install(); err != nil {
				t.Fatal(err)
			}
			o.list = []byte(list.String())
			return o
		}
	}
	rooted := func(data func(files []root.File) []byte) func(*casctest.Game, []root.File) {
		return func(g *casctest.Game, files []root.File) { g.Root(g.Add(data(files))) }
	}
	later := func(files []root.File) []byte {
		data := write.WoWRoot(3, files)
		data[8] = 7
		return data
	}
	lore, fallback := numbered("lore/f%d.txt", 10), []string{"Sub/Read Me.txt"}
	return map[string]func(t *testing.T) oddStorage{
		"wow of a later version": build(oddStorage{names: fallback, told: fallenBack + laterWoW + "7", fallback: true}, rooted(later)),
		"wow of a later version, and vfs": build(oddStorage{names: lore, told: "root: " + laterWoW + "7"}, func(g *casctest.Game, files []root.File) {
			rooted(later)(g, files)
			g.Ref("vfs-root", g.Add(write.TVFS(files)))
		}),
		"wow with a longer header": build(oddStorage{names: lore}, rooted(func(files []root.File) []byte {
			data := write.WoWRoot(2, files)
			data[4] = 32
			return slices.Insert(data, 24, make([]byte, 8)...)
		})),
		"mndx": build(oddStorage{names: fallback, told: fallenBack + "casc: MNDX root: ", fallback: true}, rooted(func([]root.File) []byte {
			data := write.MNDX(2, []write.MNDXFile{{Package: "base", Name: "a"}})
			return data[:len(data)/2]
		})),
		"overwatch": build(oddStorage{names: fallback, told: fallenBack + "casc: Overwatch root: ", fallback: true}, rooted(func([]root.File) []byte {
			return []byte("#MD5|SIZE|NAME\nabc|1|x\n")
		})),
		"diablo3": build(oddStorage{names: fallback, told: fallenBack + "casc: Diablo III root: ", fallback: true}, rooted(func([]root.File) []byte {
			return write.Diablo3([]write.Diablo3Entry{{Name: "Base"}})[:20]
		})),
		"install": build(oddStorage{names: fallback, told: fallenBack + "casc: install manifest: ", fallback: true}, rooted(func([]root.File) []byte {
			return write.Install(1, []manifests.InstallEntry{{Name: "x"}})[:12]
		})),
		"tvfs": build(oddStorage{names: fallback, told: strings.TrimSuffix(fallenBack, "root: ") + "vfs-root: casc: TVFS: ", fallback: true}, func(g *casctest.Game, files []root.File) {
			g.Ref("vfs-root", g.Add(write.TVFS(files)[:50]))
		}),
		"text with a bad line": build(oddStorage{names: lore, told: "text root: offset 0x0: "}, rooted(func(files []root.File) []byte {
			return append([]byte("garbage\n"), write.TextRoot(files)...)
		})),
		"tvfs in lower case": build(oddStorage{names: lore}, func(g *casctest.Game, files []root.File) {
			g.Ref("vfs-root", g.Add(write.TVFSOf(write.TVFSCKeys|write.TVFSLowerCase, files)))
		}),
		"tvfs of patches": build(oddStorage{names: lore}, func(g *casctest.Game, files []root.File) {
			g.Ref("vfs-root", g.Add(write.TVFSOf(write.TVFSCKeys|write.TVFSPatches, files)))
		}),
		"tvfs with a file that the encoding file lacks": build(oddStorage{
			names: lore, findings: []string{"missing: files/lore/f3.txt: content key 09000000000000000000000000000000 is not in the encoding file; "},
		}, func(g *casctest.Game, files []root.File) {
			files[3].Spans[0].CKey = keys.Key{9}
			g.Ref("vfs-root", g.Add(write.TVFS(files)))
		}),
		"wow of variants": build(oddStorage{
			names: []string{"lore/f0.txt", "lore/f0.txt%~2", "lore/f0.txt%~3"}, sums: map[string]string{"lore/f0.txt": write.Key(content(2)).String()},
		}, rooted(func(files []root.File) []byte {
			for i := range 3 {
				files[i].ID = files[0].ID
			}
			files[0].Flags, files[1].Flags = root.ContentLowViolence, root.ContentDontLoad
			return write.WoWRoot(3, files[:3])
		})),
		"text with a form that is damaged": build(oddStorage{
			names: lore, sums: map[string]string{"lore/f4.txt": write.Key(content(4)).String()}, findings: []string{"damaged: data.000 at "},
		}, func(g *casctest.Game, files []root.File) {
			s := &g.Stored[4]
			s.Encoded = bytes.Clone(s.Encoded)
			s.Encoded[len(s.Encoded)-1] ^= 1
			g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: content(4)})
			rooted(write.TextRoot)(g, files)
		}),
	}
}

// write writes the storage, and returns its folder and flags.
func (o *oddStorage) write(t *testing.T) (dir string, flags []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "game")
	if err := o.files.Write(dir); err != nil {
		t.Fatal(err)
	}
	if o.list != nil {
		list := filepath.Join(filepath.Dir(dir), "list.csv")
		if err := os.WriteFile(list, o.list, 0o600); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--listfile="+list)
	}
	return dir, flags
}

// eachOdd runs a test for each odd storage.
func eachOdd(t *testing.T, run func(t *testing.T, o oddStorage)) {
	t.Helper()
	for _, all := range []map[string]func(t *testing.T) oddStorage{oddFixtures(), oddBuilt()} {
		for name, load := range all {
			t.Run(name, func(t *testing.T) { run(t, load(t)) })
		}
	}
}

// TestCASCOdd checks what every command does with odd storages.
func TestCASCOdd(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.Alone(t)
	t.Parallel()
	eachOdd(t, func(t *testing.T, o oddStorage) {
		dir, flags := o.write(t)
		with := func(args ...string) []string { return append(args, flags...) }
		said := func(what, talk string) {
			t.Helper()
			if o.told == "" && talk != "" || !strings.Contains(talk, o.told) {
				t.Errorf("%s says %.500q, want %q", what, talk, o.told)
			}
		}
		out, talk, code := tool(t, with("info", dir)...)
		if code != cli.ExitOK || strings.Contains(out, "\nproblem ") != (o.told != "") || !strings.Contains(out, o.told) {
			t.Errorf("info: %d, %.500s", code, out)
		}
		said("info", talk)

		want := cli.ExitOK
		if o.fallback {
			want = cli.ExitFailure
		}
		var names []string
		for dirs := []string{"files"}; len(dirs) > 0; dirs = dirs[1:] {
			out, talk, code := tool(t, with("ls", "-l", dir, dirs[0])...)
			if code != want {
				t.Errorf("ls -l %s: %d, want %d", dirs[0], code, want)
			}
			said("ls", talk)
			for line := range strings.Lines(out) {
				m := listLine.FindStringSubmatch(line)
				switch at := path.Join(dirs[0], lastOf(m)); {
				case m == nil:
					t.Errorf("ls -l %s: %q", dirs[0], line)
				case m[1] == "dir":
					dirs = append(dirs, at)
				default:
					names = append(names, strings.TrimPrefix(at, "files/"))
				}
			}
		}
		sameNames(t, "ls", names, o.names)

		out, talk, code = tool(t, with("verify", dir)...)
		found := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		wanted := o.findings
		if wanted == nil && o.told != "" {
			wanted = []string{o.told}
		}
		switch {
		case wanted == nil:
			if code != cli.ExitOK || out != "" {
				t.Errorf("verify: %d, %s%s", code, out, talk)
			}
		case code != cli.ExitFailure || !slices.EqualFunc(found, wanted, strings.Contains):
			t.Errorf("verify: %d, %.500q, want %q", code, found, wanted)
		}
	})
}

// listLine is a line of ls -l.
var listLine = regexp.MustCompile(`^(dir|file) +\d+ \S+ \S+ (.*)\n$`)

func lastOf(m []string) string {
	if m == nil {
		return ""
	}
	return m[len(m)-1]
}

func sameNames(t *testing.T, by string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s has %q, want %q", by, got, want)
	}
}
