package pack_test

import (
	"bytes"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/pack"
	"lorefs/datacenter/verify"
	"lorefs/internal/testneeds"
)

const dc = `xmlns:dc="urn:lorefs:dc"`

func manyAttributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d=\"%d\"", i, i)
	}
	return b.String()
}

// openFixture opens a data center of the fixtures.
func openFixture(t testing.TB, name string, opts datacenter.Options) *datacenter.File {
	t.Helper()
	r, err := os.Open(testneeds.Fixture(t, "datacenter/"+name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	info, err := r.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := datacenter.Open(t.Context(), r, info.Size(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// folder returns a folder of files by their paths.
func folder(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, data := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(data), Mode: 0o644}
	}
	return fsys
}

// mustPack packs a folder, and opens what was packed.
func mustPack(t testing.TB, fsys iofs.FS, opts pack.Options) (*datacenter.File, pack.Report) {
	t.Helper()
	var out bytes.Buffer
	report, err := pack.Pack(t.Context(), fsys, &out, opts)
	if err != nil {
		t.Fatalf("Pack: %v", err)
	}
	r := bytes.NewReader(out.Bytes())
	for finding, err := range verify.Strict(t.Context(), r, r.Size(), datacenter.Options{}) {
		t.Fatalf("what was packed: %v %v", finding, err)
	}
	return dctest.Open(t, out.Bytes()), report
}

// exported returns the sheets of a data center and their schemas, in a folder.
func exported(t testing.TB, f *datacenter.File) iofs.FS {
	t.Helper()
	src, err := sheets.New(f, nil, sheets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, family := range src.Families() {
		schema, err := family.Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, schema.AppendXSD(nil), dir, family.File, family.SchemaFile())
		for sheet := range family.Sheets(0) {
			var out bytes.Buffer
			if _, err := src.WriteSheet(t.Context(), &out, sheet); err != nil {
				t.Fatal(err)
			}
			writeFile(t, out.Bytes(), dir, family.File, family.SheetFile(sheet.Ordinal))
		}
	}
	return pack.Dir(dir)
}

// writeFile makes a file and its folder.
func writeFile(t testing.TB, data []byte, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// same checks that two files hold the same tree. The order of attributes, and of children
// of different names, is that of the names, which may differ.
func same(t testing.TB, got, want *datacenter.File) {
	t.Helper()
	g, err := got.Root()
	if err != nil {
		t.Fatal(err)
	}
	w, err := want.Root()
	if err != nil {
		t.Fatal(err)
	}
	c := comparison{equal: map[[2]datacenter.Address]bool{}}
	if err := c.children(g, w, ""); err != nil {
		t.Error(err)
	}
}

// comparison remembers the nodes that were found equal, since many parents share them.
type comparison struct {
	equal map[[2]datacenter.Address]bool
}

func (c *comparison) nodes(got, want datacenter.Node, where string) error {
	pair := [2]datacenter.Address{got.Address(), want.Address()}
	if c.equal[pair] {
		return nil
	}
	if g, w := own(got), own(want); g != w {
		return fmt.Errorf("%s:\n got %s\nwant %s", where, g, w)
	}
	if err := c.children(got, want, where); err != nil {
		return err
	}
	c.equal[pair] = true
	return nil
}

// own returns the node's own content as text.
func own(n datacenter.Node) string {
	var attrs []string
	for a, err := range n.Attributes() {
		if err != nil {
			return err.Error()
		}
		text, err := a.AppendText(nil)
		if err != nil {
			return err.Error()
		}
		attrs = append(attrs, fmt.Sprintf("%q:%v=%q", a.Name(), a.Type(), text))
	}
	slices.Sort(attrs)
	return fmt.Sprintf("%q keys=%q flags=%d %s", n.Name(), []string(n.Keys()), n.Flags(), strings.Join(attrs, " "))
}

func (c *comparison) children(got, want datacenter.Node, where string) error {
	g, err := byName(got)
	if err != nil {
		return err
	}
	w, err := byName(want)
	if err != nil {
		return err
	}
	if len(g) != len(w) {
		return fmt.Errorf("%s: children of %d names, want %d", where, len(g), len(w))
	}
	for name, nodes := range w {
		if len(g[name]) != len(nodes) {
			return fmt.Errorf("%s/%q: %d of them, want %d", where, name, len(g[name]), len(nodes))
		}
		for i, n := range nodes {
			if err := c.nodes(g[name][i], n, fmt.Sprintf("%s/%q.%d", where, name, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func byName(n datacenter.Node) (map[string][]datacenter.Node, error) {
	nodes := map[string][]datacenter.Node{}
	for c, err := range n.Children() {
		if err != nil {
			return nil, err
		}
		nodes[c.Name()] = append(nodes[c.Name()], c)
	}
	return nodes, nil
}

// TestRoundTrip checks that everything that a data center can hold survives unpacking and
// packing.
func TestRoundTrip(t *testing.T) {
	for _, ex := range dctest.Legal() {
		t.Run(ex.Name, func(t *testing.T) {
			switch {
			case len(ex.Doc.Root.Children) == 0:
				t.Skip("there are no sheets to pack")
			case ex.Name == "65,535 children" && testneeds.Quick():
				t.Skip("a large one")
			case ex.Name == "strange names" && runtime.GOOS != "linux":
				t.Skip("there may be names that no file can have here")
			}
			ex.Options.Seal = dctest.SealOptions{}
			f := dctest.Open(t, dctest.Build(ex.Doc, ex.Options))
			got, _ := mustPack(t, exported(t, f), pack.Options{
				Write: datacenter.WriteOptions{Header: f.Header(), Layout: f.Layout()}, Strict: true,
			})
			same(t, got, f)
			if got.Layout() != f.Layout() {
				t.Errorf("layout %v, want %v", got.Layout(), f.Layout())
			}
		})
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("generated ", seed), func(t *testing.T) {
			f := dctest.Open(t, dctest.Build(dctest.Generate(dctest.GenOptions{Seed: seed, Sheets: 60, Nodes: 3000}), dctest.Options{}))
			got, report := mustPack(t, exported(t, f), pack.Options{Strict: true})
			same(t, got, f)
			if report.Sheets != 60 || len(report.Inferred) > 0 || len(report.Ignored) > 0 {
				t.Errorf("%+v", report)
			}
			c := got.Counts()
			if report.Nodes != c.Nodes || report.Attributes != c.Attributes {
				t.Errorf("%+v, but the file has %+v", report, c)
			}
		})
	}
}

// TestRoundTripOfFixture checks that real sheets pack to what they were taken from. That
// was packed by others, with novadrop's order of names.
func TestRoundTripOfFixture(t *testing.T) {
	testneeds.Slow(t, "packs 600,000 nodes")
	f := openFixture(t, "p115_small_x64.dat", datacenter.Options{})
	got, report := mustPack(t, exported(t, f), pack.Options{Strict: true})
	same(t, got, f)
	if a, b := got.Counts(), f.Counts(); a != b || report.Sheets != int(b.Sheets) {
		t.Errorf("counts\n%+v, want\n%+v", a, b)
	}
	if !slices.Equal(got.Names(), f.Names()) {
		t.Error("the names have another order")
	}
}

// TestPackNames checks that the order of names is novadrop's: sheets, then what is in them,
// ignoring case; keys before other attributes; the special names last.
func TestPackNames(t *testing.T) {
	f, _ := mustPack(t, folder(map[string]string{
		"b-1.xml": `<zeta b="1" A="2"><sub Y="1" x="1"/></zeta>`,
		"a-1.xml": `<Alpha xmlns:dc="urn:lorefs:dc" c="1" k="2" dc:keys="k"><beta>t</beta><Beta é="1" É="1" z="1"/></Alpha>`,
	}), pack.Options{})
	want := []string{"Alpha", "k", "c", "beta", "Beta", "z", "é", "É", "zeta", "A", "b", "sub", "x", "Y", "__root__", "__value__"}
	if got := f.Names(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestPackGivesTheSameBytes checks that the same sheets make the same bytes, however the
// work was divided.
func TestPackGivesTheSameBytes(t *testing.T) {
	f := dctest.Open(t, dctest.Build(dctest.Generate(dctest.GenOptions{Seed: 9, Sheets: 60, Nodes: 3000}), dctest.Options{}))
	fsys := exported(t, f)
	var first []byte
	for i := range 3 {
		var out bytes.Buffer
		if _, err := pack.Pack(t.Context(), fsys, &out, pack.Options{}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = out.Bytes()
		} else if !bytes.Equal(first, out.Bytes()) {
			t.Fatal("other bytes")
		}
	}
}

// TestUnpaddedNumbers checks that sheets are packed in the order of their numbers, however those are
// written, and others in the order of their paths.
func TestUnpaddedNumbers(t *testing.T) {
	files := fstest.MapFS{}
	want := []string{"A/A-0.xml", "A/A-1.xml", "A/A-02.xml", "A/A-2.xml", "A/A-10.xml", "A/A-11.xml", "A/A-1x.xml", "A/A-99999999999999999999.xml", "B/A-00000.xml", "a-b.xml"}
	for _, name := range want {
		files[name] = &fstest.MapFile{Data: []byte("<A/>")}
	}
	looked, err := pack.Look(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for name := range looked.Sheets() {
		got = append(got, name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
}

// TestStrays checks that files are named that are probably copies of sheets.
func TestStrays(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"A/A-00000.xml", "A/A-00000 - Copy.xml", "A/A-00001.xml", "B/B-00000.xml", "backup/A-00000.xml"} {
		files[name] = &fstest.MapFile{Data: []byte("<A/>")}
	}
	var found []string
	err := pack.Validate(t.Context(), files, func(p pack.Problem) error {
		if p.Line == 0 {
			found = append(found, p.File)
		}
		return nil
	})
	_, report, openErr := pack.Open(t.Context(), files, pack.Options{})
	if err := errors.Join(err, openErr); err != nil {
		t.Fatal(err)
	}
	var packed []string
	for _, p := range report.Strays {
		packed = append(packed, p.File)
	}
	want := []string{"A/A-00000 - Copy.xml", "backup/A-00000.xml"}
	if !slices.Equal(found, want) || !slices.Equal(packed, want) {
		t.Errorf("validate names %q and pack %q, want %q", found, packed, want)
	}
}
