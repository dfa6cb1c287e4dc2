package dbd_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/casc/db2"
	"lorefs/casc/db2/dbd"
	"lorefs/internal/testneeds"
)

// syntax is what the reference reads from a definition that has all that one can have.
type syntax struct {
	Columns []struct {
		Name, Type       string
		Foreign, Comment *string
		Verified         bool
	}
	Versions []struct {
		Layouts, Builds, Ranges []string
		Comment                 string
		Fields                  []struct {
			Name                         string
			Size, Array                  int
			Signed, ID, Relation, Inline bool
		}
	}
	Queries []struct {
		Layout, Build string
		Version       int
	}
}

var types = map[string]db2.Type{"int": db2.Int, "float": db2.Float, "string": db2.String, "locstring": db2.LocString}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestSyntax reads all that a definition can have, and chooses versions by layouts and builds.
func TestSyntax(t *testing.T) {
	data, err := os.ReadFile(testneeds.Fixture(t, "db2/dbd/LorefsSyntax.dbd"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := dbd.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	var want syntax
	if data, err = os.ReadFile(testneeds.Fixture(t, "db2/dbd/LorefsSyntax.json")); err == nil {
		err = json.Unmarshal(data, &want)
	}
	if err != nil || len(d.Columns) != len(want.Columns) || len(d.Versions) != len(want.Versions) || len(want.Queries) == 0 {
		t.Fatalf("%+v, want %+v: %v", d, want, err)
	}
	for i, c := range want.Columns {
		if got := d.Columns[i]; got != (dbd.Column{Name: c.Name, Type: types[c.Type], Foreign: text(c.Foreign), Verified: c.Verified, Comment: text(c.Comment)}) {
			t.Errorf("column %+v, want %+v", got, c)
		}
	}
	for i := range want.Versions {
		compareVersion(t, d, i, &want)
	}
	for _, q := range want.Queries {
		v := d.ByBuild(dbd.Build{})
		if hash, ok := dbd.ParseLayout(q.Layout); ok {
			v = d.ByLayout(hash)
		} else if b, ok := dbd.ParseBuild(q.Build); ok {
			v = d.ByBuild(b)
		}
		if q.Version < 0 && v != nil || q.Version >= 0 && v != &d.Versions[q.Version] {
			t.Errorf("%+v: %+v", q, v)
		}
	}
}

func compareVersion(t *testing.T, d *dbd.Definition, i int, all *syntax) {
	t.Helper()
	v, want := d.Versions[i], all.Versions[i]
	layouts := 0
	for _, l := range want.Layouts {
		if hash, ok := dbd.ParseLayout(l); ok && d.ByLayout(hash) == &d.Versions[i] {
			layouts++
		}
	}
	if layouts != len(v.Layouts) || layouts != len(want.Layouts) || v.Comment != want.Comment || len(v.Columns) != len(want.Fields) {
		t.Fatalf("version %+v, want %+v", v, want)
	}
	var builds, ranges []string
	for _, b := range v.Builds {
		builds = append(builds, b.String())
	}
	for _, r := range v.Ranges {
		ranges = append(ranges, r.String())
	}
	if strings.Join(builds, " ") != strings.Join(want.Builds, " ") || strings.Join(ranges, " ") != strings.Join(want.Ranges, " ") {
		t.Errorf("builds %v and %v, want %+v", builds, ranges, want)
	}
	for k, f := range want.Fields {
		c := v.Columns[k]
		c.Type = 0
		if c != (db2.Column{Name: f.Name, Bits: f.Size, Array: f.Array, Signed: f.Signed, ID: f.ID, Relation: f.Relation, Inline: f.Inline}) {
			t.Errorf("version %d: %+v, want %+v", i, c, f)
		}
	}
}

// TestWrongLines names the line that is wrong.
func TestWrongLines(t *testing.T) {
	const head = "COLUMNS\nint ID\n\n"
	for text, want := range map[string]string{
		"":                                   "offset 0x0: no COLUMNS",
		"int ID\n":                           "COLUMNS expected",
		"COLUMNS\nlong ID\n":                 "offset 0x8: type int, float, string or locstring expected, not \"long\"",
		"COLUMNS\nint\n":                     "a type and a name expected",
		"COLUMNS\nint<Map::ID ID\n":          "> expected",
		"COLUMNS\nint ID\nint ID\n":          "a new name expected",
		head + "LAYOUT abc\n":                "8 hexadecimal digits expected",
		head + "BUILD 1.2.3\n":               "a build or a range expected",
		head + "BUILD 1.2.3.4-5\n":           "a build or a range expected",
		head + "BUILD 1.2.3.4\nName\n":       "offset 0x1e: a column expected that COLUMNS has, not \"Name\"",
		head + "BUILD 1.2.3.4\n$id ID\n":     "a second $ expected",
		head + "BUILD 1.2.3.4\n$key$ID\n":    "id, relation or noninline expected",
		head + "BUILD 1.2.3.4\nID<33>\n":     "a size of 8, 16, 32 or 64 bits expected",
		head + "BUILD 1.2.3.4\nID<32>[0]\n":  "the length of an array expected",
		head + "BUILD 1.2.3.4\nID<32>[9e9\n": "the length of an array expected",
	} {
		if _, err := dbd.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

const sample = "COLUMNS\nint ID\n\nLAYOUT 0000000A\nBUILD 9.1.0.7\n$id$ID<32>\n\nBUILD 9.0.0.1-9.0.9.6\n$id$ID<16>\n\nBUILD 4.0.0.3\n$id$ID<8>\n"

// TestLibrary finds tables by name, by hash and by file.
func TestLibrary(t *testing.T) {
	l, err := dbd.OpenLibrary(fstest.MapFS{
		"definitions/SpellName.dbd": {Data: []byte(sample)},
		"manifest.json":             {Data: []byte(`[{"tableName":"SpellName","tableHash":"0BADF00D","dbcFileDataID":4,"db2FileDataID":5}]`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if l.NameOfHash(0xbadf00d) != "SpellName" || l.NameOfFile(4) != "SpellName" || l.NameOfFile(5) != "SpellName" || l.NameOfFile(0) != "" || l.Name("spellname") != "SpellName" {
		t.Error("the manifest gives other names")
	}
	d, err := l.Definition("spellname")
	if err != nil || d == nil {
		t.Fatal(d, err)
	}
	for _, test := range []struct {
		head db2.Header
		game dbd.Build
		bits int
		by   dbd.By
	}{
		{db2.Header{Layout: 10}, dbd.Build{9, 0, 1, 2}, 32, dbd.ByLayout},
		{db2.Header{Layout: 11, Schema: "WOWSTATIC_9_0_1_2"}, dbd.Build{}, 16, dbd.BySchema},
		{db2.Header{Layout: 11}, dbd.Build{9, 1, 0, 7}, 32, dbd.ByStorage},
		{db2.Header{Build: 3}, dbd.Build{}, 8, dbd.ByNumber},
		{db2.Header{Build: 5}, dbd.Build{}, 16, dbd.ByNumber},
		{db2.Header{Build: 9}, dbd.Build{}, 0, ""},
	} {
		v, by := d.Choose(&test.head, test.game)
		if by != test.by || v != nil && v.Columns[0].Bits != test.bits {
			t.Errorf("%+v: %+v by %q", test, v, by)
		}
	}
	if d, err := l.Definition("Map"); d != nil || err != nil {
		t.Errorf("a table without a definition: %v, %v", d, err)
	}
	if _, err := dbd.OpenLibrary(fstest.MapFS{"a.txt": {}}); err == nil {
		t.Error("a folder without definitions is opened")
	}
}

func FuzzDefinition(f *testing.F) {
	f.Add([]byte(sample))
	f.Fuzz(func(_ *testing.T, data []byte) {
		d, err := dbd.Parse(data)
		if err != nil {
			return
		}
		d.ByBuild(dbd.Build{9, 0, 0, 1})
		d.ByNumber(1)
	})
}
