package sample

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lorefs/blte"
	"lorefs/casc/casctest/write"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
)

const (
	// storageName is the folder of the made-up CASC storage.
	storageName = "game"
	// listFileName is the list of the names of its files, which it knows only by number.
	listFileName = "listfile.csv"
	// keysName has the key of one of its files.
	keysName = "keys.txt"
)

// secretKey is the key in keysName, and secretName its name.
var secretKey = blte.EncryptionKey([]byte("lamps in the fog"))

const secretName blte.KeyName = 0x1001200230034004

// storageFiles returns an install of a game with its list of names and its keys, always the
// same bytes.
func storageFiles() ([]file, error) {
	g := &game{gen: newGen(), Builder: write.Builder{
		Product: "sample", Tags: "Windows x86_64 EU? enUS speech?:Windows x86_64 EU? enUS text?",
	}}
	g.fill()
	g.finish()
	install, err := g.Install()
	if err != nil {
		return nil, err
	}
	var list []file
	for _, name := range slices.Sorted(maps.Keys(install)) {
		list = append(list, file{storageName + "/" + name, install[name]})
	}
	keys := fmt.Sprintf("%v %X lore/secret/ending.txt\n", secretName, secretKey)
	return append(list, file{listFileName, []byte(g.names.String())}, file{keysName, []byte(keys)}), nil
}

// game is a storage while it is filled.
type game struct {
	*gen
	write.Builder
	files []root.File
	names strings.Builder
	// programs are the entries of the install manifest.
	programs []manifests.InstallEntry
}

// fill adds all files. Two of them have no name, one is not there, and one is encrypted.
func (g *game) fill() {
	for _, p := range places {
		g.add("lore/places/"+p.code()+".txt", root.LocaleEnUS, g.Add(g.placeText(p)))
	}
	for _, c := range creatures {
		name := "lore/creatures/" + c.code() + ".txt"
		english, korean := g.Add([]byte("The "+c.String()+" is seldom seen by day.\n")), g.Add([]byte(c.korean+"\n"))
		g.add(name, root.LocaleEnUS, english)
		g.files = append(g.files, root.File{ID: g.lastID(), CKey: korean.CKey, Locale: root.LocaleKoKR, Flags: root.ContentNoNames})
	}
	g.add("tables/items.csv", root.LocaleEnUS, g.AddChunks("b:{16K*=z}", blte.WriteOptions{}, chunked(g.itemTable())...))
	bell := g.AddChunks("n", blte.WriteOptions{}, blte.Chunk{Content: bell()})
	g.add("sound/bell.wav", root.LocaleEnUS, bell)
	g.add("", root.LocaleEnUS, g.Add([]byte("Nobody knows what this was called.\n")))
	g.add("", root.LocaleEnUS, g.Add([]byte("Nor this.\n")))
	g.add("sound/far_away.wav", root.LocaleEnUS, g.AddAbsent([]byte("only on the servers")))
	g.add("lore/secret/ending.txt", root.LocaleEnUS, g.addSecret([]byte("And the lamps were lit again.\n")))
	for _, name := range []string{"Game.exe", `Utils\Repair.exe`, "Game.app"} {
		content := []byte("not really a program: " + name + "\n")
		g.programs = append(g.programs, manifests.InstallEntry{Name: name, CKey: g.Add(content).CKey, Size: int64(len(content))})
	}
}

// add gives a stored file the next number and, unless it is empty, a name.
func (g *game) add(name string, locale root.Locale, s write.Stored) {
	f := root.File{ID: g.lastID() + 3, CKey: s.CKey, Locale: locale, Flags: root.ContentNoNames}
	g.files = append(g.files, f)
	if name != "" {
		fmt.Fprintf(&g.names, "%d;%s\n", f.ID, name)
	}
}

const firstFileID = 1000

func (g *game) lastID() uint32 {
	if len(g.files) == 0 {
		return firstFileID
	}
	return g.files[len(g.files)-1].ID
}

// addSecret stores content encrypted with secretKey.
func (g *game) addSecret(content []byte) write.Stored {
	e := &blte.Encryption{Name: secretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	// The name is spelled as its bytes stand in the file.
	spec := fmt.Sprintf("b:{*=e:{%X,%X,z}}", binary.LittleEndian.AppendUint64(nil, uint64(e.Name)), e.IV)
	return g.AddChunks(spec, blte.WriteOptions{}, blte.Chunk{Content: content, Mode: blte.ModeZlib, Encrypt: e, Key: secretKey})
}

// finish adds the root and the install manifest.
func (g *game) finish() {
	const rootVersion = 3
	g.Root(g.Add(write.WoWRoot(rootVersion, g.files)))
	g.Ref("install", g.Add(write.Install(1, g.programs,
		write.Tag{Name: "Windows", Type: manifests.TagPlatform, Entries: []int{0, 1}},
		write.Tag{Name: "OSX", Type: manifests.TagPlatform, Entries: []int{2}},
	)))
}

func (g *game) placeText(p word) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", p)
	for range g.between(3, 8, 1) {
		who, thing, material := people[g.rng.IntN(len(people))], things[g.rng.IntN(len(things))], materials[g.rng.IntN(len(materials))]
		fmt.Fprintf(&b, "In %s, %s keeps a %s of %s, and tells nobody why.\n", p, who, thing.code(), material.code())
	}
	return []byte(b.String())
}

// itemTable returns content that is large enough for some chunks.
func (g *game) itemTable() []byte {
	b := []byte("id,name,grade,price\n")
	for i := range 3000 {
		material, thing := itemWords(i)
		b = fmt.Appendf(b, "%d,%s of %s,%s,%d\n", i, thing, material, g.pick(grades), g.between(10, 9000, 5))
	}
	return b
}

func chunked(content []byte) (chunks []blte.Chunk) {
	for part := range slices.Chunk(content, 16<<10) {
		chunks = append(chunks, blte.Chunk{Content: part, Mode: blte.ModeZlib})
	}
	return chunks
}

// bell returns a second of sound that fades, in 8000 samples of a byte.
func bell() []byte {
	const rate = 8000
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("RIFF"), 36+rate)
	b = le.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = le.AppendUint16(le.AppendUint16(b, 1), 1)
	b = le.AppendUint32(le.AppendUint32(b, rate), rate)
	b = le.AppendUint16(le.AppendUint16(b, 1), 8)
	b = le.AppendUint32(append(b, "data"...), rate)
	for i := range rate {
		wave := i%20 - 10 // 400 times a second
		b = append(b, byte(128+wave*10*(rate-i)/rate))
	}
	return b
}
