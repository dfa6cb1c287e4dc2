package casctree_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/index"
	"lorefs/casc/keys"
	"lorefs/casc/manifests"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/casctree"
	"lorefs/nodes/nodetest"
)

// lines reads all lines of a manifest through its files.
func lines(t *testing.T, tree nodes.Tree, name string) (all []map[string]any, files int) {
	t.Helper()
	found := listed(t, tree, "manifests/"+name)
	for i := range len(found) {
		e, ok := found[fmt.Sprintf("manifests/%s/%06d.jsonl", name, i)]
		if !ok {
			t.Fatalf("%s: no file %d", name, i)
		}
		data, err := readAll(t.Context(), tree, e)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var l map[string]any
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatalf("%s: %v in %s", name, err, line)
			}
			all = append(all, l)
		}
	}
	return all, len(found)
}

// TestManifests reads the tables of a storage that has all of them, and compares each with
// what was put in.
func TestManifests(t *testing.T) {
	g := casctest.New()
	g.Fill(t)
	s := g.ByName["readme.txt"]
	files := g.Files()
	patch, key := write.Patch([]manifests.PatchFile{{CKey: s.CKey, Size: 7, Patches: []manifests.PatchStep{{From: keys.Key{1}, FromSize: 9, EKey: keys.Key{2}, Size: 3}}}})
	g.AddRaw(patch, key)
	g.Config = append(g.Config, "patch = "+key.String(), fmt.Sprintf("patch-size = %d", len(patch)))
	g.Ref("install", g.Add(write.Install(1, []manifests.InstallEntry{{Name: `a "b"`, CKey: s.CKey, Size: 7}}, write.Tag{Name: "Windows", Type: 1, Entries: []int{0}})))
	g.Ref("download", g.Add(write.Download(2, []manifests.DownloadEntry{{EKey: s.EKey, Size: 9, Priority: 3, Checksum: 5, Flags: []byte{1, 2}}})))
	g.Ref("size", g.Add(write.SizeManifest(2, []manifests.SizeEntry{{EKey: s.EKey[:9], Size: 9}})))
	g.Root(g.Add(write.WoWRoot(3, files)))
	stored, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	index := write.ArchiveIndex([]index.ArchiveEntry{{Key: s.EKey, Size: 12, Off: 5}}, 4)
	stored["Data/indices/"+write.Key(index[len(index)-28:]).String()+".index"] = index
	tree := open(t, casctest.FS(stored), casc.Options{Keys: bltetest.Keys()}, casctree.Options{})
	for name, want := range map[string]struct {
		lines int
		first string
	}{
		"encoding":      {distinct(g, func(s write.Stored) keys.Key { return s.CKey }), ""},
		"encoding-keys": {distinct(g, func(s write.Stored) keys.Key { return s.EKey }), ""},
		"root":          {len(files), `"id":100,`},
		"install":       {1, fmt.Sprintf(`{"name":"a \"b\"","ckey":"%v","size":7,"tags":["Windows"]}`, s.CKey)},
		"download":      {1, fmt.Sprintf(`{"ekey":"%v","size":9,"priority":3,"checksum":5,"flags":"0102","tags":[]}`, s.EKey)},
		"size":          {1, fmt.Sprintf(`{"ekey":"%x","size":9,"tags":[]}`, s.EKey[:9])},
		"patch":         {1, `"from_size":9,`},
		"idx":           {distinct(g, func(s write.Stored) keys.Key { return s.EKey }), `{"bucket":`},
		"index":         {1, fmt.Sprintf(`"ekey":"%v","archive":0,"offset":5,"size":12}`, s.EKey)},
		"shmem":         {-1, `"idx_versions":[2,2,`},
	} {
		got, n := lines(t, tree, name)
		if len(got) != want.lines && want.lines >= 0 || n != 1 {
			t.Errorf("%s: %d lines in %d files, want %d", name, len(got), n, want.lines)
		}
		data, err := readPath(t.Context(), tree, "manifests/"+name+"/000000.JSONL")
		if err != nil || !strings.Contains(string(data[:bytes.IndexByte(data, '\n')]), want.first) {
			t.Errorf("%s: %.300s, %v", name, data, err)
		}
	}
	nodetest.Run(t, tree)
}

// distinct counts the keys of the stored files in the encoding file, which lacks its own.
// The file that is not local is in no index, but the encoding file is.
func distinct(g *casctest.Game, key func(write.Stored) keys.Key) int {
	seen := map[keys.Key]bool{}
	for _, s := range g.Stored[:len(g.Stored)-1] {
		seen[key(s)] = true
	}
	return len(seen)
}

// TestManifestPages has tables of several files, with a cache that is too small for any,
// and with one that has room.
func TestManifestPages(t *testing.T) {
	n := 20_000
	if testneeds.Quick() {
		n = 5000
	}
	l, err := casctest.NewLarge(n)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{0, 64 << 20} {
		tree, st := openBoth(t, casctest.FS(l.Files), casc.Options{}, casctree.Options{Blocks: blockcache.New(size).View()})
		root, files := lines(t, tree, "root")
		if len(root) != n || files != (n+4095)/4096 {
			t.Errorf("root: %d lines in %d files", len(root), files)
		}
		for i, line := range root {
			if int(line["id"].(float64)) != i+1 {
				t.Fatalf("line %d of the root: %v", i, line)
			}
		}
		encoding, files := lines(t, tree, "encoding")
		if files != (st.Encoding().ContentPages()+31)/32 || n > 10_000 && files < 2 {
			t.Errorf("encoding: %d files", files)
		}
		i := 0
		for e, err := range st.Encoding().Contents(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if encoding[i]["ckey"] != e.CKey.String() || !slices.Equal(encoding[i]["ekeys"].([]any), []any{e.EKeys[0].String()}) {
				t.Fatalf("line %d of the encoding file: %v", i, encoding[i])
			}
			i++
		}
		if i != len(encoding) {
			t.Errorf("encoding: %d lines, want %d", len(encoding), i)
		}
	}
}

// TestDamagedShmem looks into a damaged table: that is an error, not an empty file.
func TestDamagedShmem(t *testing.T) {
	_, files, sopts, opts := makeGame(t, "text", "install")
	files["Data/data/shmem"] = files["Data/data/shmem"][:100]
	tree := open(t, casctest.FS(files), sopts, opts)
	e, err := lookup(t.Context(), tree, "manifests/shmem")
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range tree.ReadDir(t.Context(), e.ID, 0) {
		last = err
	}
	if _, ok := errors.AsType[*casc.FormatError](last); !ok {
		t.Errorf("listing it: %v", last)
	}
}
