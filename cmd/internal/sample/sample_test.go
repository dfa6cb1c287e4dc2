package sample

import (
	"bytes"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"lorefs/casc"
	"lorefs/casc/keys"
	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/verify"
)

func mustDataCenter(t *testing.T, layout datacenter.Layout) []byte {
	t.Helper()
	data, err := dataCenter(layout)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDataCenter(t *testing.T) {
	for _, layout := range []datacenter.Layout{datacenter.LayoutV3, datacenter.LayoutV6X86, datacenter.LayoutV6X64} {
		data := mustDataCenter(t, layout)
		if !bytes.Equal(data, mustDataCenter(t, layout)) {
			t.Errorf("%v: not the same bytes twice", layout)
		}
		for f, err := range verify.File(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{}) {
			t.Errorf("%v: %v, %v", layout, f, err)
		}
		c := dctest.Open(t, data).Counts()
		if c.Sheets != 40 || c.Nodes < 5000 || c.Nodes > 10000 {
			t.Errorf("%v: %+v", layout, c)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	paths, err := Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{
		"DataCenter_Final_Sample.dat", "world", "session.TeraLog", "definitions", "game", "listfile.csv", "keys.txt",
		"tables", "table-definitions",
	} {
		want = append(want, filepath.Join(dir, name))
	}
	if !slices.Equal(paths, want) {
		t.Fatalf("%q, want %q", paths, want)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil || !bytes.Equal(data, mustDataCenter(t, datacenter.LayoutV6X64)) {
		t.Errorf("the file is another one: %v", err)
	}
	if err := os.WriteFile(paths[0], []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir); !errors.Is(err, iofs.ErrExist) {
		t.Errorf("a second time: %v", err)
	} else {
		t.Log(err)
	}
	if data, err := os.ReadFile(paths[0]); err != nil || string(data) != "mine" {
		t.Errorf("the file is overwritten: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(paths) {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestStorage checks that the storage has what CascLib needs: a download manifest of every
// encoded file but its own and the encoding file's.
func TestStorage(t *testing.T) {
	files, err := storageFiles()
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for _, f := range files {
		fsys[f.name] = &fstest.MapFile{Data: f.data}
	}
	game, err := iofs.Sub(fsys, storageName)
	if err != nil {
		t.Fatal(err)
	}
	st, err := casc.Open(game, casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	m, err := st.Download(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[keys.Key]int64{}
	for e := range m.Entries() {
		sizes[e.EKey] = e.Size
	}
	n := 0
	for e, err := range st.Encoding().Encoded(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if size, ok := sizes[e.EKey]; ok && size != e.Size {
			t.Errorf("%v has %d bytes, listed are %d", e.EKey, e.Size, size)
		}
	}
	if own := 1; n != len(sizes)+own || m.Len() != len(sizes) {
		t.Errorf("%d encoded files, %d of them listed in %d entries", n, len(sizes), m.Len())
	}
}
