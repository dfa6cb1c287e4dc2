package casctree

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/internal/cache"
)

// unescape returns the inverse of appendEscaped for names that are not shortened.
func unescape(t *rapid.T, name string) string {
	if name == "%" {
		return ""
	}
	var b []byte
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b = append(b, name[i])
			continue
		}
		c, err := strconv.ParseUint(name[i+1:i+3], 16, 8)
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		b = append(b, byte(c))
		i += 2
	}
	return string(b)
}

func part(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune{'.', '%', '/', 0, '~', 'a', 'Ä', 'ß', 'İ', 'K', 'Ⱥ', '\n', 'Z', ' '}), 0, 120, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) }),
	).Draw(t, label)
}

func TestEscape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := part(t, "a"), part(t, "b")
		x, y := string(appendEscaped(nil, a)), string(appendEscaped(nil, b))
		if !isLegal(x) || len(x) > maxPart || !isLegal(string(appendOrdinal([]byte(x), 1<<25))) {
			t.Fatalf("%q becomes %q", a, x)
		}
		if a != b && x == y {
			t.Fatalf("%q and %q become %q", a, b, x)
		}
		if !strings.Contains(x, "%~") && unescape(t, x) != a {
			t.Fatalf("%q becomes %q, and is read back as %q", a, x, unescape(t, x))
		}
	})
}

func TestCompareFolded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := []byte(part(t, "a")), []byte(part(t, "b"))
		if rapid.Bool().Draw(t, "alike") {
			b = append([]byte(strings.ToUpper(string(a))), b[:len(b)/2]...)
		}
		want := bytes.Compare(appendFolded(nil, a), appendFolded(nil, b))
		if got := compareFolded(a, b); sign(got) != want || sign(compareFolded(b, a)) != -want {
			t.Fatalf("%q and %q: %d, want %d", a, b, got, want)
		}
	})
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// sampleTable returns a table with all kinds of files.
func sampleTable(tb testing.TB) []byte {
	tb.Helper()
	b := &builder{byPath: map[string]uint32{}, byName: map[dirName]uint32{}, places: map[uint64]uint32{}, dirs: []buildDir{{}}, kind: "text"}
	b.dir(0, filesName)
	for i, name := range []string{"a/b/c.txt", "a/d.txt", "A/D.txt", "a/d.txt", "x", "x/y"} {
		at := strings.LastIndexByte(name, '/')
		x := b.files.add()
		x.state = stateKeyed
		if err := put(b, x, b.path([]byte(name[:max(at, 0)])), name[at+1:]); err != nil {
			tb.Fatal(err)
		}
		x.key[0] = byte(i)
		switch i {
		case 1:
			x.flags = flagForms
			if err := b.refer(x, 2, make([]byte, 18)); err != nil {
				tb.Fatal(err)
			}
		case 4:
			x.flags = flagSpans
			if err := b.refer(x, 1, make([]byte, spanSize)); err != nil {
				tb.Fatal(err)
			}
		}
	}
	id := cache.ID{Kind: tableKind}
	_, sealed, err := b.finish(tb.Context(), id)
	if err != nil {
		tb.Fatal(err)
	}
	body, err := id.Body(sealed)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// FuzzTable opens tables: nothing in one may lead out of it, or in circles.
func FuzzTable(f *testing.F) {
	f.Add(sampleTable(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		names, err := openTable(data)
		if err != nil {
			return
		}
		seen := 0
		var walk func(d int)
		walk = func(d int) {
			if seen++; seen > names.nDirs {
				t.Fatal("a directory is met twice")
			}
			for in := names.filesIn(d); in.from < in.to; in.from++ {
				e := names.entry(in.from)
				_, _ = names.path(in.from), e.size()
				if _, err := names.more(e, spanSize); err != nil {
					continue
				}
				find(names.filesIn(d), names.fileName(in.from), names.fileName)
			}
			for in := names.dirsIn(d); in.from < in.to; in.from++ {
				find(names.dirsIn(d), names.dirName(in.from), names.dirName)
				walk(in.from)
			}
		}
		walk(0)
	})
}
