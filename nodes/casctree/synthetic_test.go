package casctree_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
	"lorefs/nodes/nodetest"
)

// synthetics are the storages of the fixtures, with their folder in the archive.
var synthetics = map[string]string{
	"tvfs": "tvfs", "wow0": "wow0", "wow1": "wow1", "wow2": "wow2", "wow3": "wow3", "text": "text", "install": "install",
	"tvfs_mixedidx": "mixed",
}

// someSynthetics are all of them, or the most different with -short.
func someSynthetics() []string {
	if testing.Short() {
		return []string{"tvfs", "wow3"}
	}
	return slices.Sorted(maps.Keys(synthetics))
}

// synthetic is a storage of the fixtures in memory.
type synthetic struct {
	folder   string
	beside   fstest.MapFS // what its maker says of it
	store    fstest.MapFS
	manifest struct {
		Files []struct {
			Name, Listed, MD5 string
			Size              int64
		}
	}
}

func loadSynthetic(t testing.TB, kind string) *synthetic {
	t.Helper()
	f, err := os.Open(testneeds.Fixture(t, "casc/synthetic/"+kind+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	s := &synthetic{folder: synthetics[kind], beside: fstest.MapFS{}, store: fstest.MapFS{}}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name, to := path.Clean(h.Name), s.beside
		if rest, ok := strings.CutPrefix(name, s.folder+"/"); ok {
			name, to = rest, s.store
		}
		to[name] = &fstest.MapFile{Data: data, Mode: 0o444}
	}
	if err := json.Unmarshal(s.beside[s.folder+".manifest.json"].Data, &s.manifest); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *synthetic) tree(t testing.TB, sopts casc.Options, opts casctree.Options) *casctree.Tree {
	t.Helper()
	keys, err := blte.ParseKeys(s.beside[s.folder+".keys"].Data)
	if err != nil {
		t.Fatal(err)
	}
	sopts.Keys = keys
	if f := s.beside[s.folder+".listfile.csv"]; f != nil {
		opts.ListFiles = []func() (io.ReadCloser, error){listFile(string(f.Data))}
	}
	return open(t, s.store, sopts, opts)
}

// mountPath is where a name of the storage is; TVFS separates nested manifests by
// colons.
func (s *synthetic) mountPath(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(s.folder, "tvfs") || s.folder == "mixed" {
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
		for _, f := range s.manifest.Files {
			name := f.Name
			if f.Listed != "" {
				name = f.Listed
			}
			name = s.mountPath(name)
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

// TestSyntheticCascLib compares all files with CascLib's listing, but for those that
// it lists by a key only, and for the manifests that it lists beside the files.
func TestSyntheticCascLib(t *testing.T) {
	beside := []string{"encoding", "root", "install", "download", "size", "patch", "patch-index", "vfs-root"}
	for _, kind := range someSynthetics() {
		if kind == "tvfs_mixedidx" {
			continue // CascLib does not read the update section
		}
		s := loadSynthetic(t, kind)
		tree := s.tree(t, casc.Options{Locale: casc.LocaleEnUS}, casctree.Options{Missing: true}) // as CascLib, by the tags
		// The names of World of Warcraft are those of the list file, in its case.
		spelled := func(name string) string { return name }
		if strings.HasPrefix(kind, "wow") {
			spelled = strings.ToLower
		}
		found := map[string]nodes.Entry{}
		for name, e := range listed(t, tree, "files") {
			found[spelled(name)] = e
		}
		for line := range strings.Lines(string(s.beside[s.folder+".casclib.tsv"].Data)) {
			c := strings.Split(strings.TrimRight(line, "\n"), "\t")
			status, sum, local, name := c[0], c[2], c[8] == "1", c[10]
			if _, err := casc.ParseKey(name); err == nil {
				continue
			}
			size, err := strconv.ParseUint(c[1], 10, 64) // of a manifest that is not there it is -1
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
	if testing.Short() {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		nodetest.Run(t, loadSynthetic(t, kind).tree(t, casc.Options{}, casctree.Options{Missing: true}), nodetest.Limit(1000))
	}
}
