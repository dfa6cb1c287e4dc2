package casc_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
)

// game is a small storage with what is in it.
type game struct {
	casctest.Builder
	// want is the content by name; nil for files that are not local.
	want map[string][]byte
	// secret are names of files that are encrypted with a key that nobody has.
	secret map[string]bool
	// stored are the files by name, in the order of names.
	names  []string
	stored map[string]casctest.Stored
}

func newGame() *game {
	return &game{want: map[string][]byte{}, secret: map[string]bool{}, stored: map[string]casctest.Stored{}}
}

func (g *game) put(name string, content []byte, s casctest.Stored) {
	g.want[name], g.stored[name] = content, s
	g.names = append(g.names, name)
}

// fill adds files of several kinds.
func (g *game) fill(tb testing.TB) {
	for i, name := range []string{"readme.txt", "data/units/Orc.xml", "data/units/human.xml", "data/sound/a.ogg", "maps/one.w3m"} {
		content := bltetest.Text(100*i + 7*i)
		g.put(name, content, g.Add(content))
	}
	for i, s := range bltetest.Samples(tb) {
		if len(s.File) > 8000 || strings.HasPrefix(s.Name, "frame") {
			continue
		}
		key, err := blte.FileKey(s.File)
		if err != nil {
			tb.Fatal(err)
		}
		st := casctest.Stored{CKey: casctest.Key(s.Content), EKey: key, Size: int64(len(s.Content)), Encoded: s.File, Spec: "unknown"}
		g.Stored = append(g.Stored, st)
		g.put(fmt.Sprintf("samples/%02d %s.bin", i, s.Name), append([]byte{}, s.Content...), st)
	}
	absent := bltetest.Noise(50, 99)
	g.put("absent/far.bin", nil, g.AddAbsent(absent))
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	content := bltetest.Text(60)
	s := g.AddChunks("b:{*=e:{1122334455667788,01020304,n}}", blte.WriteOptions{}, blte.Chunk{Content: content, Encrypt: secret, Key: bltetest.Key()})
	g.put("secret/plan.txt", content, s)
	g.secret["secret/plan.txt"] = true
}

// files are the files as a root has them, by name.
func (g *game) files() (files []casc.File) {
	names := slices.Clone(g.names)
	slices.Sort(names)
	for i, name := range names {
		s := g.stored[name]
		f := casc.File{
			Name: name, CKey: s.CKey, Size: s.Size, ID: uint32(100 + 3*i), NameHash: casc.NameHash(name), Locale: casc.LocaleEnUS,
			Spans: []casc.Span{{EKey: s.EKey, CKey: s.CKey, Size: s.Size, ContentSize: s.Size}},
		}
		if i%2 == 1 {
			f.Flags, f.Locale = casc.ContentEncrypted, casc.LocaleEnUS|casc.LocaleDeDE
		}
		files = append(files, f)
	}
	return files
}

// roots add the root of a kind to a filled game.
var roots = map[string]func(*game){
	"wow 0":     func(g *game) { g.Root(g.Add(casctest.WoWRoot(0, g.files()))) },
	"wow 1":     func(g *game) { g.Root(g.Add(casctest.WoWRoot(1, g.files()))) },
	"wow 2":     func(g *game) { g.Root(g.Add(casctest.WoWRoot(2, g.files()))) },
	"wow 3":     func(g *game) { g.Root(g.Add(casctest.WoWRoot(3, g.files()))) },
	"text":      func(g *game) { g.Root(g.Add(casctest.TextRoot(g.files()))) },
	"tvfs":      addTVFS,
	"overwatch": func(g *game) { g.Root(g.Add(casctest.Overwatch(g.files()))) },
	"mndx 1":    func(g *game) { g.addMNDX(1) },
	"mndx 2":    func(g *game) { g.addMNDX(2) },
	"diablo3":   addDiablo3,
	"install": func(g *game) {
		var entries []casc.InstallEntry
		for _, f := range g.files() {
			entries = append(entries, casc.InstallEntry{Name: strings.ReplaceAll(f.Name, "/", `\`), CKey: f.CKey, Size: f.Size})
		}
		g.Ref("install", g.Add(casctest.Install(1, entries)))
	},
}

// addTVFS puts a half of the files into a nested manifest, and adds files of
// several spans.
func addTVFS(g *game) {
	files := g.files()
	half := len(files) / 2
	nested := g.Add(casctest.TVFS(files[:half]))
	for _, f := range files[:half] {
		content, secret := g.want[f.Name], g.secret[f.Name]
		delete(g.want, f.Name)
		g.want["sub.mod:"+f.Name], g.secret["sub.mod:"+f.Name] = content, secret
	}
	a, b := g.Add([]byte("first part, ")), g.Add([]byte("the second part"))
	spans := []casc.Span{
		{EKey: a.EKey, CKey: a.CKey, Size: a.Size, ContentSize: a.Size},
		{EKey: b.EKey, CKey: b.CKey, Size: 6, Off: 4, ContentSize: b.Size},
		{EKey: a.EKey, CKey: a.CKey, Size: 5, ContentSize: a.Size},
	}
	g.want["spans/of content"] = []byte("first part, secondfirst")
	inFile := slices.Clone(spans[:2])
	inFile[1] = casc.Span{EKey: b.EKey, CKey: b.CKey, Size: b.Size, Off: a.Size, ContentSize: b.Size}
	g.want["spans/of file"] = []byte("first part, the second part")
	rest := append(files[half:], casc.File{Name: "spans/of content", Spans: spans}, casc.File{Name: "spans/of file", Spans: inFile},
		casc.File{Name: "sub.mod", Spans: []casc.Span{{EKey: nested.EKey, CKey: nested.CKey, Size: nested.Size, ContentSize: nested.Size}}})
	g.want["sub.mod:"] = casctest.TVFS(files[:half])
	g.Ref("vfs-root", g.Add(casctest.TVFS(rest)))
	g.Ref("vfs-1", nested)
}

func (g *game) addMNDX(version uint32) {
	var files []casctest.MNDXFile
	for _, f := range g.files() {
		pack, name, ok := strings.Cut(f.Name, "/")
		if !ok {
			pack, name = "base", f.Name
			g.want["base/"+name] = g.want[name]
			delete(g.want, name)
		}
		files = append(files, casctest.MNDXFile{Package: pack, Name: name, CKey: f.CKey, Size: f.Size})
	}
	g.Root(g.Add(casctest.MNDX(version, files)))
}

func addDiablo3(g *game) {
	var base, other []casctest.Diablo3Entry
	names := map[uint32]string{}
	for i, f := range g.files() {
		e := casctest.Diablo3Entry{CKey: f.CKey, ID: uint32(i)}
		content, secret := g.want[f.Name], g.secret[f.Name]
		delete(g.want, f.Name)
		name := fmt.Sprintf("enUS/%d/0007", i)
		switch i % 4 {
		case 0:
			e.Name, name = `Sub\`+f.Name, "Base/Sub/"+f.Name
			base = append(base, e)
		case 1:
			names[uint32(i)], name = fmt.Sprintf("Hero %d", i), fmt.Sprintf("enUS/SoundBank/Hero %d.sbk", i)
			other = append(other, e)
		case 2:
			e.Numbered, e.Number = true, 12
			names[uint32(i)], name = "Angel", "enUS/SoundBank/Angel/0012.fsb"
			if i > 2 {
				names[uint32(i)], name = fmt.Sprintf("Angel %d", i), fmt.Sprintf("enUS/SoundBank/Angel %d/0012.sbk", i)
			}
			other = append(other, e)
		default:
			e.Numbered, e.Number = true, 7
			other = append(other, e)
		}
		g.want[name], g.secret[name] = content, secret
	}
	toc, packages := casctest.CoreTOC(0x29, names), casctest.Packages(`SoundBank\Angel\0012.fsb`)
	base = append(base,
		casctest.Diablo3Entry{CKey: g.Add(toc).CKey, Name: "CoreTOC.dat"},
		casctest.Diablo3Entry{CKey: g.Add(packages).CKey, Name: `Data_D3\PC\Misc\Packages.dat`})
	g.want["Base/CoreTOC.dat"], g.want["Base/Data_D3/PC/Misc/Packages.dat"] = toc, packages
	g.Root(g.Add(casctest.Diablo3([]casctest.Diablo3Entry{
		{CKey: g.Add(casctest.Diablo3Folder(base)).CKey, Name: "Base"}, {CKey: g.Add(casctest.Diablo3Folder(other)).CKey, Name: "enUS"},
	})))
}

func (g *game) options(tb testing.TB) casc.Options {
	tb.Helper()
	var list strings.Builder
	for i, f := range g.files() {
		if i%3 == 0 {
			fmt.Fprintf(&list, "%d;%s\n", f.ID, f.Name)
		} else {
			fmt.Fprintf(&list, "%s\r\n", f.Name)
		}
	}
	names, err := casc.ParseListFile([]byte(list.String()))
	if err != nil {
		tb.Fatal(err)
	}
	return casc.Options{Keys: bltetest.Keys(), Names: names}
}

// check reads all files of a storage and gives what is not as it should be.
func (g *game) check(st *casc.Storage) error {
	files, err := st.Files()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	var errs []error
	for _, f := range files {
		seen[f.Name] = true
		if err := g.checkFile(st, &f); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.Name, err))
		}
	}
	for name := range g.want {
		if !seen[name] {
			errs = append(errs, fmt.Errorf("%s is not listed", name))
		}
	}
	if len(seen) != len(g.want) {
		errs = append(errs, fmt.Errorf("%d files, want %d", len(seen), len(g.want)))
	}
	return errors.Join(append(errs, st.Problems()...)...)
}

// errWrong is wrapped by the worst: bytes that are not the file's.
var errWrong = errors.New("WRONG BYTES")

func (g *game) checkFile(st *casc.Storage, f *casc.File) error {
	want, state, cause := g.want[f.Name], casc.StateLocal, error(nil)
	switch {
	case g.secret[f.Name]:
		state, cause = casc.StateNoKey, blte.ErrNoKey
	case want == nil:
		state, cause = casc.StateNotLocal, casc.ErrNotLocal
	}
	info, err := st.Stat(f)
	if err != nil {
		return err
	}
	if info.State != state || want != nil && info.Size != int64(len(want)) {
		return fmt.Errorf("%+v, want %v of %d bytes", info, state, len(want))
	}
	c, err := st.Open(f)
	if err == nil {
		var got []byte
		if got, err = c.ReadAll(1 << 20); err == nil && !bytes.Equal(got, want) {
			return errWrong
		}
	}
	if !errors.Is(err, cause) || (err == nil) != (cause == nil) {
		return fmt.Errorf("reading it: %w; want %w", err, cause)
	}
	return nil
}

// builds are the forms that a game can be put into.
var builds = map[string]func(*game) (casctest.Files, error){
	"install":         func(g *game) (casctest.Files, error) { return g.Install() },
	"mirror":          func(g *game) (casctest.Files, error) { return g.Mirror(false) },
	"mirror of group": func(g *game) (casctest.Files, error) { return g.Mirror(true) },
}

func makeGame(tb testing.TB, root, form string) (*game, casctest.Files) {
	tb.Helper()
	g := newGame()
	g.fill(tb)
	roots[root](g)
	files, err := builds[form](g)
	if err != nil {
		tb.Fatal(err)
	}
	return g, files
}
