package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lorefs/blte/bltetest"
	"lorefs/casc/casctest/write"
	"lorefs/cmd/internal/cli"
	"lorefs/cmd/internal/options"
	"lorefs/cmd/internal/reach"
	"lorefs/cmd/internal/sample"
	"lorefs/geometry"
	"lorefs/geometry/geomtest"
	"lorefs/internal/jsonout"
	"lorefs/internal/testneeds"
	"lorefs/nodes"
)

// cacheTrialsVar sets how often a file of the cache is damaged and the whole source read;
// the default is 300.
const cacheTrialsVar = "LOREFS_CACHE_TRIALS"

// cacheSource is a source and its files in the cache.
type cacheSource struct {
	path  string
	truth map[string]string
	files map[string][]byte
}

// shownBy reads all of a source with a cache folder, or without one. It returns the kind,
// size and content of each name, and the output of info.
func shownBy(ctx context.Context, path, cache string) (map[string]string, error) {
	f := &options.SourceFlags{Kind: options.KindAuto, Layout: "auto", CacheSize: options.DefaultCacheSize, NoCache: cache == "", CacheBase: cache}
	s, err := reach.OpenSource(ctx, path, f, slog.New(slog.DiscardHandler), cli.Silence{}.Set)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	d, err := s.Describe()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if all["info"], err = jsonout.Text(d); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for _, v := range s.Views {
		all["nodes of "+v.Name] = fmt.Sprint(v.Nodes)
	}
	for e, err := range nodes.Walk(ctx, s.Tree, nodes.Root) {
		if err == nil {
			e.Entry, err = nodes.WithSize(ctx, s.Tree, e.Entry)
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		all[e.Path] = fmt.Sprint(e.Kind, e.Size)
		if e.Kind == nodes.Dir || e.Size > 1<<20 {
			continue // pictures and meshes are large, and rendered from data that is read anyway
		}
		if e.Kind == nodes.Link {
			target, err := nodes.Readlink(ctx, s.Tree, e.ID)
			if err != nil {
				return nil, errors.Join(err, s.Close())
			}
			all[e.Path] += " " + target
			continue
		}
		text := make([]byte, e.Size)
		n, err := s.Tree.ReadAt(ctx, e.ID, text, 0)
		if int64(n) != e.Size {
			return nil, errors.Join(fmt.Errorf("%s: %d of %d bytes: %w", e.Path, n, e.Size, err), s.Close())
		}
		all[e.Path] += fmt.Sprintf(" %x", sha256.Sum256(text))
	}
	return all, s.Close()
}

// newCacheSource reads a source without a cache, and then with an empty one.
func newCacheSource(t *testing.T, path string) *cacheSource {
	t.Helper()
	c := &cacheSource{path: path, files: map[string][]byte{}}
	var err error
	if c.truth, err = shownBy(t.Context(), path, ""); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	for range 2 { // results of the first read are saved at its end
		if got, err := shownBy(t.Context(), path, cache); err != nil || !sameShown(t, "with a fresh cache", got, c.truth) {
			t.Fatalf("%s: %v", path, err)
		}
	}
	names, err := filepath.Glob(filepath.Join(cache, "lorefs", "index", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: the cache has %d files, %v", path, len(names), err)
	}
	for _, name := range names {
		if c.files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func sameShown(t *testing.T, what string, got, want map[string]string) bool {
	t.Helper()
	wrong := 0
	for name, text := range want {
		if got[name] != text {
			if wrong++; wrong <= 3 {
				t.Errorf("%s: %s is %q, want %q", what, name, got[name], text)
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: there are %d names, want %d", what, len(got), len(want))
	}
	return wrong == 0 && len(got) == len(want)
}

// repacked writes the sample's data center with another revision only.
func repacked(t *testing.T, to, revision string) string {
	t.Helper()
	root := newRoot()
	root.SetArgs([]string{"repack", "--revision", revision, madeSampleFile(t, sample.DataCenterName), to})
	root.SetOut(io.Discard)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return to
}

// smallStorage writes a storage of a few files with names.
func smallStorage(t *testing.T, dir string, seed uint64, files func(*write.Builder) (write.Files, error)) string {
	t.Helper()
	var b write.Builder
	var root strings.Builder
	for i := range uint64(20) {
		s := b.Add(bltetest.Noise(100+int(i), seed+i))
		fmt.Fprintf(&root, "%d.bin|%v\n", i, s.CKey)
	}
	b.Root(b.Add([]byte(root.String())))
	all, err := files(&b)
	if err == nil {
		err = all.Write(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// smallWorld writes a folder with an empty zone and an area.
func smallWorld(t *testing.T, dir string, origin geometry.ZonePosition) string {
	t.Helper()
	err := errors.Join(os.Mkdir(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "x0002y0002.zgd"), geomtest.ZoneFile(geomtest.Empty), 0o600),
		os.WriteFile(filepath.Join(dir, "good.apd"), geomtest.Paths(origin, origin).File(), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSpoiledCache checks that damaged files in the cache never change what is shown. A bit
// is flipped, the end is cut off, a range is zeroed, or the file is of another source.
func TestSpoiledCache(t *testing.T) {
	testneeds.Seconds(t)
	testneeds.Alone(t)
	t.Parallel()
	trials := testneeds.Cases(15, 300, 300)
	if text := os.Getenv(cacheTrialsVar); text != "" {
		var err error
		if trials, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	const (
		quick     = 6 // the sources before the worlds, which take half a second each
		slowEvery = 15
	)
	mirror := func(b *write.Builder) (write.Files, error) { return b.Mirror(false) }
	paths := []string{
		repacked(t, filepath.Join(dir, "one.dat"), "12345"), repacked(t, filepath.Join(dir, "two.dat"), "54321"),
		smallStorage(t, filepath.Join(dir, "game"), 1, (*write.Builder).Install),
		smallStorage(t, filepath.Join(dir, "other"), 2, (*write.Builder).Install),
		smallStorage(t, filepath.Join(dir, "mirror"), 3, mirror), smallStorage(t, filepath.Join(dir, "other mirror"), 4, mirror),
		smallWorld(t, filepath.Join(dir, "world"), geometry.DefaultOrigin),
	}
	if !testneeds.Quick() {
		paths = append(paths, smallWorld(t, filepath.Join(dir, "elsewhere"), geometry.ZonePosition{X: 7, Y: 9}))
	}
	var sources []*cacheSource
	for _, path := range paths {
		sources = append(sources, newCacheSource(t, path))
	}
	var others [][]byte // the cache files of all sources
	for _, s := range sources {
		for _, name := range slices.Sorted(maps.Keys(s.files)) {
			others = append(others, s.files[name])
		}
	}
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	t.Logf("%d files, seed %d", len(others), seed)
	for i := range trials {
		s := sources[i%quick]
		if i%slowEvery == 0 {
			s = sources[quick+i/slowEvery%(len(sources)-quick)]
		}
		cache := filepath.Join(t.TempDir(), "c")
		if err := os.MkdirAll(filepath.Join(cache, "lorefs", "index"), 0o700); err != nil {
			t.Fatal(err)
		}
		what := ""
		for _, name := range slices.Sorted(maps.Keys(s.files)) {
			data, how := spoiled(rnd, s.files[name], others)
			what += fmt.Sprintf("%s %.8s; ", how, name)
			if err := os.WriteFile(filepath.Join(cache, "lorefs", "index", name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := shownBy(t.Context(), s.path, cache)
		if err != nil {
			t.Errorf("seed %d, trial %d: %s, %s: %v", seed, i, filepath.Base(s.path), what, err)
			continue
		}
		if !sameShown(t, fmt.Sprintf("seed %d, trial %d: %s, %s", seed, i, filepath.Base(s.path), what), got, s.truth) {
			return
		}
	}
}

// spoiled returns a damaged cache file, and how it was damaged.
func spoiled(rnd *rand.Rand, data []byte, others [][]byte) (now []byte, how string) {
	now = slices.Clone(data)
	at := rnd.IntN(max(len(data), 1))
	if rnd.IntN(2) == 0 {
		at = rnd.IntN(min(len(data), 200)) // headers matter most
	}
	switch rnd.IntN(4) {
	case 0:
		now[at] ^= 1 << rnd.IntN(8)
		return now, fmt.Sprintf("a bit at %d of", at)
	case 1:
		return now[:at], fmt.Sprintf("%d bytes of", at)
	case 2:
		clear(now[at:min(len(now), at+1+rnd.IntN(64))])
		return now, fmt.Sprintf("zeros at %d of", at)
	}
	n := rnd.IntN(len(others))
	return others[n], fmt.Sprintf("file %d instead of", n)
}
