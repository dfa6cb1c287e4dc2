package casc_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/write"
)

// mirrorOf is a mirror of a game of one file, whose build configuration has more lines.
func mirrorOf(t *testing.T, group bool, content string, lines ...string) (files write.Files, build casc.Key) {
	t.Helper()
	g := newGame()
	g.Config = append(g.Config, lines...)
	g.Add([]byte(content + " is loose"))
	s := g.Add([]byte(content)) // it and the root are in the archive, the encoding file is loose
	g.Add([]byte(content + " is loose, too"))
	g.Root(g.Add(write.TextRoot([]casc.File{{Name: "x", CKey: s.CKey}})))
	files, err := g.Mirror(group)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if strings.HasPrefix(name, "config/") && strings.Contains(string(data), "encoding = ") {
			build = write.Key(data)
		}
	}
	return files, build
}

// readX gives what the file x of a storage has.
func readX(t *testing.T, files write.Files, opts casc.Options) (string, *casc.Storage, error) {
	t.Helper()
	st, err := casc.Open(casctest.FS(files), opts)
	if err != nil {
		return "", nil, err
	}
	c, err := st.OpenName("x")
	if err != nil {
		return "", st, err
	}
	b, err := c.ReadAll(1000)
	return string(b), st, err
}

// TestTwoBuilds has a mirror of two builds, and of the two CDN configurations that they
// came with.
func TestTwoBuilds(t *testing.T) {
	for _, group := range []bool{false, true} {
		one, oneKey := mirrorOf(t, group, "the first", "build-uid = wow")
		two, twoKey := mirrorOf(t, group, "the second", "build-uid = wow_classic")
		both := maps.Clone(one)
		maps.Copy(both, two)
		for want, opts := range map[string]casc.Options{
			"the first": {BuildKey: oneKey}, "the second": {Product: "WoW_classic"},
		} {
			got, st, err := readX(t, both, opts)
			if err != nil || got != want {
				t.Errorf("group %v: %q, %v, want %q", group, got, err, want)
				continue
			}
			if p := st.Problems(); len(p) > 0 {
				t.Errorf("group %v: %v", group, p)
			}
		}
		_, _, err := readX(t, both, casc.Options{})
		e, ok := errors.AsType[*casc.BuildsError](err)
		if !ok || len(e.Builds) != 2 {
			t.Fatalf("group %v: %v", group, err)
		}
		for _, part := range []string{oneKey.String() + " wow 1.0.0.1", twoKey.String() + " wow_classic 1.0.0.1"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v, without %s", err, part)
			}
		}
		if _, _, err := readX(t, both, casc.Options{Product: "d3"}); err == nil || err.Error() != `casc: no build of product "d3" is active; installed are wow, wow_classic` &&
			err.Error() != `casc: no build of product "d3" is active; installed are wow_classic, wow` {
			t.Errorf("another product: %v", err)
		}
		_, _, err = readX(t, one, casc.Options{Product: "d3"})
		if _, ok := errors.AsType[*casc.ProductError](err); !ok {
			t.Errorf("one build, another product: %v", err)
		}
	}
}

// TestGroupOfNone has an index of a group that no CDN configuration names.
func TestGroupOfNone(t *testing.T) {
	files, _ := mirrorOf(t, true, "text")
	for i := range 2 {
		other := fmt.Appendf(nil, "archives = %v\n", casc.Key{byte(i + 1)})
		files[casc.ConfigPath("config", write.Key(other))] = other
	}
	for name, data := range files {
		if strings.HasPrefix(name, "config/") && strings.Contains(string(data), "archive-group") {
			delete(files, name)
		}
	}
	st, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if told := fmt.Sprint(st.Problems()); !strings.Contains(told, "none of 2 CDN configurations says which archives it is of") {
		t.Error(told)
	}
}

// TestMisnamedIndex has an index that is called as another archive is: it is told of, and
// all files are read as before.
func TestMisnamedIndex(t *testing.T) {
	files, _ := mirrorOf(t, false, "text")
	other := write.ArchiveIndex([]casc.ArchiveEntry{{Key: casc.Key{1}, Size: 3, Off: 5}}, 4)
	for name, data := range maps.Clone(files) {
		if !strings.HasSuffix(name, ".index") {
			continue
		}
		wrong := write.Key(other)
		files[casc.ConfigPath("data", wrong)] = files[strings.TrimSuffix(name, ".index")][:20]
		files[casc.ConfigPath("data", wrong)+".index"] = data
	}
	got, st, err := readX(t, files, casc.Options{})
	if err != nil || got != "text" {
		t.Fatalf("%q, %v", got, err)
	}
	if p := fmt.Sprint(st.Problems()); len(st.Problems()) != 1 || !strings.Contains(p, "the footer has the MD5 ") || !strings.Contains(p, write.Key(other).String()) {
		t.Error(p)
	}
}
