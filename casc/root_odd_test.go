package casc_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/internal/root/tvfs"
	"lorefs/casc/keys"
	"lorefs/casc/root"
	"lorefs/internal/testneeds"
)

// TestTVFSFlags reads manifests with all combinations of the known flags. Flags say which
// parts an entry has, and patches require specs whether the flags say so or not.
func TestTVFSFlags(t *testing.T) {
	for flags := range uint32(16) {
		g := casctest.New()
		g.Fill(t)
		g.Ref("vfs-root", g.Add(write.TVFSOf(flags, g.Files())))
		st := openBuilt(t, g)
		files, err := st.Files(t.Context())
		if err != nil || len(files) != len(g.Want) || len(st.Problems()) > 0 {
			t.Errorf("flags %#x: %d of %d files, %v, %v", flags, len(files), len(g.Want), err, st.Problems())
		}
		for i := range files {
			want := g.ByName[files[i].Name]
			if got := files[i].Spans[0]; got.EKey.Short() != want.EKey.Short() || got.ContentSize != want.Size || flags&1 != 0 && got.CKey != want.CKey {
				t.Errorf("flags %#x: %s: %+v", flags, files[i].Name, got)
			}
		}
		if got := readName(t, st, "Data/Units/orc.xml"); got != string(g.Want["data/units/Orc.xml"]) {
			t.Errorf("flags %#x: Orc.xml is %.40q", flags, got)
		}
	}
}

// TestTVFSUnknown checks that unknown flags and a longer header cost no names and are
// reported.
func TestTVFSUnknown(t *testing.T) {
	g := casctest.New()
	g.Fill(t)
	data := write.TVFS(g.Files())
	data[9] |= 0x20
	g.Ref("vfs-root", g.Add(data))
	st := openBuilt(t, g)
	files, err := st.Files(t.Context())
	if err != nil || len(files) != len(g.Want) {
		t.Errorf("%d of %d files, %v", len(files), len(g.Want), err)
	}
	if p := st.Problems(); len(p) != 1 || !errors.Is(p[0], casc.ErrUnsupported) || !strings.Contains(p[0].Error(), "0x200000 are not known") {
		t.Errorf("told of are %v", p)
	}

	longer := write.TVFS(g.Files())
	const head, more = 38, 10
	longer[5] += more
	for _, at := range []int{12, 20, 28} {
		binary.BigEndian.PutUint32(longer[at:], binary.BigEndian.Uint32(longer[at:])+more)
	}
	r, err := tvfs.Parse(slices.Insert(longer, head, make([]byte, more)...), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for f, err := range r.Files() {
		if err != nil || f.Err != nil {
			t.Errorf("%s: %v, %v", f.Name, err, f.Err)
		}
		n++
	}
	if n != len(g.Want) {
		t.Errorf("of a longer header: %d of %d files", n, len(g.Want))
	}
}

// TestBadLines reads text roots with a bad line in every place. Only that line is lost, and
// it is reported with its offset.
func TestBadLines(t *testing.T) {
	testneeds.Seconds(t)
	for kind, write := range map[string]func([]root.File) []byte{"text": write.TextRoot, "overwatch": write.Overwatch} {
		for _, bad := range []string{"garbage line without key", "short.txt|abcd", "a|b|c|d|e|name only|", "|0123456789abcdef0123456789abcdef||||"} {
			filled := casctest.New()
			filled.Fill(t)
			lines := strings.SplitAfter(strings.TrimRight(string(write(filled.Files())), "\r\n"), "\n")
			for at := range len(lines) + 1 {
				if kind == "overwatch" && at == 0 {
					continue // that is the line of columns
				}
				g := casctest.New()
				g.Fill(t)
				before := strings.Join(lines[:at], "")
				if at == len(lines) {
					before += "\n"
				}
				g.Root(g.Add([]byte(before + bad + "\n" + strings.Join(lines[at:], ""))))
				st := openBuilt(t, g)
				files, err := st.Files(t.Context())
				if err != nil || len(files) != len(g.Want) || st.Kind(t.Context()) != kind {
					t.Errorf("%s, %q in line %d: %d of %d files of kind %s, %v", kind, bad, at, len(files), len(g.Want), st.Kind(t.Context()), err)
				}
				p := st.Problems()
				if e, ok := errors.AsType[*casc.FormatError](errors.Join(p...)); len(p) != 1 || !ok || e.Off != int64(len(before)) {
					t.Errorf("%s, %q in line %d: told of are %v, want offset %#x", kind, bad, at, p, len(before))
				}
			}
		}
	}
}

func readName(t *testing.T, st *casc.Storage, name string) string {
	t.Helper()
	c, err := st.OpenName(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.ReadAll(t.Context(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLookupVariants looks up a name that several files of one ID have, in two orders. It
// must lead to the file that the game loads.
func TestLookupVariants(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		g := casctest.New()
		var files []root.File
		for _, flags := range []root.ContentFlags{root.ContentLowViolence, root.ContentDontLoad, root.ContentNoCompression, 0} {
			s := g.Add(fmt.Appendf(nil, "flags %x", flags))
			files = append(files, root.File{ID: 7, CKey: s.CKey, NameHash: root.NameHash("a/b"), Flags: flags, Locale: root.LocaleEnUS})
		}
		files[3].Locale = root.LocaleDeDE
		if reverse {
			slices.Reverse(files)
		}
		g.Root(g.Add(write.WoWRoot(3, files)))
		install, err := g.Install()
		if err != nil {
			t.Fatal(err)
		}
		names, err := root.ReadListFile(strings.NewReader("7;A/B\n"), 6, func(int, error) {})
		if err != nil {
			t.Fatal(err)
		}
		st, err := casc.Open(casctest.FS(install), casc.Options{Names: names})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"A/B", "a/b"} {
			if got := readName(t, st, name); got != "flags 0" {
				t.Errorf("%s is that of %s", name, got)
			}
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNotInEncoding has a file in a virtual file system that the encoding file lacks. It
// can be read, and Verify reports it and no other.
func TestNotInEncoding(t *testing.T) {
	g := casctest.New()
	g.Fill(t)
	files := g.Files()
	strange := keys.Key{1, 2, 3}
	const at = 1
	files[at].Spans[0].CKey = strange
	nested := g.Add(write.TVFS(files[:3]))
	top := append(slices.Clone(files[3:]), root.File{Name: "sub", Spans: []root.Span{{EKey: nested.EKey, CKey: keys.Key{9}, Size: nested.Size, ContentSize: nested.Size}}})
	g.Ref("vfs-root", g.Add(write.TVFS(top)))
	g.Ref("vfs-1", nested)
	st := openBuilt(t, g)
	if got := readName(t, st, "sub:"+files[at].Name); got != string(g.Want[files[at].Name]) {
		t.Errorf("%s is %.40q", files[at].Name, got)
	}
	var told []string
	for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(f.What, "not in the encoding file") {
			told = append(told, f.String())
		}
	}
	if want := "missing: sub:" + files[at].Name + ": content key " + strange.String(); len(told) != 1 || !strings.HasPrefix(told[0], want) {
		t.Errorf("told of are %q, want %s", told, want)
	}
}
