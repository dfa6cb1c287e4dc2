package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"lorefs/blte"
	"lorefs/casc/casctest/write"
	"lorefs/casc/db2/db2test"
	"lorefs/casc/root"
	"lorefs/cmd/internal/kinds/cdntest"
)

const (
	tableKeyName blte.KeyName = 0x0102030405060708
	tableFileID  uint32       = 4242
)

// tableBuild is one of two builds of a game with client tables.
type tableBuild struct {
	version string
	// files are the contents of the tables, by the IDs of their files.
	files map[uint32][]byte
	// secret is the part of the table tableFileID that is encrypted.
	secret db2test.Part
}

// lampTable returns a table of the names and heights of lamps, and in the newer build their weights.
func lampTable(newer bool) *db2test.Table {
	rows := []db2test.Row{{ID: 7, Values: []any{"seen", 70}}, {ID: 9, Values: []any{"also, seen", -90}}}
	table := &db2test.Table{Layout: 0xABCD0123, Schema: "WOWSTATIC_10_2_5_52432"}
	hidden := db2test.Row{ID: 8, Values: []any{"hidden", 80}}
	if newer {
		table.Layout, table.Schema = 0xABCD0124, "WOWSTATIC_10_2_6_53000"
		rows = []db2test.Row{{ID: 9, Values: []any{"also, seen", -91, 1}}, {ID: 10, Values: []any{"new", 100, 2}}}
		hidden.Values = []any{"hidden", 81, 3}
	}
	table.Sections = []db2test.Section{{Rows: rows}, {Key: uint64(tableKeyName), Rows: []db2test.Row{hidden}}}
	return table
}

// The files of the tables of a build besides tableFileID, and a large one that all have.
const (
	goneFileID = tableFileID + 1 + iota
	newFileID
	sameFileID
	sameTableSize = 300_000
)

// tableBuilds returns the older and the newer build.
func tableBuilds() (builds [2]tableBuild) {
	one := func(layout uint32, words ...any) []byte {
		data, _ := (&db2test.Table{Layout: layout, Sections: []db2test.Section{{Rows: []db2test.Row{{ID: 1, Values: words}}}}}).Bytes()
		return data
	}
	random := rand.New(rand.NewPCG(39, 5))
	noise := make([]byte, sameTableSize)
	for i := range noise {
		noise[i] = 'a' + byte(random.Uint32()%26)
	}
	for i := range builds {
		b := &builds[i]
		data, parts := lampTable(i == 1).Bytes()
		b.secret = parts[1]
		b.files = map[uint32][]byte{tableFileID: data, sameFileID: one(3, string(noise))}
	}
	builds[0].version, builds[1].version = "10.2.5.52432", "10.2.6.53000"
	builds[0].files[goneFileID], builds[1].files[newFileID] = one(4, 1), one(5, "a word")
	return builds
}

// tableNames are the names of the tables in manifests.
var tableNames = map[uint32]string{tableFileID: "Lamp", goneFileID: "Gone", newFileID: "Fresh", sameFileID: "Same", 1: "Absent"}

var tableKey = blte.EncryptionKey([]byte("a key of 16 byte"))

// builder returns a storage of a build.
func (b *tableBuild) builder() *write.Builder {
	e := &blte.Encryption{Name: tableKeyName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	to := &write.Builder{Product: "wow", Tags: "Windows", Version: b.version}
	var files []root.File
	for _, id := range slices.Sorted(maps.Keys(b.files)) {
		data := b.files[id]
		chunks, spec := []blte.Chunk{{Content: data}}, "n"
		if id == tableFileID {
			at := b.secret.Off
			spec = fmt.Sprintf("b:{%d=n,*=e:{%X,%X,n}}", at, binary.LittleEndian.AppendUint64(nil, uint64(e.Name)), e.IV)
			chunks = []blte.Chunk{{Content: data[:at]}, {Content: data[at:], Encrypt: e, Key: tableKey}}
		}
		stored := to.AddChunks(spec, blte.WriteOptions{}, chunks...)
		files = append(files, root.File{ID: id, CKey: stored.CKey, Locale: root.LocaleEnUS, Flags: root.ContentNoNames})
	}
	to.Root(to.Add(write.WoWRoot(3, files)))
	return to
}

// writeTableDefinitions writes a folder of definitions, and a file of keys beside it.
func writeTableDefinitions(dir string) error {
	var manifest []string
	for id, name := range tableNames {
		manifest = append(manifest, fmt.Sprintf(`{"tableName":%q,"db2FileDataID":%d}`, name, id))
	}
	slices.Sort(manifest)
	return write.Files{
		"keys.txt":           fmt.Appendf(nil, "%v %X\n", tableKeyName, tableKey),
		"defs/manifest.json": []byte("[" + strings.Join(manifest, ",") + "]"),
		"defs/definitions/Lamp.dbd": []byte("COLUMNS\nint ID\nlocstring Name_lang\nint Height\nint Weight\n\n" +
			"LAYOUT ABCD0123\nBUILD 10.2.5.52432\n$noninline,id$ID<32>\nName_lang\nHeight<32>\n\n" +
			"LAYOUT ABCD0124\nBUILD 10.2.6.53000\n$noninline,id$ID<32>\nName_lang\nHeight<32>\nWeight<32>\n"),
	}.Write(dir)
}

// cmdTableBuilds runs "tables DIR". It writes to DIR the folders of tables old and new, the storages
// game-old and game-new with the same tables, game-broken with one that is damaged, list.csv with names of
// two, and defs and keys.txt.
func cmdTableBuilds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tables DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(writeTableDefinitions(dir))
	list := fmt.Sprintf("%d;DBFilesClient\\Lamp.db2\n%d;sound/a.ogg\n%d;dbfilesclient/other.db2\n", tableFileID, sameFileID, newFileID)
	ts.Check(write.Files{"list.csv": []byte(list)}.Write(dir))
	builds := tableBuilds()
	broken := tableBuilds()[1]
	broken.files[newFileID] = broken.files[newFileID][:100]
	install, err := broken.builder().Install()
	ts.Check(err)
	ts.Check(install.Write(filepath.Join(dir, "game-broken")))
	for i, name := range []string{"old", "new"} {
		b := &builds[i]
		install, err := b.builder().Install()
		ts.Check(err)
		ts.Check(install.Write(filepath.Join(dir, "game-"+name)))
		folder := write.Files{}
		for id, data := range b.files {
			if id == tableFileID {
				clear(data[b.secret.Off:]) // as others extract it who lack the key
			}
			folder[tableNames[id]+".db2"] = data
		}
		ts.Check(folder.Write(filepath.Join(dir, name)))
	}
}

// TestTablesOfCDN compares the tables of two builds on a CDN: those that are the same are not fetched.
func TestTablesOfCDN(t *testing.T) { //nolint:paralleltest // it catches what is printed
	builds, dir := tableBuilds(), t.TempDir()
	if err := writeTableDefinitions(dir); err != nil {
		t.Fatal(err)
	}
	var server *cdntest.Server
	var args []string
	for i := range builds {
		c, err := builds[i].builder().CDN(1)
		if err != nil {
			t.Fatal(err)
		}
		if server == nil {
			server = cdntest.Start(1, c, builds[i].version)
			defer server.Close()
			args = []string{"-q", "--cache-dir", filepath.Join(dir, "cache"), "--host", server.Hosts()[0], "--version-host", server.VersionHost(), "cdn:" + cdntest.Product}
			runHere(t, append([]string{"info"}, args...)...) // the cache remembers which build it was
			continue
		}
		server.Put(c, builds[i].version, "")
	}
	args = append([]string{"diff", "--build", builds[0].version + "," + builds[1].version}, args...)
	if got := runHere(t, args...); strings.Contains(got, "tables/") {
		t.Errorf("without definitions: %s", got)
	}
	server.Reset()
	before := server.Objects.Bytes()
	got := runHere(t, append(args, "--definitions", filepath.Join(dir, "defs"))...)
	const files, want = "1 file added; 1 file removed; 1 file changed", `+ tables/Fresh: 1 row
- tables/Gone: 1 row
? tables/Lamp: not compared: Weight, which only B has
? tables/Lamp: not compared: 1 row of A whose key is missing; 1 row of B whose key is missing
- tables/Lamp/7: {"ID":7,"Name_lang":"seen","Height":70}
~ tables/Lamp/9 Height: -91, was -90
+ tables/Lamp/10: {"ID":10,"Name_lang":"new","Height":100,"Weight":2}
`
	if !strings.HasPrefix(got, files+"; 1 row added; 1 row removed; 1 row changed\n") || !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	objects, indexes, _ := server.Asked()
	bytes := server.Objects.Bytes() - before
	t.Logf("%d objects, %d indexes, %d bytes", objects, indexes, bytes)
	if objects > 4 || bytes > sameTableSize/10 {
		t.Errorf("%d objects of %d bytes for two tables of both builds, and two of one: %v", objects, bytes, server.Objects.Requests())
	}
}

// tableStorage writes the older build, and a folder of definitions and a file of keys beside it.
func tableStorage(t *testing.T, dir string) {
	t.Helper()
	builds := tableBuilds()
	builds[0].files = map[uint32][]byte{tableFileID: builds[0].files[tableFileID]}
	install, err := builds[0].builder().Install()
	if err == nil {
		err = install.Write(filepath.Join(dir, "game"))
	}
	if err == nil {
		err = writeTableDefinitions(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestTablesOfStorage shows a client table beside the files of a storage, with the key of a section and
// without.
func TestTablesOfStorage(t *testing.T) { //nolint:paralleltest // it catches what is printed
	dir := t.TempDir()
	tableStorage(t, dir)
	game := filepath.Join(dir, "game")
	lorefs := func(args ...string) string {
		t.Helper()
		return runHere(t, append([]string{"-q"}, append(args, "--definitions", filepath.Join(dir, "defs"))...)...)
	}
	const head, seen, hidden = "ID,Name_lang,Height\n", "7,seen,70\n", "8,hidden,80\n"
	if got, want := lorefs("cat", game, "tables/Lamp.csv"), head+seen+"9,\"also, seen\",-90\n"; got != want {
		t.Errorf("without the key: %s", got)
	}
	keys := "--keys=" + filepath.Join(dir, "keys.txt")
	if got, want := lorefs("cat", keys, game, "tables/Lamp.csv"), head+seen+hidden+"9,\"also, seen\",-90\n"; got != want {
		t.Errorf("with the key: %s", got)
	}
	if got, want := lorefs("cat", game, "tables.json"), `"file_data_id":4242,"format":"WDC5","layout":"ABCD0123","definition":"layout","rows":2,"hidden":[{"key":"0102030405060708","rows":1}]}`; !strings.Contains(got, want) {
		t.Errorf("%s has no %s", got, want)
	}
	if got := lorefs("ls", game, "tables"); got != "Lamp.csv\nLamp.jsonl\n" {
		t.Errorf("tables has %s", got)
	}
	if got := lorefs("ls", game); !strings.Contains(got, "casc.json\n") || !strings.HasSuffix(got, "tables\ntables.json\n") {
		t.Errorf("the root has %s", got)
	}
	if got := lorefs("find", game, "--name", "*.csv"); got != "tables/Lamp.csv\n" {
		t.Errorf("find prints %s", got)
	}
	out := filepath.Join(dir, "out")
	lorefs("export", game, out, "tables/*.jsonl")
	if got, err := os.ReadFile(filepath.Join(out, "Lamp.jsonl")); !strings.HasPrefix(string(got), `{"ID":7,"Name_lang":"seen","Height":70}`) {
		t.Errorf("exported: %s, %v", got, err)
	}
	if got := runHere(t, "-q", "ls", game); strings.Contains(got, "tables") {
		t.Errorf("without definitions the root has %s", got)
	}
}

// TestTableSizes lists tables a second time, when there is nothing left to read.
func TestTableSizes(t *testing.T) { //nolint:paralleltest // it catches what is printed
	dir := t.TempDir()
	data, _ := lampTable(true).Bytes()
	file := filepath.Join(dir, "Lamp.db2")
	writeText(t, file, string(data))
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	want := runHere(t, "-q", "ls", "-l", dir, "tables")
	if !strings.Contains(want, "Lamp.csv") || strings.Contains(want, "lorefs:") {
		t.Fatal(want)
	}
	writeText(t, file, strings.Repeat("x", len(data)))
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := runHere(t, "-q", "ls", "-l", "--kind", "tables", dir, "tables"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := runHere(t, "-q", "ls", "-l", "--no-cache", "--kind", "tables", dir, "tables"); !strings.Contains(got, "no known format") {
		t.Errorf("without what is kept: %s", got)
	}
}

// TestTableLocales reads the file of one language of a table.
func TestTableLocales(t *testing.T) { //nolint:paralleltest // it catches what is printed
	dir := t.TempDir()
	to := &write.Builder{Product: "wow", Tags: "Windows", Version: "10.2.5.52432"}
	var files []root.File
	for name, locale := range map[string]root.Locale{"a lamp": root.LocaleEnUS, "eine Lampe": root.LocaleDeDE, "une lampe": root.LocaleFrFR} {
		table := db2test.Table{Layout: 0xABCD0123, Sections: []db2test.Section{{Rows: []db2test.Row{{ID: 1, Values: []any{name, len(name)}}}}}}
		data, _ := table.Bytes()
		files = append(files, root.File{ID: tableFileID, CKey: to.Add(data).CKey, Locale: locale, Flags: root.ContentNoNames})
	}
	to.Root(to.Add(write.WoWRoot(3, files)))
	install, err := to.Install()
	if err == nil {
		err = errors.Join(install.Write(filepath.Join(dir, "game")), writeTableDefinitions(dir))
	}
	if err != nil {
		t.Fatal(err)
	}
	for locale, name := range map[string]string{"": "a lamp", "enUS": "a lamp", "deDE": "eine Lampe", "frFR": "une lampe"} {
		args := []string{"-q", "cat", "--definitions", filepath.Join(dir, "defs"), filepath.Join(dir, "game"), "tables/Lamp.csv"}
		if locale != "" {
			args = append(args, "--locale", locale)
		}
		if got, want := runHere(t, args...), fmt.Sprintf("ID,Name_lang,Height\n1,%s,%d\n", name, len(name)); got != want {
			t.Errorf("--locale %s: %s, want %s", locale, got, want)
		}
	}
}
