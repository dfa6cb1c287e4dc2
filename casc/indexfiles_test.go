package casc_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/internal/format"
)

// TestNewestIndexThatIsWhole damages index files of a storage.
func TestNewestIndexThatIsWhole(t *testing.T) {
	g, files := makeGame(t, "text", "install")
	open := func(what string, damage func(write.Files)) *casc.Storage {
		t.Helper()
		f := maps.Clone(files)
		damage(f)
		st, err := casc.Open(casctest.FS(f), g.options(t))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return st
	}
	st := open("a newer one that is empty", func(f write.Files) { f["Data/data/0500000003.idx"] = nil })
	if err := g.check(st); err == nil || len(st.Problems()) != 1 || !strings.HasPrefix(st.Problems()[0].Error(), "Data/data/0500000003.idx: casc: idx: offset 0x0") {
		t.Errorf("an empty newer one: %v", err)
	}
	if strings.Contains(g.check(st).Error(), "want") {
		t.Errorf("the older one is not in use: %v", g.check(st))
	}
	st = open("a stale older one", func(f write.Files) { f["Data/data/0500000001.idx"] = write.Idx(5, casctest.IdxEntries(3, 1), nil) })
	if err := g.check(st); err != nil {
		t.Errorf("a stale older one: %v", err)
	}
	st = open("one of another bucket", func(f write.Files) { f["Data/data/0500000003.idx"] = write.Idx(6, nil, nil) })
	if p := st.Problems(); len(p) != 1 || p[0].Error() != "Data/data/0500000003.idx: casc: idx: offset 0xa: bucket 6" {
		t.Errorf("another bucket: %v", p)
	}
	for b := range index.Buckets {
		name := fmt.Sprintf("Data/data/%02x00000002.idx", b)
		f := maps.Clone(files)
		delete(f, name)
		st, err := casc.Open(casctest.FS(f), g.options(t))
		if err != nil {
			if !errors.Is(err, format.ErrNotLocal) || !strings.Contains(err.Error(), fmt.Sprintf("bucket %x has no index", b)) {
				t.Errorf("no bucket %d: %v", b, err)
			}
			continue
		}
		if p := st.Problems(); len(p) != 1 || p[0].Error() != fmt.Sprintf("casc: bucket %x has no index: its files count as not local", b) {
			t.Errorf("no bucket %d: %v", b, p)
		}
		if err := g.check(st); errors.Is(err, errWrong) {
			t.Errorf("no bucket %d: %v", b, err)
		}
	}
}
