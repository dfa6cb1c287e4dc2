package casctree_test

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
	"lorefs/nodes/nodetest"
)

// someSynthetics returns all of them, or the most different ones where [testneeds.Quick] is true.
func someSynthetics() []string {
	if testneeds.Quick() {
		return []string{"tvfs", "wow3"}
	}
	return casctest.Synthetics
}

// synthetic is a storage of the fixtures.
type synthetic struct {
	*casctest.Synthetic
	kind string
}

func loadSynthetic(t testing.TB, kind string) *synthetic {
	t.Helper()
	return &synthetic{casctest.LoadSynthetic(t, kind), kind}
}

func (s *synthetic) tree(t testing.TB, sopts casc.Options, opts casctree.Options) *casctree.Tree {
	t.Helper()
	keys, err := blte.ParseKeys(s.Beside["keys"])
	if err != nil {
		t.Fatal(err)
	}
	sopts.Keys = keys
	if text := s.Beside["listfile.csv"]; text != nil {
		opts.ListFiles = []casctree.ListFile{listFile(string(text))}
	}
	return open(t, casctest.FS(s.Store), sopts, opts)
}

// mountPath returns the path in the mount of a name of the storage. TVFS separates nested
// manifests by colons.
func (s *synthetic) mountPath(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(s.kind, "tvfs") {
		return pathOf("tvfs", name)
	}
	return "files/" + name
}

// readMD5 reads a whole file in pieces.
func readMD5(t testing.TB, tree nodes.Tree, e nodes.Entry) (string, error) {
	h := md5.New()
	p := make([]byte, 10000)
	for off := int64(0); ; {
		n, err := tree.ReadAt(t.Context(), e.ID, p, off)
		h.Write(p[:n])
		off += int64(n)
		if errors.Is(err, io.EOF) {
			err = nil
			if off != e.Size {
				err = io.ErrUnexpectedEOF
			}
			return hex.EncodeToString(h.Sum(nil)), err
		}
		if err != nil {
			return "", err
		}
	}
}

// TestSyntheticManifests reads every file that the makers of the storages put in.
func TestSyntheticManifests(t *testing.T) {
	for _, kind := range someSynthetics() {
		s := loadSynthetic(t, kind)
		tree := s.tree(t, casc.Options{}, casctree.Options{Missing: true})
		hidden := s.tree(t, casc.Options{}, casctree.Options{})
		for _, f := range s.Files {
			name := s.mountPath(f.Shown())
			e, err := lookup(t.Context(), tree, name)
			if err != nil || e.Size != f.Size {
				t.Errorf("%s: %s: %+v, %v; the size is %d", kind, name, e, err, f.Size)
				continue
			}
			want, absent := error(nil), strings.Contains(name, "absent/")
			switch {
			case absent:
				want = nodes.ErrUnavailable
			case strings.Contains(name, "missing_key"):
				want = nodes.ErrNoKey
			}
			sum, err := readMD5(t, tree, e)
			if !errors.Is(err, want) || want == nil && sum != f.MD5 {
				t.Errorf("%s: %s: MD5 %s, %v; want %s, %v", kind, name, sum, err, f.MD5, want)
			}
			if _, err := lookup(t.Context(), hidden, name); errors.Is(err, nodes.ErrNotExist) != absent {
				t.Errorf("%s: %s without what is not local: %v", kind, name, err)
			}
		}
	}
}

// TestSyntheticCascLib compares all files with CascLib's listing, but for those that it
// lists by a key only, and for the manifests that it lists beside the files.
func TestSyntheticCascLib(t *testing.T) {
	beside := []string{"encoding", "root", "install", "download", "size", "patch", "patch-index", "vfs-root"}
	for _, kind := range someSynthetics() {
		if kind == "tvfs_mixedidx" {
			continue // CascLib does not read the update section
		}
		s := loadSynthetic(t, kind)
		tree := s.tree(t, casc.Options{Locale: root.LocaleEnUS}, casctree.Options{Missing: true}) // as CascLib, by the tags
		// The names of World of Warcraft are those of the list file, in its case.
		spelled := func(name string) string { return name }
		if strings.HasPrefix(kind, "wow") {
			spelled = strings.ToLower
		}
		found := map[string]nodes.Entry{}
		for name, e := range listed(t, tree, "files") {
			found[spelled(name)] = e
		}
		for line := range strings.Lines(string(s.Beside["casclib.tsv"])) {
			c := strings.Split(strings.TrimRight(line, "\n"), "\t")
			status, sum, local, name := c[0], c[2], c[8] == "1", c[10]
			if _, err := keys.Parse(name); err == nil {
				continue
			}
			size, err := strconv.ParseUint(c[1], 10, 64) // -1 for a missing manifest
			if err != nil {
				t.Fatal(err)
			}
			at := spelled(s.mountPath(name))
			e, ok := found[at]
			delete(found, at)
			if !ok {
				if !slices.Contains(beside, strings.ToLower(name)) {
					t.Errorf("%s: only CascLib lists %s", kind, at)
				}
				continue
			}
			got, err := readMD5(t, tree, e)
			switch {
			case uint64(e.Size) != size || errors.Is(err, nodes.ErrUnavailable) == local:
				t.Errorf("%s: %s: %+v, %v; CascLib has %v", kind, at, e, err, c)
			case errors.Is(err, nodes.ErrNoKey): // CascLib was told to give zeros
			case (err == nil) != (status == "ok") || err == nil && got != sum:
				t.Errorf("%s: %s: %s, %v; CascLib has %v", kind, at, got, err, c)
			}
		}
		for name := range found {
			t.Errorf("%s: CascLib does not list %s", kind, name)
		}
	}
}

func TestSyntheticConformance(t *testing.T) {
	kinds := []string{"tvfs", "wow3"}
	if testneeds.Quick() {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		nodetest.Run(t, loadSynthetic(t, kind).tree(t, casc.Options{}, casctree.Options{Missing: true}), nodetest.Limit(1000))
	}
}
