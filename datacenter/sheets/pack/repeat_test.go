package pack_test

import (
	"bytes"
	"fmt"
	iofs "io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/sheets/pack"
	"lorefs/datacenter/verify"
	"lorefs/internal/testneeds"
)

// spelledApart returns a folder with the same sheets, in which no start tag and no element is spelled like
// another, so that nothing is recognized.
func spelledApart(t *testing.T, fsys iofs.FS) fstest.MapFS {
	t.Helper()
	n := 0
	startTag := regexp.MustCompile(`<[^/!?>][^>]*[^/>]`)
	return respelled(t, fsys, func(sheet []byte) []byte {
		return startTag.ReplaceAllFunc(sheet, func(tag []byte) []byte {
			n++
			return append(slices.Clip(tag), strings.NewReplacer("0", " ", "1", "\n").Replace(fmt.Sprintf(" %b", n))...)
		})
	})
}

// spelledByNumber returns a folder with the same sheets, in which the first character of each value is written
// by its number.
func spelledByNumber(t *testing.T, fsys iofs.FS) fstest.MapFS {
	t.Helper()
	value := regexp.MustCompile(`="[^"&]`)
	return respelled(t, fsys, func(sheet []byte) []byte {
		return value.ReplaceAllFunc(sheet, func(b []byte) []byte { return fmt.Appendf(nil, `="&#%d;`, []rune(string(b))[2]) })
	})
}

// respelled returns a folder with the same files, but for what spell makes of the sheets.
func respelled(t *testing.T, fsys iofs.FS, spell func(sheet []byte) []byte) fstest.MapFS {
	t.Helper()
	all := fstest.MapFS{}
	err := iofs.WalkDir(fsys, ".", func(name string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := iofs.ReadFile(fsys, name)
		if strings.HasSuffix(name, ".xml") {
			data = spell(data)
		}
		all[name] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPackOfWhatRepeats checks that elements that are recognized by their bytes become the same as those
// that are read, and count as often.
func TestPackOfWhatRepeats(t *testing.T) {
	testneeds.Seconds(t)
	for seed := range uint64(3) {
		f := dctest.Open(t, dctest.Build(dctest.Generate(dctest.GenOptions{Seed: seed, Sheets: 60, Nodes: testneeds.Cases(5000, 20_000, 20_000)}), dctest.Options{}))
		fsys := exported(t, f)
		apart := spelledApart(t, fsys)
		if seed > 0 { // there are misfits, and values whose types are not known
			for name, file := range apart {
				if strings.HasSuffix(name, ".xsd") {
					file.Data = bytes.ReplaceAll(file.Data, []byte(`maxOccurs="unbounded"`), []byte(`maxOccurs="2"`))
					file.Data = regexp.MustCompile(`<xsd:attribute name="[a-m].*/>`).ReplaceAll(file.Data, nil)
				}
			}
			fsys = together(t, fsys, apart)
		}
		packed := func(fsys iofs.FS) ([]byte, pack.Report) {
			var out bytes.Buffer
			report, err := pack.Pack(t.Context(), fsys, &out, pack.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return out.Bytes(), report
		}
		got, report := packed(fsys)
		want, other := packed(apart)
		if !bytes.Equal(got, want) || !reflect.DeepEqual(report, other) {
			t.Errorf("seed %d: %d bytes, %+v\nwithout: %d bytes, %+v", seed, len(got), report, len(want), other)
		}
		opened, other, err := pack.Open(t.Context(), fsys, pack.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := dctest.Open(t, got)
		if opened.Counts() != g.Counts() || !reflect.DeepEqual(report, other) {
			t.Errorf("seed %d: opened with %+v, %+v\nwritten with %+v, %+v", seed, opened.Counts(), other, g.Counts(), report)
		}
		for d, err := range diff.Compare(t.Context(), opened, g, diff.Options{}) {
			t.Errorf("seed %d: opened and written differ: %+v, %v", seed, d, err)
			break
		}
		byNumber := spelledByNumber(t, fsys)
		if again, other := packed(byNumber); !bytes.Equal(again, want) || !reflect.DeepEqual(report, other) {
			t.Errorf("seed %d: %d bytes, %+v\nwith references: %d bytes, %+v", seed, len(want), report, len(again), other)
		}
		if seed > 0 && len(report.Misfits) == 0 {
			t.Errorf("seed %d: no misfits", seed)
		}
		if g.Counts() != f.Counts() && seed == 0 {
			t.Errorf("%+v, want %+v", g.Counts(), f.Counts())
		}
		for f, err := range verify.Strict(t.Context(), bytes.NewReader(got), int64(len(got)), datacenter.Options{}) {
			t.Fatalf("%v %v", f, err)
		}
		validatesAlike(t, fsys, apart)
		validatesAlike(t, fsys, byNumber)
	}
}

// together returns the sheets of a folder with the schemas of another.
func together(t *testing.T, fsys iofs.FS, other fstest.MapFS) fstest.MapFS {
	t.Helper()
	all := fstest.MapFS{}
	for name, file := range other {
		if all[name] = file; strings.HasSuffix(name, ".xml") {
			data, err := iofs.ReadFile(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = &fstest.MapFile{Data: data, Mode: 0o644}
		}
	}
	return all
}

// validatesAlike checks that the same problems are found in two folders, in whatever line and column.
func validatesAlike(t *testing.T, a, b iofs.FS) {
	t.Helper()
	var found [2][]pack.Problem
	for i, fsys := range []iofs.FS{a, b} {
		err := pack.Validate(t.Context(), fsys, func(p pack.Problem) error {
			p.Line, p.Column = 0, 0
			found[i] = append(found[i], p)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(found[0], found[1]) {
		t.Errorf("%d problems, %d without", len(found[0]), len(found[1]))
	}
}

// TestPackChildLikeSheet checks that a child with the name and the start tag of its sheet is on another path.
func TestPackChildLikeSheet(t *testing.T) {
	f, _ := mustPack(t, folder(map[string]string{"S-0.xml": `<S a="1"><S a="1"></S><S a="x"/></S>`}), pack.Options{})
	if got, want := types(t, f, "S"), "a:int=1 a:string=1 a:string=x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
