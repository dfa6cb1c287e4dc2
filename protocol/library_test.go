package protocol_test

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"lorefs/internal/testneeds"
	"lorefs/protocol"
)

func files(names map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range names {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestChoose(t *testing.T) {
	fsys := files(map[string]string{
		"S_A.1.def":            "# majorPatchVersion < 90\nbyte a",
		"S_A.2.def":            "# majorPatchVersion >= 90\nbyte a",
		"S_A.2.console.def":    "int32 a",
		"S_A.2.pc.def":         "# majorPatchVersion >= 90\nint16 a",
		"S_A.10.def":           "byte a",
		"S_B.1.def":            "in32 a",
		"sub/S_A.1.def":        "int64 a",
		"a/b/c/d/e/S_E.1.def":  "",
		".git/S_G.1.def":       "",
		"S_J.1.js":             "",
		"deprecated.json":      `{"S_A":{"10":{"min":100,"readable":false}}}`,
		"integrity/92.json":    `["S_A"]`,
		"integrity/95.json":    `["S_B"]`,
		"integrity/notes.json": `x`,
	})
	for _, tt := range []struct {
		name, version, platform string
		patch                   protocol.Patch
		want                    string
	}{
		{"S_A", "*", "", 0, "S_A.10.def"},
		{"S_A", "*", "", 8999, "S_A.1.def"},
		{"S_A", "*", "", 9000, "S_A.2.pc.def"},
		{"S_A", "*", "console", 9000, "S_A.2.console.def"},
		{"S_A", "*", "classic", 9000, "S_A.2.def"},
		{"S_A", "*", "", 10000, "S_A.10.def"},
		{"S_A", "1", "", 10000, "S_A.1.def"},
		{"S_A", "2", "", 0, "S_A.2.pc.def"},
		{"S_A", "3", "", 0, ""},
		{"S_A", "2.console", "", 0, "S_A.2.console.def"},
		{"S_A", "2.pc", "console", 0, "S_A.2.pc.def"},
		{"S_A", "1.pc", "", 0, ""},
		{"S_E", "*", "", 0, ""},
		{"S_G", "*", "", 0, ""},
		{"S_J", "*", "", 0, ""},
		{"S_B", "*", "", 9000, "S_B.1.def"},
	} {
		lib, err := protocol.OpenLibrary(fsys, protocol.LibraryOptions{Platform: tt.platform})
		if err != nil {
			t.Fatal(err)
		}
		i, err := lib.Choose(tt.name, tt.version, tt.patch)
		if tt.want == "" {
			if !errors.Is(err, protocol.ErrNoDefinition) {
				t.Errorf("%+v: %v, want ErrNoDefinition", tt, err)
			}
			continue
		}
		if err != nil || lib.Definitions()[i].Path != tt.want {
			t.Errorf("%+v: got %d, %v", tt, i, err)
		}
	}
	lib, err := protocol.OpenLibrary(fsys, protocol.LibraryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[protocol.Patch]bool{0: false, 9100: false, 9200: true, 9499: true, 9500: false} {
		if lib.Padded("S_A", p) != want {
			t.Errorf("%v: padded is %v", p, !want)
		}
	}
	i, err := lib.Choose("S_B", "*", 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = lib.Table(i, 0)
	wantError(t, err, `S_B.1.def:1: no such type: "in32"`)
}

// TestWritable checks that deprecated versions may be readable but are never written.
func TestWritable(t *testing.T) {
	lib, err := protocol.OpenLibrary(files(map[string]string{
		"S_A.1.def": "", "S_A.2.def": "", "S_A.3.def": "",
		"deprecated.json": `{"S_A":{"1":{"max":113,"readable":true},"2":{"min":90,"max":100}}}`,
	}), protocol.LibraryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		i     int
		patch protocol.Patch
		want  string
	}{
		{0, 11302, ""},
		{0, 11500, "S_A.1 is deprecated: packets of patch 115 are not written by it, only those up to patch 113"},
		{0, 0, ""},
		{1, 8999, "only those from patch 90 on up to patch 100"},
		{1, 9000, ""},
		{2, 11500, ""},
	} {
		err := lib.Writable(tt.i, tt.patch)
		if tt.want == "" && err == nil {
			continue
		}
		wantError(t, err, tt.want)
	}
}

// counting counts how often files are opened.
type counting struct {
	iofs.FS
	opened *atomic.Int64
}

func (c counting) Open(name string) (iofs.File, error) {
	c.opened.Add(1)
	return c.FS.Open(name)
}

// TestChooseReadsOnce checks that a definition is not read again for each packet.
func TestChooseReadsOnce(t *testing.T) {
	var opened atomic.Int64
	lib, err := protocol.OpenLibrary(counting{files(map[string]string{
		"S_A.1.def": "# majorPatchVersion < 90\nbyte a",
		"S_A.2.def": "in32 a",
		"S_A.3.def": "# majorPatchVersion >= 100\nbyte a",
	}), &opened}, protocol.LibraryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	once := int64(0)
	for range 3 {
		if _, err := lib.Choose("S_A", "*", 9000); err != nil {
			t.Fatal(err)
		}
		if once == 0 {
			once = opened.Load()
		}
	}
	if n := opened.Load(); n != once {
		t.Errorf("%d files opened, and %d for the first packet", n, once)
	}
}

// TestKeep checks that a definition that is kept is read once: for its patches, for its table,
// and for the dialect of the folder, which S_B makes a question; and that it is read again later.
func TestKeep(t *testing.T) {
	var opened atomic.Int64
	lib, err := protocol.OpenLibrary(counting{files(map[string]string{
		"S_A.1.def": "byte a", "S_A.2.def": "byte a", "S_B.1.def": "string s\nbyte a", "S_C.1.def": "byte a",
	}), &opened}, protocol.LibraryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tables := func(patch protocol.Patch) int64 {
		before := opened.Load()
		for _, name := range []string{"S_B", "S_A", "S_C"} {
			i, err := lib.Choose(name, "*", patch)
			if err == nil {
				_, err = lib.Table(i, patch)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return (opened.Load() - before) / 2 // a file is opened to see what it is, too
	}
	release, other := lib.Cache(), lib.Cache()
	if n := tables(9000); n != 4 {
		t.Errorf("4 definitions were read %d times", n)
	}
	release()
	release()
	if n := tables(9100); n != 0 {
		t.Errorf("definitions that somebody still keeps were read %d times", n)
	}
	other()
	if n := tables(9200); n != 3 {
		t.Errorf("3 definitions that were forgotten were read %d times", n)
	}
}

func TestLibraryErrors(t *testing.T) {
	_, err := protocol.OpenLibrary(files(map[string]string{"revisions.json": "["}), protocol.LibraryOptions{})
	wantError(t, err, "revisions.json:1: unexpected end of JSON input")
	_, err = protocol.OpenLibrary(os.DirFS(filepath.Join(t.TempDir(), "none")), protocol.LibraryOptions{})
	if !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
}

func TestFindMap(t *testing.T) {
	open := func(names ...string) *protocol.Library {
		list := map[string]string{}
		for _, name := range names {
			list[name] = "S_A 1"
		}
		lib, err := protocol.OpenLibrary(files(list), protocol.LibraryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return lib
	}
	for _, tt := range []struct {
		maps           []string
		revision, want string
	}{
		{[]string{"protocol.1.map", "protocol.2.map", "sysmsg.3.map"}, "2", "protocol.2.map"},
		{[]string{"protocol.1.map", "protocol.2.map", "sysmsg.3.map"}, "3", ""},
		{[]string{"protocol.1.map", "sysmsg.3.map"}, "3", ""},
		{[]string{"protocol.1.map", "sysmsg.3.map"}, "", "protocol.1.map"},
		{[]string{"protocol.1.map", "protocol.2.map"}, "", ""},
		{[]string{"protocol.1.map", "protocol.map"}, "3", "protocol.map"},
		{[]string{"protocol.map"}, "", "protocol.map"},
		{[]string{"maps.7.json", "protocol.8.map"}, "7", "maps.7.json"},
		{[]string{"sysmsg.7.map"}, "7", ""},
	} {
		lib := open(tt.maps...)
		i, ok := lib.FindMap("protocol", tt.revision)
		if ok != (tt.want != "") || ok && lib.Maps()[i].Path != tt.want {
			t.Errorf("%+v: got %d, %v", tt, i, ok)
		}
	}
}

// TestRealLibrary opens a real folder with all kinds of files.
func TestRealLibrary(t *testing.T) {
	lib, err := protocol.OpenLibrary(os.DirFS(testneeds.Fixture(t, "packets/tera-proxy")), protocol.LibraryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(lib.Definitions()); n != 1172 || !lib.Padded("C_ACCEPT_CONTRACT", 9802) || lib.Revisions["343506"].Patch != 2707 {
		t.Errorf("%d definitions, %+v", n, lib.Revisions)
	}
	i, err := lib.Choose("S_ITEMLIST", "*", 9802)
	if err != nil {
		t.Fatal(err)
	}
	if d := lib.Definitions()[i]; d.Version != 4 {
		t.Errorf("chose %v", d)
	}
	tab, err := lib.Table(i, 9802)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := lib.Table(i, 9802); again != tab || err != nil {
		t.Errorf("another table: %v", err)
	}
}

// failingFS fails to open one file, for a while.
type failingFS struct {
	files iofs.FS
	fail  string
}

var errDisk = errors.New("the disk is broken")

func (f *failingFS) Open(name string) (iofs.File, error) {
	if name == f.fail {
		return nil, errDisk
	}
	return f.files.Open(name)
}

// TestReadLater fails to read a file that a packet depends on: that is an error, and says nothing of
// what is read later.
func TestReadLater(t *testing.T) {
	files := fstest.MapFS{
		"S_A.1.def":    {Data: []byte("# majorPatchVersion < 90\nint32 old\n")},
		"S_A.2.def":    {Data: []byte("# majorPatchVersion >= 90\n@include S_PART.1.def\n")},
		"S_PART.1.def": {Data: []byte("int32 new\n")},
	}
	for _, file := range []string{"S_A.2.def", "S_PART.1.def"} {
		fsys := &failingFS{files: files}
		lib, err := protocol.OpenLibrary(fsys, protocol.LibraryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		fsys.fail = file
		if _, err := lib.Choose("S_A", "*", 8000); !errors.Is(err, errDisk) {
			t.Errorf("%s can't be read: %v", file, err)
		}
		if _, err := lib.Table(1, 9000); !errors.Is(err, errDisk) {
			t.Errorf("%s can't be read: %v", file, err)
		}
		fsys.fail = ""
		if i, err := lib.Choose("S_A", "*", 8000); i != 0 || err != nil {
			t.Errorf("%s can be read: definition %d, %v", file, i, err)
		}
		if _, err := lib.Table(1, 9000); err != nil {
			t.Errorf("%s can be read: %v", file, err)
		}
	}
}
