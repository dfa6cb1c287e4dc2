package casctree_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/blte/bltetest"
	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/root"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
	"lorefs/nodes/internal/svg/svgtest"
)

// textsOf returns the texts in storage.svg.
func textsOf(t *testing.T, tree nodes.Tree) []string {
	t.Helper()
	data, err := readPath(t.Context(), tree, "storage.svg")
	if err != nil {
		t.Fatal(err)
	}
	return svgtest.Texts(t, data)
}

// TestPictureSizes compares the sums in storage.svg with what is found by reading all files.
func TestPictureSizes(t *testing.T) {
	for _, root := range []string{"text", "wow 3", "tvfs"} {
		_, files, sopts, opts := makeGame(t, root, "install")
		opts.Missing = true
		tree := open(t, casctest.FS(files), sopts, opts)
		sums := map[string]int64{}
		for _, top := range []string{"files", "unnamed"} {
			if _, err := lookup(t.Context(), tree, top); err != nil {
				continue
			}
			for _, e := range listed(t, tree, top) {
				_, err := readAll(t.Context(), tree, e)
				switch {
				case errors.Is(err, nodes.ErrUnavailable):
					sums["missing"] += e.Size
				case errors.Is(err, nodes.ErrNoKey):
					sums["no key"] += e.Size
				default:
					sums["local"] += e.Size
				}
			}
		}
		got := textsOf(t, tree)
		for _, name := range []string{"local", "missing", "no key"} {
			want := fmt.Sprintf("%s: %d bytes", name, sums[name])
			if sums[name] >= 1000 {
				want = fmt.Sprintf("%s: %.1f kB", name, float64(sums[name])/1000)
			}
			if !slices.Contains(got, want) {
				t.Errorf("%s: the drawing lacks %q, it has %q", root, want, got[:min(len(got), 8)])
			}
		}
	}
}

// storageOf returns the tree of a storage with files of a name and a size.
func storageOf(t *testing.T, sizes map[string]int) *casctree.Tree {
	t.Helper()
	g := casctest.New()
	var all []root.File
	for name, size := range sizes {
		all = append(all, root.File{Name: name, CKey: g.Add([]byte(name + strings.Repeat(".", size-len(name)))).CKey})
	}
	slices.SortFunc(all, func(a, b root.File) int { return strings.Compare(a.Name, b.Name) })
	g.Root(g.Add(write.TextRoot(all)))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	return open(t, casctest.FS(files), casc.Options{}, casctree.Options{})
}

// TestPictureOfFolders checks names in the drawing, and what it says about folders.
func TestPictureOfFolders(t *testing.T) {
	got := textsOf(t, storageOf(t, map[string]int{
		"지역/숲.txt": 300, "지역/강.txt": 100, "a<b>&c/d/e": 150, "a<b>&c/f": 50, "g": 20,
	}))
	for _, want := range []string{
		"local: 620 bytes", "missing: 0 bytes", "files, local 620 bytes", "files/지역, local 400 bytes", "지역 · 400 bytes", "a<b>&c · 200 bytes", "loose files · 20 bytes",
		"files/a<b>&c, local 200 bytes", "files/a<b>&c/d, local 150 bytes", "files/a<b>&c/*, local 50 bytes", "files/*, local 20 bytes",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("the drawing lacks %q, it has %q", want, got)
		}
	}
}

// TestPictureOfMixed draws as many boxes as there can be, with long names, all of which have files of
// each state. Nothing is left out.
func TestPictureOfMixed(t *testing.T) {
	g := casctest.New()
	secret := &blte.Encryption{Name: bltetest.SecretName, IV: []byte{1, 2, 3, 4}, Cipher: blte.CipherSalsa20}
	var all []root.File
	for i := range 40 {
		for k := range 12 {
			dir := fmt.Sprintf("%s %02d/%s %02d/", strings.Repeat("folder ", 5), i, strings.Repeat("inside ", 5), k)
			here := g.Add([]byte(dir + strings.Repeat(".", 2000)))
			text := []byte(dir + strings.Repeat("?", 2000))
			locked := g.AddChunks("b:{*=e:{1122334455667788,01020304,n}}", blte.WriteOptions{}, blte.Chunk{Content: text, Encrypt: secret, Key: bltetest.Key()})
			away := g.AddAbsent([]byte(dir + strings.Repeat("!", 2000)))
			all = append(all, root.File{Name: dir + "a", CKey: here.CKey}, root.File{Name: dir + "b", CKey: locked.CKey}, root.File{Name: dir + "c", CKey: away.CKey})
		}
	}
	slices.SortFunc(all, func(a, b root.File) int { return strings.Compare(a.Name, b.Name) })
	g.Root(g.Add(write.TextRoot(all)))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	tree := open(t, casctest.FS(files), casc.Options{}, casctree.Options{Missing: true})
	data, err := readPath(t.Context(), tree, "storage.svg")
	if err != nil {
		t.Fatal(err)
	}
	// At most 500 boxes, of which each has three parts unless it is divided.
	if n, want := bytes.Count(data, []byte("<rect")), 38+3*12*38; n < want {
		t.Errorf("it has %d shapes, want %d", n, want)
	}
}

// TestPictureOfMuch draws more folders than can be seen. All sizes are in the drawing, and the size
// of the file is as it was told.
func TestPictureOfMuch(t *testing.T) {
	sizes := map[string]int{}
	for i := range 60 {
		for k := range 60 {
			sizes[fmt.Sprintf("folder %02d/in it %02d/file", i, k)] = 60 + i + k
		}
	}
	tree := storageOf(t, sizes)
	got := textsOf(t, tree)
	for _, want := range []string{"20 more folders", "folder 59"} {
		if !slices.ContainsFunc(got, func(text string) bool { return strings.HasPrefix(text, want) }) {
			t.Errorf("the drawing lacks %q", want)
		}
	}
	e, err := lookup(t.Context(), tree, "storage.svg")
	if err != nil {
		t.Fatal(err)
	}
	data, err := readPath(t.Context(), tree, "storage.svg")
	if err != nil || int64(len(data)) != e.Size {
		t.Errorf("it has %d bytes, want %d: %v", len(data), e.Size, err)
	}
	// Names end where their boxes do, and those within the drawing.
	labels := regexp.MustCompile(`<svg x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)" height="15"><text`).FindAllSubmatch(data, -1)
	if len(labels) < 40 || bytes.Count(data, []byte("<text")) != len(labels)+4 {
		t.Errorf("%d of %d texts are cut off where their boxes end", len(labels), bytes.Count(data, []byte("<text")))
	}
	for _, l := range labels {
		x, xErr := strconv.ParseFloat(string(l[1]), 64)
		width, err := strconv.ParseFloat(string(l[2]), 64)
		if xErr != nil || err != nil || x+width > 1190 {
			t.Errorf("a name goes beyond the drawing: %s", l[0])
		}
	}
	// 500 boxes, and a few shapes around them.
	if n := bytes.Count(data, []byte("<rect")); n < 400 || n > 520 {
		t.Errorf("it has %d boxes", n)
	}
	if again, err := readPath(t.Context(), storageOf(t, sizes), "storage.svg"); err != nil || !bytes.Equal(again, data) {
		t.Errorf("it is drawn in another way the next time: %v", err)
	}
}

// TestPictureOfNothing draws a storage whose files are empty.
func TestPictureOfNothing(t *testing.T) {
	g := casctest.New()
	g.Root(g.Add(write.TextRoot([]root.File{{Name: "x", CKey: g.Add(nil).CKey}})))
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	if got := textsOf(t, open(t, casctest.FS(files), casc.Options{}, casctree.Options{})); !slices.Contains(got, "local: 0 bytes") {
		t.Errorf("the drawing has %q", got)
	}
}
