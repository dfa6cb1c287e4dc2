package casc_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"lorefs/casc"
	"lorefs/casc/casctest"
	"lorefs/casc/casctest/write"
	"lorefs/casc/manifests"
	"lorefs/casc/root"
)

// badRoots returns roots of each kind that are well encoded and can't be parsed.
func badRoots(files []root.File) map[string][]byte {
	wow := write.WoWRoot(3, files)
	later := slices.Clone(wow)
	later[8] = 9
	var entries []manifests.InstallEntry
	var rows []write.MNDXFile
	for _, f := range files {
		entries = append(entries, manifests.InstallEntry{Name: f.Name, CKey: f.CKey, Size: f.Size})
		rows = append(rows, write.MNDXFile{Package: "base", Name: f.Name, CKey: f.CKey, Size: f.Size})
	}
	cut := func(data []byte) []byte { return data[:len(data)*2/3] }
	return map[string][]byte{
		"wow 0":                     cut(write.WoWRoot(0, files)),
		"wow 1":                     cut(write.WoWRoot(1, files)),
		"wow 2":                     cut(write.WoWRoot(2, files)),
		"wow 3":                     cut(wow),
		"wow of a later version":    later,
		"tvfs":                      write.TVFS(files)[:40],
		"text":                      []byte("readme.txt|not a key\n"),
		"mndx":                      cut(write.MNDX(2, rows)),
		"overwatch without columns": []byte("#MD5|SIZE|NAME\nabc|1|x\n"),
		"overwatch without files":   cut(write.Overwatch(files[:1])),
		"diablo3":                   cut(write.Diablo3([]write.Diablo3Entry{{Name: "Base"}, {Name: "enUS"}})),
		"install":                   cut(write.Install(1, entries)),
		"nothing":                   {},
		"three bytes":               []byte("abc"),
	}
}

// TestRootNotParsed opens storages whose root is well encoded but can't be parsed. The
// virtual file system or the install manifest takes its place, and the fault is reported.
func TestRootNotParsed(t *testing.T) {
	filled := casctest.New()
	filled.Fill(t)
	for name, bad := range badRoots(filled.Files()) {
		for _, vfs := range []bool{false, true} {
			g := casctest.New()
			g.Fill(t)
			g.Root(g.Add(bad))
			g.Ref("install", g.Add(write.Install(1, []manifests.InstallEntry{{Name: `Sub\Read Me.txt`, CKey: g.ByName["readme.txt"].CKey}})))
			want := "Sub/Read Me.txt"
			if vfs {
				g.Ref("vfs-root", g.Add(write.TVFS([]root.File{{Name: "of vfs", Spans: g.Files()[0].Spans}})))
				want = "of vfs"
			}
			st := openBuilt(t, g)
			list, err := st.Files(t.Context())
			if err != nil || len(list) != 1 || list[0].Name != want {
				t.Errorf("%s: %+v, %v; want %s", name, list, err, want)
			}
			told := slices.ContainsFunc(st.Problems(), func(err error) bool {
				return strings.Contains(err.Error(), "root: ") && errors.Is(err, casc.ErrNoRoot) == !vfs
			})
			if !told {
				t.Errorf("%s: told of are %v", name, st.Problems())
			}
			n := 0
			for f, err := range st.Verify(t.Context(), casc.VerifyOptions{}) {
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if strings.Contains(f.What, "root: ") {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: verify tells %d times of the root", name, n)
			}
		}
	}
}

// TestParseRootFails checks that a failing parser returns no root, not even a nil of its
// own type in the interface.
func TestParseRootFails(t *testing.T) {
	g := casctest.New()
	g.Fill(t)
	for name, bad := range badRoots(g.Files()) {
		if root, err := casc.ParseRoot(bad, nil); root != nil || err == nil {
			t.Errorf("%s: a root %T, %v", name, root, err)
		}
	}
}

func openBuilt(t *testing.T, g *casctest.Game) *casc.Storage {
	t.Helper()
	files, err := g.Install()
	if err != nil {
		t.Fatal(err)
	}
	st, err := casc.Open(casctest.FS(files), casc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}
