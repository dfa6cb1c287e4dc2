package same_test

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/pack"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/formats/datacenter/dctest"
	"lorefs/internal/formats/datacenter/diff"
	"lorefs/internal/formats/datacenter/same"
)

// exported returns a data center and its sheets with their schemas.
func exported(t *testing.T) (*datacenter.File, *sheets.Source, fstest.MapFS) {
	t.Helper()
	sheet := func(name string, id int) *dctest.Node {
		return &dctest.Node{Name: name, Children: []*dctest.Node{
			{Name: "Item", Keys: []string{"id"}, Attrs: []dctest.Attr{{Name: "id", Value: id}, {Name: "name", Value: "x"}}},
		}}
	}
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(
		sheet("A", 1), sheet("B", 2), sheet("A", 3), sheet("C", 4),
	)}, dctest.Options{}))
	src, err := sheets.New(f, nil, sheets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for _, family := range src.Families() {
		schema, err := family.Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fsys[path.Join(family.File, family.SchemaFile())] = &fstest.MapFile{Data: schema.AppendXSD(nil)}
		for s := range family.Sheets(0) {
			var out bytes.Buffer
			if _, err := src.WriteSheet(t.Context(), &out, s); err != nil {
				t.Fatal(err)
			}
			fsys[path.Join(family.File, family.SheetFile(s.Ordinal))] = &fstest.MapFile{Data: out.Bytes()}
		}
	}
	return f, src, fsys
}

// edits are what can be done to a folder, with the names of the sheets that are not the same
// any more.
var edits = []struct {
	name    string
	edit    func(fsys fstest.MapFS)
	differs []string
}{
	{"nothing", func(fstest.MapFS) {}, nil},
	{"a value", replace("A/A-00001.xml", `"3"`, `"5"`), []string{"A"}},
	{"a type", replace("B/B.xsd", `xsd:int`, `xsd:string`), []string{"B"}},
	{"a key", replace("B/B.xsd", `dc:keys="id"`, ``), []string{"B"}},
	{"white space", func(fsys fstest.MapFS) { fsys["C/C-00000.xml"].Data = append(fsys["C/C-00000.xml"].Data, '\n') }, []string{"C"}},
	{"nonsense", replace("C/C-00000.xml", `name=`, `name `), []string{"C"}},
	{"a sheet less", func(fsys fstest.MapFS) { delete(fsys, "A/A-00000.xml") }, []string{"A"}},
	{"a sheet more", func(fsys fstest.MapFS) { fsys["A/A-00002.xml"] = fsys["A/A-00001.xml"] }, []string{"A"}},
	{"no sheets", func(fsys fstest.MapFS) { delete(fsys, "C/C-00000.xml") }, []string{"C"}},
	{"no schema", func(fsys fstest.MapFS) { delete(fsys, "C/C.xsd") }, nil},
	{"another place", func(fsys fstest.MapFS) {
		fsys["D/C-00000.xml"] = fsys["C/C-00000.xml"]
		delete(fsys, "C/C-00000.xml")
	}, []string{"C"}},
	{"a folder that is no schema", func(fsys fstest.MapFS) {
		delete(fsys, "C/C.xsd")
		fsys["C/C.xsd/x"] = &fstest.MapFile{}
	}, []string{"C"}},
}

func replace(name, from, to string) func(fsys fstest.MapFS) {
	return func(fsys fstest.MapFS) {
		now := bytes.Replace(fsys[name].Data, []byte(from), []byte(to), 1)
		if bytes.Equal(now, fsys[name].Data) {
			panic(name + " has no " + from)
		}
		fsys[name].Data = now
	}
}

func TestFind(t *testing.T) {
	for _, tt := range edits {
		t.Run(tt.name, func(t *testing.T) {
			_, src, fsys := exported(t)
			tt.edit(fsys)
			var done, total int64
			found, all, err := same.Find(t.Context(), src, fsys, func(d, n int64) { done, total = d, n })
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]bool{"A": true, "B": true, "C": true}
			for _, name := range tt.differs {
				delete(want, name)
			}
			if !maps.Equal(found.Names(), want) || all != (len(tt.differs) == 0) {
				t.Errorf("%v, all: %v, want %v", slices.Sorted(maps.Values(found)), all, want)
			}
			if done != total {
				t.Errorf("%d of %d sheets are done", done, total)
			}
		})
	}
}

func TestFindEnds(t *testing.T) {
	_, src, fsys := exported(t)
	if _, _, err := same.Find(t.Context(), src, fstest.MapFS{"x": {}}, nil); err == nil {
		t.Error("a folder without sheets is no error")
	}
	more := maps.Clone(fsys)
	more["D/D-00000.xml"] = &fstest.MapFile{Data: []byte("<D/>")}
	found, all, err := same.Find(t.Context(), src, more, nil)
	if err != nil || all || len(found) != 3 {
		t.Errorf("with sheets of another name: %v, all: %v, %v", found, all, err)
	}
}

// TestOmitted checks that what differs is the same whether all sheets are packed or only
// those that are not the same.
func TestOmitted(t *testing.T) {
	for _, tt := range edits {
		t.Run(tt.name, func(t *testing.T) {
			f, src, fsys := exported(t)
			tt.edit(fsys)
			found, _, err := same.Find(t.Context(), src, fsys, nil)
			if err != nil {
				t.Fatal(err)
			}
			whole, wholeErr := differences(t, f, src, fsys, nil)
			part, partErr := differences(t, f, src, fsys, found)
			if whole != part || (wholeErr == nil) != (partErr == nil) || wholeErr != nil && wholeErr.Error() != partErr.Error() {
				t.Errorf("%s%v, want\n%s%v", part, partErr, whole, wholeErr)
			}
		})
	}
}

// differences returns what differs between a data center and a folder.
func differences(t *testing.T, f *datacenter.File, src *sheets.Source, fsys fstest.MapFS, omit same.Folders) (string, error) {
	t.Helper()
	var out bytes.Buffer
	_, err := pack.Pack(t.Context(), fsys, &out, pack.Options{Omit: omit, Template: func(name string) (*xsd.Schema, error) {
		for _, family := range src.Families() {
			if family.Name == name {
				return family.Schema(t.Context())
			}
		}
		return nil, nil
	}})
	if err != nil {
		return "", err
	}
	var text []byte
	for d, err := range diff.CompareOthers(t.Context(), f, dctest.Open(t, out.Bytes()), omit.Names(), diff.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		text = d.Append(text)
	}
	return string(text), nil
}
