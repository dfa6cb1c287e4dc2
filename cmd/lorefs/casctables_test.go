package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/casc/casctest/write"
	"lorefs/casc/db2/db2test"
	"lorefs/casc/root"
)

const (
	tableKeyName blte.KeyName = 0x0102030405060708
	tableFileID  uint32       = 4242
)

// tableStorage writes a storage with a client table of two sections, of which one is encrypted, and a
// folder of definitions and a file of keys beside it.
func tableStorage(t *testing.T, dir string) {
	t.Helper()
	const layout = 0xABCD0123
	table := db2test.Table{Layout: layout, Schema: "WOWSTATIC_10_2_5_52432", Sections: []db2test.Section{
		{Rows: []db2test.Row{{ID: 7, Values: []any{"seen", 70}}, {ID: 9, Values: []any{"also, seen", -90}}}},
		{Key: uint64(tableKeyName), Rows: []db2test.Row{{ID: 8, Values: []any{"hidden", 80}}}},
	}}
	data, parts := table.Bytes()
	key := blte.EncryptionKey([]byte("a key of 16 byte"))
	e := &blte.Encryption{Name: tableKeyName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	b := write.Builder{Product: "wow", Tags: "Windows"}
	spec := fmt.Sprintf("b:{%d=n,*=e:{%X,%X,n}}", parts[1].Off, binary.LittleEndian.AppendUint64(nil, uint64(e.Name)), e.IV)
	stored := b.AddChunks(spec, blte.WriteOptions{},
		blte.Chunk{Content: data[:parts[1].Off]}, blte.Chunk{Content: data[parts[1].Off:], Encrypt: e, Key: key})
	b.Root(b.Add(write.WoWRoot(3, []root.File{{ID: tableFileID, CKey: stored.CKey, Locale: root.LocaleEnUS, Flags: root.ContentNoNames}})))
	install, err := b.Install()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range install {
		writeText(t, filepath.Join(dir, "game", filepath.FromSlash(name)), string(content))
	}
	writeText(t, filepath.Join(dir, "keys.txt"), fmt.Sprintf("%v %X\n", tableKeyName, key))
	writeText(t, filepath.Join(dir, "defs", "manifest.json"), fmt.Sprintf(`[{"tableName":"Lamp","db2FileDataID":%d},{"tableName":"Absent","db2FileDataID":1}]`, tableFileID))
	writeText(t, filepath.Join(dir, "defs", "definitions", "Lamp.dbd"),
		fmt.Sprintf("COLUMNS\nint ID\nlocstring Name_lang\nint Height\n\nLAYOUT %08X\nBUILD 10.2.5.52432\n$noninline,id$ID<32>\nName_lang\nHeight<32>\n", layout))
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
