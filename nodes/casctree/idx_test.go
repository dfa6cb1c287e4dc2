package casctree_test

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/casctree"
)

// idxPage is the only file of the local index of a small storage.
const idxPage = "manifests/idx/000000.jsonl"

// eachIdx calls each with the index files of an install.
func eachIdx(fsys fstest.MapFS, each func(f *fstest.MapFile, bucket int)) {
	for name, f := range fsys {
		if bucket, _, ok := index.ParseIdxName(path.Base(name)); ok {
			each(f, bucket)
		}
	}
}

// rewriteIdx writes the index files of an install anew in place.
func rewriteIdx(t *testing.T, files write.Files, fsys fstest.MapFS) {
	t.Helper()
	moved := casctest.Moved(t, files, 1000)
	eachIdx(fsys, func(f *fstest.MapFile, bucket int) {
		f.Data, f.ModTime = moved[fmt.Sprintf("Data/data/%02x00000003.idx", bucket)], f.ModTime.AddDate(1, 0, 0)
	})
}

// TestIdxManifestChanges writes to the local index under its manifest: files that were
// looked into have changed, others show the new index.
func TestIdxManifestChanges(t *testing.T) {
	files := twoFiles(t, "the second file")
	for what, change := range map[string]func(fstest.MapFS){
		"written": func(fsys fstest.MapFS) { rewriteIdx(t, files, fsys) },
		"cut":     func(fsys fstest.MapFS) { eachIdx(fsys, func(f *fstest.MapFile, _ int) { f.Data = f.Data[:0x28] }) },
	} {
		for _, looked := range []bool{false, true} {
			fsys := casctest.FS(files)
			tree, st := openBoth(t, fsys, casc.Options{Blocks: blockcache.New(0).View()}, casctree.Options{Blocks: blockcache.New(0).View()})
			var e nodes.Entry
			if looked {
				var err error
				if e, err = lookup(t.Context(), tree, idxPage); err != nil {
					t.Fatal(err)
				}
			}
			change(fsys)
			if _, err := st.Refresh(); err != nil {
				t.Fatal(err)
			}
			var got []byte
			var err error
			if looked {
				got, err = readAll(t.Context(), tree, e)
			} else {
				got, err = readPath(t.Context(), tree, idxPage)
			}
			if !looked && what == "written" {
				if err != nil || !strings.Contains(string(got), `"offset":1000,`) {
					t.Errorf("not looked into before: %.300s, %v", got, err)
				}
				continue
			}
			if !errors.Is(err, nodes.ErrChanged) {
				t.Errorf("%s, looked into before: %v: %.300s, %v, want ErrChanged", what, looked, got, err)
			}
		}
	}
}
