package cascdiff_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"lorefs/blte"
	"lorefs/casc"
	"lorefs/casc/cascdiff"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/keys"
	"lorefs/casc/root"
)

// build opens a build with a root of a kind, of files whose content is given by name. twice
// says which of them are encoded otherwise.
func build(t *testing.T, kind string, content map[string]string, twice ...string) *casc.Storage {
	t.Helper()
	g := casctest.New()
	var files []root.File
	for _, name := range slices.Sorted(maps.Keys(content)) {
		text := []byte(content[name])
		spec, chunk := "n", blte.Chunk{Content: text}
		if slices.Contains(twice, name) {
			spec, chunk = "z", blte.Chunk{Content: text, Mode: blte.ModeZlib}
		}
		s := g.AddChunks(spec, blte.WriteOptions{}, chunk)
		name, language, _ := strings.Cut(name, "@")
		f := root.File{
			Name: name, CKey: s.CKey, ID: uint32(name[len(name)-1]), NameHash: root.NameHash(name), Flags: root.ContentNoNames, Locale: root.LocaleEnUS,
			Spans: []root.Span{{EKey: s.EKey, CKey: s.CKey, Size: s.Size, ContentSize: s.Size}},
		}
		if language != "" {
			var err error
			if f.Locale, err = root.ParseLocale(language); err != nil {
				t.Fatal(err)
			}
		}
		files = append(files, f)
	}
	switch kind {
	case "wow":
		g.Root(g.Add(write.WoWRoot(3, files)))
	case "wow by hash":
		for i := range files {
			files[i].Flags = 0
		}
		g.Root(g.Add(write.WoWRoot(3, files)))
	case "text":
		g.Root(g.Add(write.TextRoot(files)))
	case "tvfs":
		g.Ref("vfs-root", g.Add(write.TVFS(files)))
	case "tvfs without content keys":
		for i := range files {
			files[i].Spans[0].CKey = keys.Key{}
		}
		g.Ref("vfs-root", g.Add(write.TVFSOf(0, files)))
	}
	install, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	st, err := casc.Open(casctest.FS(install), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// lines compares two builds, and returns a line for each difference, sorted.
func lines(t *testing.T, a, b *casc.Storage, o cascdiff.Options) (all []string) {
	t.Helper()
	for d, err := range cascdiff.Compare(t.Context(), a, b, o) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %s %d %d", d.Kind, d.File.Name, len(d.Old), len(d.New)))
	}
	slices.Sort(all)
	return all
}

func TestCompare(t *testing.T) {
	list := func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("97;dir/a\n98;\\dir\\b\n98;another\n99;dir/c\n100;dir/d\n101;dir/e\n")), nil
	}
	before := map[string]string{"dir/a": "same", "dir/b": "old", "dir/c": "gone", "dir/d": "encoded"}
	now := map[string]string{"dir/a": "same", "dir/b": "new", "dir/d": "encoded", "dir/e": "fresh"}
	for _, kind := range []string{"wow", "wow by hash", "text", "tvfs", "tvfs without content keys"} {
		a, b := build(t, kind, before), build(t, kind, now, "dir/d")
		want := []string{"added dir/e 0 1", "changed dir/b 1 1", "removed dir/c 1 0"}
		if strings.HasSuffix(kind, "without content keys") {
			want = []string{"added dir/e 0 1", "changed_or_encoded_anew dir/b 1 1", "changed_or_encoded_anew dir/d 1 1", "removed dir/c 1 0"}
		}
		for _, records := range []int{0, 4, 1} {
			o := cascdiff.Options{Records: records, Lists: []func() (io.ReadCloser, error){list}}
			if got := lines(t, a, b, o); !slices.Equal(got, want) {
				t.Errorf("%s, %d at a time: %q, want %q", kind, records, got, want)
			}
			if got := lines(t, a, a, o); len(got) > 0 {
				t.Errorf("%s with itself: %q", kind, got)
			}
		}
	}
	// A name that differs in case is the same.
	upper := map[string]string{"DIR/A": "same", "DIR/B": "old", "DIR/C": "gone", "DIR/D": "encoded"}
	if got := lines(t, build(t, "text", before), build(t, "tvfs", upper), cascdiff.Options{}); len(got) > 0 {
		t.Errorf("in upper case, with another root: %q", got)
	}
	// Content keys and encoding keys can't be compared.
	if got := lines(t, build(t, "text", before), build(t, "tvfs without content keys", before), cascdiff.Options{}); len(got) != 4 || !strings.HasPrefix(got[0], string(cascdiff.Unsure)) {
		t.Errorf("keys of two kinds: %q", got)
	}
}

// TestCompareLanguages has several files of one number.
func TestCompareLanguages(t *testing.T) {
	before := map[string]string{"a@enUS": "English", "a@deDE": "Deutsch", "b@enUS": "one", "c@enUS": "x", "c@deDE": "y"}
	for _, c := range []struct {
		change map[string]string
		want   []string
	}{
		{nil, nil},
		{map[string]string{"a@deDE": "neu"}, []string{"changed 1 1"}},
		{map[string]string{"a@frFR": "Français"}, []string{"changed 0 1"}},
		{map[string]string{"a@deDE": ""}, []string{"changed 1 0"}},
		{map[string]string{"c@enUS": "y", "c@deDE": "x"}, nil}, // which of them a root prefers is not compared
		{map[string]string{"b@enUS": ""}, []string{"removed 1 0"}},
		{map[string]string{"d@enUS": "d", "d@deDE": "e"}, []string{"added 0 2"}},
	} {
		now := maps.Clone(before)
		for name, text := range c.change {
			if now[name] = text; text == "" {
				delete(now, name)
			}
		}
		var got []string
		for _, line := range lines(t, build(t, "wow", before), build(t, "wow", now), cascdiff.Options{}) {
			got = append(got, strings.ReplaceAll(line, "  ", " "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.change, got, c.want)
		}
	}
}

// TestCompareParts compares files that are put together of parts.
func TestCompareParts(t *testing.T) {
	parts := func(sizes ...int64) *casc.Storage {
		g := casctest.New()
		s := g.Add([]byte("some content"))
		var spans []root.Span
		for _, n := range sizes {
			spans = append(spans, root.Span{EKey: s.EKey, CKey: s.CKey, Off: 1, Size: n, ContentSize: s.Size})
		}
		g.Ref("vfs-root", g.Add(write.TVFS([]root.File{{Name: "parts", Spans: spans}})))
		install, err := g.Install()
		if err != nil {
			t.Fatal(err)
		}
		st, err := casc.Open(casctest.FS(install), casc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		return st
	}
	if got := lines(t, parts(3, 4), parts(3, 4), cascdiff.Options{}); len(got) > 0 {
		t.Errorf("the same: %q", got)
	}
	for _, other := range [][]int64{{3, 5}, {3}, {3, 4, 4}} {
		if got := lines(t, parts(3, 4), parts(other...), cascdiff.Options{}); len(got) != 1 || !strings.HasPrefix(got[0], "changed parts ") {
			t.Errorf("%v: %q", other, got)
		}
	}
}

// TestCompareMany compares more files than are held at a time.
func TestCompareMany(t *testing.T) {
	const n = 3000
	text := func(from, to, version int) *casc.Storage {
		g := casctest.New()
		var root strings.Builder
		for i := from; i < to; i++ {
			key := write.Key(fmt.Appendf(nil, "%d of %d", i, version*(i%3)))
			fmt.Fprintf(&root, "dir/%04d|%v\n", i, key)
		}
		g.Root(g.Add([]byte(root.String())))
		install, err := g.Install()
		if err != nil {
			t.Fatal(err)
		}
		st, err := casc.Open(casctest.FS(install), casc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		return st
	}
	a, b := text(0, n, 1), text(300, n+300, 2)
	var want []string
	for _, records := range []int{0, 500} {
		got := lines(t, a, b, cascdiff.Options{Records: records})
		if want == nil {
			want = got
		}
		if len(got) != 300+300+(n-300)*2/3 || !slices.Equal(got, want) {
			t.Errorf("%d at a time: %d differences", records, len(got))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	for _, err := range cascdiff.Compare(ctx, a, b, cascdiff.Options{}) {
		if seen++; err != nil && !errors.Is(err, context.Canceled) || err == nil && seen > 1 {
			t.Errorf("after cancel: %v", err)
		}
		cancel()
	}
	if seen != 2 {
		t.Errorf("%d differences and errors", seen)
	}
	cancel()
	for _, err := range cascdiff.Compare(t.Context(), a, b, cascdiff.Options{}) {
		if err != nil {
			t.Error(err)
		}
		break
	}
}
