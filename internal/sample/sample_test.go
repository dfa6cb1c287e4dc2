package sample

import (
	"bytes"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
)

func TestDataCenter(t *testing.T) {
	for _, layout := range []datacenter.Layout{datacenter.LayoutV3, datacenter.LayoutV6X86, datacenter.LayoutV6X64} {
		if !bytes.Equal(DataCenter(layout), DataCenter(layout)) {
			t.Errorf("%v: not the same bytes twice", layout)
		}
	}
	doc := dctest.Doc{Root: world()}
	counts := doc.Counts()
	t.Logf("%+v, %d bytes", counts, len(DataCenter(datacenter.LayoutV6X64)))
	if n := len(doc.Root.Children); n != 40 {
		t.Errorf("%d sheets", n)
	}
	if counts.Nodes < 5000 || counts.Nodes > 10000 {
		t.Errorf("%d nodes", counts.Nodes)
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	paths, err := Write(dir)
	if err != nil || len(paths) != 1 || paths[0] != filepath.Join(dir, "DataCenter_Final_Sample.dat") {
		t.Fatal(paths, err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil || !bytes.Equal(data, DataCenter(datacenter.LayoutV6X64)) {
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
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
