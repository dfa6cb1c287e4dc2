package same_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/same"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/pack"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/testneeds"
)

// exported returns a data center and its sheets with their schemas.
func exported(t *testing.T) (*datacenter.File, *sheets.Source, fstest.MapFS) {
	t.Helper()
	sheet := func(name string, id int) *dctest.Node {
		return &dctest.Node{Name: name, Children: []*dctest.Node{
			{Name: "Item", Keys: []string{"id"}, Attrs: []dctest.Attr{{Name: "id", Value: id}, {Name: "name", Value: "x"}}},
		}}
	}
	root := dctest.Root(sheet("A", 1), sheet("B", 2), sheet("A", 3), sheet("C", 4))
	for i := range 5 {
		root.Children = append(root.Children, sheet("E", 10+i))
	}
	for i := range 3 {
		root.Children = append(root.Children, &dctest.Node{Name: "K", Keys: []string{"id"}, Attrs: []dctest.Attr{{Name: "id", Value: 2 * i}, {Name: "name", Value: "x"}}})
	}
	for i := range 4 { // three of them have equal keys
		root.Children = append(root.Children, &dctest.Node{Name: "L", Keys: []string{"id"}, Attrs: []dctest.Attr{{Name: "id", Value: i / 3}, {Name: "name", Value: i}}})
	}
	for i := range 4 {
		root.Children = append(root.Children, &dctest.Node{Name: "F", Attrs: []dctest.Attr{{Name: "id", Value: i}, {Name: "name", Value: fmt.Sprint("x", i)}}})
	}
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{}))
	src, err := sheets.New(f, nil, sheets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f, src, sheetsOf(t, src)
}

// sheetsOf returns the sheets of a data center with their schemas.
func sheetsOf(t *testing.T, src *sheets.Source) fstest.MapFS {
	t.Helper()
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
	return fsys
}

// edits are what can be done to a folder, with the files that are not the same any more.
var edits = []struct {
	name    string
	edit    func(fsys fstest.MapFS)
	differs []string
}{
	{"nothing", func(fstest.MapFS) {}, nil},
	{"a value", replace("A/A-00001.xml", `"3"`, `"5"`), []string{"A/A-00001.xml"}},
	{"a value of another size", replace("A/A-00001.xml", `"3"`, `"55"`), []string{"A/A-00001.xml"}},
	{"a new attribute", replace("A/A-00001.xml", `id="3"`, `id="3" fresh="4.5"`), []string{"A/A-00001.xml"}},
	{"keys of a sheet", replace("A/A-00001.xml", `<A `, `<A xmlns:k="urn:lorefs:dc" k:keys="id" id="5" `), []string{"A/A-00001.xml"}},
	{"another root element", func(fsys fstest.MapFS) {
		fsys["A/A-00001.xml"] = &fstest.MapFile{Data: []byte("<B><Item id=\"7\"/></B>")}
	}, []string{"A/A-00001.xml"}},
	{"a sheet elsewhere", func(fsys fstest.MapFS) {
		fsys["A/A-00001.xml"].Data = append(fsys["A/A-00001.xml"].Data, "<!-- A -->"...)
		fsys["D/A-00002.xml"] = &fstest.MapFile{Data: []byte("<A><Item id=\"7\"/></A>")}
	}, []string{"A/A-00001.xml", "D/A-00002.xml"}},
	{"two sheets swapped", swap("E/E-00001.xml", "E/E-00003.xml"), []string{"E/E-00001.xml", "E/E-00003.xml"}},
	{"two sheets with a content in turn", swap("E/E-00001.xml", "E/E-00004.xml"), []string{"E/E-00001.xml", "E/E-00004.xml"}},
	{"values of sheets with keys", func(fsys fstest.MapFS) {
		replace("K/K-00000.xml", `"x"`, `"y"`)(fsys)
		replace("K/K-00002.xml", `"x"`, `"yz"`)(fsys)
	}, []string{"K/K-00000.xml", "K/K-00002.xml"}},
	{"a key by which another sheet comes first", replace("K/K-00000.xml", `id="0"`, `id="3"`), []string{"K/K-00000.xml"}},
	{"sheets swapped with their keys", swap("K/K-00000.xml", "K/K-00002.xml"), []string{"K/K-00000.xml", "K/K-00002.xml"}},
	{"a sheet with keys that another has, too", replace("L/L-00001.xml", `name="1"`, `name="5"`), []string{"L/L-00001.xml"}},
	{"a sheet beside those with equal keys", replace("L/L-00003.xml", `name="3"`, `name="5"`), []string{"L/L-00003.xml"}},
	{"two sheets around another", func(fsys fstest.MapFS) {
		replace("E/E-00001.xml", `id="11"`, `id="21"`)(fsys)
		replace("E/E-00004.xml", `id="14"`, `id="24"`)(fsys)
	}, []string{"E/E-00001.xml", "E/E-00004.xml"}},
	{"sheets with other ids", func(fsys fstest.MapFS) {
		replace("F/F-00000.xml", `id="0"`, `id="10"`)(fsys)
		replace("F/F-00002.xml", `id="2"`, `id="12"`)(fsys)
	}, []string{"F/F-00000.xml", "F/F-00002.xml"}},
	{"a sheet with the id of another", func(fsys fstest.MapFS) {
		replace("F/F-00000.xml", `id="0"`, `id="1"`)(fsys)
		replace("F/F-00003.xml", `"x3"`, `"y"`)(fsys)
	}, []string{"F/F-00000.xml", "F/F-00003.xml"}},
	{"a copy of another sheet", func(fsys fstest.MapFS) {
		replace("E/E-00004.xml", `id="14"`, `id="24"`)(fsys)
		fsys["E/E-00000.xml"] = fsys["E/E-00003.xml"]
	}, []string{"E/E-00000.xml", "E/E-00004.xml"}},
	{"a type", replace("B/B.xsd", `xsd:int`, `xsd:string`), []string{"B/B-00000.xml"}},
	{"a key", replace("B/B.xsd", `dc:keys="id"`, ``), []string{"B/B-00000.xml"}},
	{"a schema that knows more", func(fsys fstest.MapFS) {
		for _, name := range []string{"A", "B"} {
			replace(name+"/"+name+".xsd", `<xsd:attribute name="name"`, `<xsd:attribute name="more" type="xsd:int" /><xsd:attribute name="name"`)(fsys)
		}
		replace("A/A-00001.xml", `id="3"`, `id="3" more="4"`)(fsys)
	}, []string{"A/A-00001.xml"}},
	{"a schema that is spelled otherwise", func(fsys fstest.MapFS) {
		fsys["B/B.xsd"].Data = append(fsys["B/B.xsd"].Data, "<!-- B -->"...)
		replace("B/B-00000.xml", `"x"`, `"y"`)(fsys)
	}, []string{"B/B-00000.xml"}},
	{"a schema of nothing", func(fsys fstest.MapFS) { fsys["B/B.xsd"].Data = nil }, []string{"B/B-00000.xml"}},
	{"the schema of another sheet", func(fsys fstest.MapFS) { fsys["B/B.xsd"] = fsys["A/A.xsd"] }, []string{"B/B-00000.xml"}},
	{"white space", func(fsys fstest.MapFS) { fsys["C/C-00000.xml"].Data = append(fsys["C/C-00000.xml"].Data, '\n') }, nil},
	{"a comment", func(fsys fstest.MapFS) {
		fsys["C/C-00000.xml"].Data = append(fsys["C/C-00000.xml"].Data, "<!-- C -->"...)
	}, []string{"C/C-00000.xml"}},
	{"nonsense", replace("C/C-00000.xml", `name=`, `name `), []string{"C/C-00000.xml"}},
	{"a sheet less", func(fsys fstest.MapFS) { delete(fsys, "A/A-00000.xml") }, []string{"A/A-00001.xml"}},
	{"a sheet more", func(fsys fstest.MapFS) { fsys["A/A-00002.xml"] = fsys["A/A-00001.xml"] }, []string{"A/A-00000.xml", "A/A-00001.xml", "A/A-00002.xml"}},
	{"no sheets", func(fsys fstest.MapFS) { delete(fsys, "C/C-00000.xml") }, nil},
	{"no schema", func(fsys fstest.MapFS) { delete(fsys, "C/C.xsd") }, nil},
	{"another place", func(fsys fstest.MapFS) {
		fsys["D/C-00000.xml"] = fsys["C/C-00000.xml"]
		delete(fsys, "C/C-00000.xml")
	}, []string{"D/C-00000.xml"}},
	{"a folder that is no schema", func(fsys fstest.MapFS) {
		delete(fsys, "C/C.xsd")
		fsys["C/C.xsd/x"] = &fstest.MapFile{}
	}, []string{"C/C-00000.xml"}},
}

// swap returns an edit by which two files change their places.
func swap(a, b string) func(fsys fstest.MapFS) {
	return func(fsys fstest.MapFS) { fsys[a], fsys[b] = fsys[b], fsys[a] }
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

// TestFindInMany compares a folder of many sheets of which most differ, so that only a sample is compared.
func TestFindInMany(t *testing.T) {
	const count = 2000
	root := dctest.Root()
	for i := range count {
		root.Children = append(root.Children, &dctest.Node{Name: "A", Attrs: []dctest.Attr{{Name: "id", Value: i}}})
	}
	src, err := sheets.New(dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{})), nil, sheets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		same      int // one sheet of so many is the same
		from, end int // how many may be found
	}{
		"all":  {1, count, count},
		"half": {2, count / 2, count / 2},
		"few":  {100, 1, count / 100},
		"none": {count + 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := sheetsOf(t, src)
			for i, f := range slices.Sorted(maps.Keys(fsys)) {
				if path.Ext(f) == ".xml" && i%tt.same != tt.same/2 {
					fsys[f].Data = bytes.Replace(fsys[f].Data, []byte(`id="`), []byte(`id="1`), 1)
				}
			}
			var done, total int64
			found, all, err := find(t, src, fsys, func(d, t int64) { done, total = d, t })
			if n := len(found); err != nil || n < tt.from || n > tt.end || all != (n == count) {
				t.Errorf("found %d, all: %v, %v; want %d to %d", n, all, err, tt.from, tt.end)
			}
			if done != count || total != count {
				t.Errorf("%d of %d are done, want %d", done, total, count)
			}
		})
	}
}

// find calls Find for a folder.
func find(t *testing.T, src *sheets.Source, fsys fstest.MapFS, progress func(done, total int64)) (found same.Sheets, all bool, err error) {
	t.Helper()
	folder, err := pack.Look(t.Context(), fsys)
	if err != nil {
		return nil, false, err
	}
	return same.Find(t.Context(), src, folder, progress)
}

func TestFind(t *testing.T) {
	for _, tt := range edits {
		t.Run(tt.name, func(t *testing.T) {
			_, src, fsys := exported(t)
			tt.edit(fsys)
			var done, total int64
			found, all, err := find(t, src, fsys, func(d, n int64) { done, total = d, n })
			if err != nil {
				t.Fatal(err)
			}
			folder, err := pack.Look(t.Context(), fsys)
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for path := range folder.Sheets() {
				paths = append(paths, path)
			}
			want := slices.DeleteFunc(paths, func(path string) bool { return slices.Contains(tt.differs, path) })
			got := slices.Sorted(maps.Keys(found))
			if !slices.Equal(got, want) || all != (len(tt.differs) == 0 && tt.name != "no sheets") {
				t.Errorf("%v, all: %v, want %v", got, all, want)
			}
			if done != total {
				t.Errorf("%d of %d sheets are done", done, total)
			}
		})
	}
}

func TestFindEnds(t *testing.T) {
	_, src, fsys := exported(t)
	if _, _, err := find(t, src, fstest.MapFS{"x": {}}, nil); err == nil {
		t.Error("a folder without sheets is no error")
	}
	more := maps.Clone(fsys)
	more["D/D-00000.xml"] = &fstest.MapFile{Data: []byte("<D/>")}
	found, all, err := find(t, src, more, nil)
	if err != nil || all || len(found) != 20 {
		t.Errorf("with sheets of another name: %v, all: %v, %v", found, all, err)
	}
}

// refused are the edits after which omitted sheets count.
var refused = []string{
	"keys of a sheet", "another root element", "a sheet elsewhere", "two sheets swapped", "two sheets with a content in turn",
	"a key by which another sheet comes first", "a sheet with keys that another has, too",
}

// TestOmitted checks that what differs is the same whether all sheets are packed or only
// those that are not the same.
func TestOmitted(t *testing.T) {
	testneeds.Seconds(t)
	for _, tt := range edits {
		t.Run(tt.name, func(t *testing.T) {
			f, src, fsys := exported(t)
			tt.edit(fsys)
			found, _, err := find(t, src, fsys, nil)
			if err != nil {
				t.Fatal(err)
			}
			whole, wholeErr := differences(t, f, src, fsys, nil)
			part, partErr := differences(t, f, src, fsys, found)
			if isRefused(partErr) {
				if !slices.Contains(refused, tt.name) {
					t.Fatalf("%v, where %d sheets can be omitted", partErr, len(found))
				}
				return
			}
			if slices.Contains(refused, tt.name) {
				t.Errorf("want no differences, because those of the omitted sheets count: %s%v", part, partErr)
			}
			if whole != part || (wholeErr == nil) != (partErr == nil) || wholeErr != nil && wholeErr.Error() != partErr.Error() {
				t.Errorf("%s%v, want\n%s%v", part, partErr, whole, wholeErr)
			}
		})
	}
}

func isRefused(err error) bool {
	_, matters := errors.AsType[*diff.SameError](err)
	return matters || errors.Is(err, pack.ErrOmitted)
}

// TestOmittedAmongOthers checks the same with many edits. Where the omitted sheets of some names
// count, these are packed.
func TestOmittedAmongOthers(t *testing.T) {
	testneeds.Seconds(t)
	f, src, exported := exported(t)
	omitted := 0
	rapid.Check(t, func(r *rapid.T) {
		fsys := maps.Clone(exported)
		for _, family := range src.Families() {
			for range rapid.IntRange(0, 3).Draw(r, "edits") {
				sheet := func(label string) string {
					return path.Join(family.File, family.SheetFile(uint32(rapid.IntRange(0, family.Count()-1).Draw(r, label))))
				}
				to, from := sheet("to"), sheet("from")
				data := slices.Clone(fsys[from].Data)
				if at := bytes.LastIndexAny(data, "0123456789"); at >= 0 {
					data[at] = rapid.SampledFrom([]byte("0123")).Draw(r, "digit")
				}
				fsys[to] = &fstest.MapFile{Data: data}
			}
		}
		found, _, err := find(t, src, fsys, nil)
		if err != nil {
			r.Fatal(err)
		}
		whole, err := differences(t, f, src, fsys, nil)
		if err != nil {
			r.Fatal(err)
		}
		part, err := differences(t, f, src, fsys, found)
		if matters, ok := errors.AsType[*diff.SameError](err); ok {
			maps.DeleteFunc(found, func(_ string, s sheets.Sheet) bool { return slices.Contains(matters.Names, s.Name) })
			part, err = differences(t, f, src, fsys, found)
		}
		if err != nil || part != whole {
			r.Fatalf("%s%v, want\n%s", part, err, whole)
		}
		omitted += len(found)
	})
	if omitted == 0 {
		t.Error("no sheet could ever be omitted")
	}
}

// differences returns what differs between a data center and a folder.
func differences(t *testing.T, f *datacenter.File, src *sheets.Source, fsys fstest.MapFS, omit same.Sheets) (string, error) {
	t.Helper()
	var out bytes.Buffer
	_, err := pack.Pack(t.Context(), fsys, &out, pack.Options{Omit: omit.Names(), Template: func(name string) (*xsd.Schema, error) {
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
	for d, err := range diff.CompareOthers(t.Context(), f, dctest.Open(t, out.Bytes()), omit.Places(), diff.Options{}) {
		if err != nil {
			return "", err
		}
		text = d.Append(text)
	}
	return string(text), nil
}
