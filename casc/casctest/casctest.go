package casctest

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
)

// FS shows the files of a storage as a file system. The bytes are shared.
func FS(f write.Files) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, data := range f {
		fsys[name] = &fstest.MapFile{Data: data, Mode: 0o444}
	}
	return fsys
}

// Game is a small storage and its contents.
type Game struct {
	write.Builder
	// Want is the content by name; nil for files that are not local.
	Want map[string][]byte
	// Secret are the names of files encrypted with a key that nobody has.
	Secret map[string]bool
	// ByName are the files by name.
	names  []string // in the order in which they were put in
	ByName map[string]write.Stored
}

// New makes a game without files.
func New() *Game {
	return &Game{Want: map[string][]byte{}, Secret: map[string]bool{}, ByName: map[string]write.Stored{}}
}

// Put names a stored file.
func (g *Game) Put(name string, content []byte, s write.Stored) {
	g.Want[name], g.ByName[name] = content, s
	g.names = append(g.names, name)
}

// Fill adds files of several kinds.
func (g *Game) Fill(tb testing.TB) {
	for i, name := range []string{"readme.txt", "data/units/Orc.xml", "data/units/human.xml", "data/sound/a.ogg", "maps/one.w3m"} {
		content := bltetest.Text(100*i + 7*i)
		g.Put(name, content, g.Add(content))
	}
	for i, s := range bltetest.Samples(tb) {
		if len(s.File) > 8000 || strings.HasPrefix(s.Name, "frame") {
			continue
		}
		key, err := blte.FileKey(s.File)
		if err != nil {
			tb.Fatal(err)
		}
		st := write.Stored{CKey: write.Key(s.Content), EKey: key, Size: int64(len(s.Content)), Encoded: s.File, Spec: "unknown"}
		g.Stored = append(g.Stored, st)
		g.Put(fmt.Sprintf("samples/%02d %s.bin", i, s.Name), append([]byte{}, s.Content...), st)
	}
	absent := bltetest.Noise(50, 99)
	g.Put("absent/far.bin", nil, g.AddAbsent(absent))
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	content := bltetest.Text(60)
	s := g.AddChunks("b:{*=e:{1122334455667788,01020304,n}}", blte.WriteOptions{}, blte.Chunk{Content: content, Encrypt: secret, Key: bltetest.Key()})
	g.Put("secret/plan.txt", content, s)
	g.Secret["secret/plan.txt"] = true
}

// Files returns the files as a root has them, by name.
func (g *Game) Files() (files []root.File) {
	names := slices.Clone(g.names)
	slices.Sort(names)
	for i, name := range names {
		s := g.ByName[name]
		f := root.File{
			Name: name, CKey: s.CKey, Size: s.Size, ID: uint32(100 + 3*i), NameHash: root.NameHash(name), Locale: root.LocaleEnUS,
			Spans: []root.Span{{EKey: s.EKey, CKey: s.CKey, Size: s.Size, ContentSize: s.Size}},
		}
		if i%2 == 1 {
			f.Flags, f.Locale = root.ContentEncrypted, root.LocaleEnUS|root.LocaleDeDE
		}
		files = append(files, f)
	}
	return files
}

// Roots add the root of a kind to a filled game.
var Roots = map[string]func(*Game){
	"wow 0":     func(g *Game) { g.Root(g.Add(write.WoWRoot(0, g.Files()))) },
	"wow 1":     func(g *Game) { g.Root(g.Add(write.WoWRoot(1, g.Files()))) },
	"wow 2":     func(g *Game) { g.Root(g.Add(write.WoWRoot(2, g.Files()))) },
	"wow 3":     func(g *Game) { g.Root(g.Add(write.WoWRoot(3, g.Files()))) },
	"text":      func(g *Game) { g.Root(g.Add(write.TextRoot(g.Files()))) },
	"tvfs":      addTVFS,
	"overwatch": func(g *Game) { g.Root(g.Add(write.Overwatch(g.Files()))) },
	"mndx 1":    func(g *Game) { g.addMNDX(1) },
	"mndx 2":    func(g *Game) { g.addMNDX(2) },
	"diablo3":   addDiablo3,
	"install": func(g *Game) {
		var entries []manifests.InstallEntry
		for _, f := range g.Files() {
			entries = append(entries, manifests.InstallEntry{Name: strings.ReplaceAll(f.Name, "/", `\`), CKey: f.CKey, Size: f.Size})
		}
		g.Ref("install", g.Add(write.Install(1, entries)))
	},
}

// addTVFS puts a half of the files into a nested manifest, and adds files of
// several spans.
func addTVFS(g *Game) {
	files := g.Files()
	half := len(files) / 2
	nested := g.Add(write.TVFS(files[:half]))
	for _, f := range files[:half] {
		content, secret := g.Want[f.Name], g.Secret[f.Name]
		delete(g.Want, f.Name)
		g.Want["sub.mod:"+f.Name], g.Secret["sub.mod:"+f.Name] = content, secret
	}
	a, b := g.Add([]byte("first part, ")), g.Add([]byte("the second part"))
	spans := []root.Span{
		{EKey: a.EKey, CKey: a.CKey, Size: a.Size, ContentSize: a.Size},
		{EKey: b.EKey, CKey: b.CKey, Size: 6, Off: 4, ContentSize: b.Size},
		{EKey: a.EKey, CKey: a.CKey, Size: 5, ContentSize: a.Size},
	}
	g.Want["spans/of content"] = []byte("first part, secondfirst")
	inFile := slices.Clone(spans[:2])
	inFile[1] = root.Span{EKey: b.EKey, CKey: b.CKey, Size: b.Size, Off: a.Size, ContentSize: b.Size}
	g.Want["spans/of file"] = []byte("first part, the second part")
	rest := append(files[half:], root.File{Name: "spans/of content", Spans: spans}, root.File{Name: "spans/of file", Spans: inFile},
		root.File{Name: "sub.mod", Spans: []root.Span{{EKey: nested.EKey, CKey: nested.CKey, Size: nested.Size, ContentSize: nested.Size}}})
	g.Want["sub.mod:"] = write.TVFS(files[:half])
	g.Ref("vfs-root", g.Add(write.TVFS(rest)))
	g.Ref("vfs-1", nested)
}

func (g *Game) addMNDX(version uint32) {
	var files []write.MNDXFile
	for _, f := range g.Files() {
		pack, name, ok := strings.Cut(f.Name, "/")
		if !ok {
			pack, name = "base", f.Name
			g.Want["base/"+name] = g.Want[name]
			delete(g.Want, name)
		}
		files = append(files, write.MNDXFile{Package: pack, Name: name, CKey: f.CKey, Size: f.Size})
	}
	g.Root(g.Add(write.MNDX(version, files)))
}

func addDiablo3(g *Game) {
	var base, other []write.Diablo3Entry
	names := map[uint32]string{}
	for i, f := range g.Files() {
		e := write.Diablo3Entry{CKey: f.CKey, ID: uint32(i)}
		content, secret := g.Want[f.Name], g.Secret[f.Name]
		delete(g.Want, f.Name)
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
		g.Want[name], g.Secret[name] = content, secret
	}
	toc, packages := write.CoreTOC(0x29, names), write.Packages(`SoundBank\Angel\0012.fsb`)
	base = append(base,
		write.Diablo3Entry{CKey: g.Add(toc).CKey, Name: "CoreTOC.dat"},
		write.Diablo3Entry{CKey: g.Add(packages).CKey, Name: `Data_D3\PC\Misc\Packages.dat`})
	g.Want["Base/CoreTOC.dat"], g.Want["Base/Data_D3/PC/Misc/Packages.dat"] = toc, packages
	g.Root(g.Add(write.Diablo3([]write.Diablo3Entry{
		{CKey: g.Add(write.Diablo3Folder(base)).CKey, Name: "Base"}, {CKey: g.Add(write.Diablo3Folder(other)).CKey, Name: "enUS"},
	})))
}

// Builds are the forms that a game can be built in.
var Builds = map[string]func(*Game) (write.Files, error){
	"install":         func(g *Game) (write.Files, error) { return g.Install() },
	"mirror":          func(g *Game) (write.Files, error) { return g.Mirror(false) },
	"mirror of group": func(g *Game) (write.Files, error) { return g.Mirror(true) },
}

// Make fills a game, and builds it in a form with a kind of root.
func Make(tb testing.TB, root, form string) (*Game, write.Files) {
	tb.Helper()
	g := New()
	g.Fill(tb)
	Roots[root](g)
	files, err := Builds[form](g)
	if err != nil {
		tb.Fatal(err)
	}
	return g, files
}

// List returns a list file of the game's names, with lines of both forms.
func (g *Game) List() string {
	var list strings.Builder
	for i, f := range g.Files() {
		if i%3 == 0 {
			fmt.Fprintf(&list, "%d;%s\n", f.ID, f.Name)
		} else {
			fmt.Fprintf(&list, "%s\r\n", f.Name)
		}
	}
	return list.String()
}

// Moved returns the files of an install after an update that moves everything: archives
// begin with by other bytes, and indexes have a higher version.
func Moved(tb testing.TB, files write.Files, by int) write.Files {
	tb.Helper()
	moved := maps.Clone(files)
	for name, data := range files {
		base := path.Base(name)
		if strings.HasPrefix(base, "data.") {
			moved[name] = append(make([]byte, by), data...)
		}
		_, version, ok := index.ParseIdxName(base)
		if !ok {
			continue
		}
		x, err := index.NewIdx(bytes.NewReader(data), int64(len(data)), index.IdxOptions{})
		if err != nil {
			tb.Fatal(err)
		}
		var entries []index.IdxEntry
		for e, err := range x.Entries() {
			if err != nil {
				tb.Fatal(err)
			}
			e.Off += int64(by)
			entries = append(entries, e)
		}
		moved[fmt.Sprintf("%s/%02x%08x.idx", path.Dir(name), x.Bucket, version+1)] = write.Idx(x.Bucket, entries, nil)
	}
	return moved
}
