package edit_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/aes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/internal/compare"
	"lorefs/datacenter/splice"
	"lorefs/internal/cfb"
	"lorefs/internal/testneeds"
)

// blocksOfTests is the size of index blocks in these tests. It is small, so that files of a few MB
// have many.
const blocksOfTests = 64 << 10

// writers make files with deflate blocks of several kinds.
var writers = []struct {
	name  string
	write func(t *testing.T, doc dctest.Doc) []byte
}{
	{"stored", func(_ *testing.T, doc dctest.Doc) []byte {
		return dctest.Build(doc, dctest.Options{Seal: dctest.SealOptions{Stored: true}})
	}},
	{"compress", func(_ *testing.T, doc dctest.Doc) []byte { return dctest.Build(doc, dctest.Options{}) }},
	{"slack", func(_ *testing.T, doc dctest.Doc) []byte {
		return dctest.Build(doc, dctest.Options{FullCount: 5000, SegmentSize: 4000, StringSegmentSize: 30000, Garbage: 7, ShareSuffixes: true, Overlap: true})
	}},
	{"placeholders", func(_ *testing.T, doc dctest.Doc) []byte {
		return dctest.Build(doc, dctest.Options{Placeholders: 3, FullCount: 9000, Garbage: 2})
	}},
	{"lorefs", func(t *testing.T, doc dctest.Doc) []byte {
		d, err := edit.NewDraft(dctest.Open(t, dctest.Build(doc, dctest.Options{})), nil)
		if err != nil {
			t.Fatal(err)
		}
		s := d.Snapshot()
		defer s.Close()
		var b bytes.Buffer
		if _, err := s.Write(t.Context(), datacenter.WriteOptions{}, &b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}},
	{"zlib", func(t *testing.T, doc dctest.Doc) []byte { return writtenByZlib(t, doc, "Z_DEFAULT_STRATEGY") }},
	{"fixed", func(t *testing.T, doc dctest.Doc) []byte { return writtenByZlib(t, doc, "Z_FIXED") }},
}

// writtenByZlib makes a file with the original zlib.
func writtenByZlib(t *testing.T, doc dctest.Doc, strategy string) []byte {
	t.Helper()
	testneeds.Program(t, "python3")
	return dctest.Build(doc, dctest.Options{Seal: dctest.SealOptions{Deflate: func(data []byte) []byte {
		script := "import sys, zlib\nc = zlib.compressobj(6, zlib.DEFLATED, -15, 8, zlib." + strategy + ")\n" +
			"sys.stdout.buffer.write(c.compress(sys.stdin.buffer.read()) + c.flush())"
		return runPython(t, script, data)
	}}})
}

func runPython(t *testing.T, script string, in []byte) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), "python3", "-c", script)
	c.Stdin = bytes.NewReader(in)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// spliceScripts are the numbers of the random scripts for each writer, from first to end.
// LOREFS_SPLICE_SCRIPTS=FIRST-END sets them for a long run, which also has larger files and more
// saves in a row. So a run of thousands can be made in parts.
func spliceScripts(t *testing.T) (first, end int, isLong bool) {
	t.Helper()
	const variable = "LOREFS_SPLICE_SCRIPTS"
	text := os.Getenv(variable)
	if text == "" {
		return 0, 1, false
	}
	from, to, ok := strings.Cut(text, "-")
	first, err := strconv.Atoi(from)
	end, toErr := strconv.Atoi(to)
	if !ok || err != nil || toErr != nil || first >= end {
		t.Fatalf("%s=%s: want FIRST-END", variable, text)
	}
	return first, end, true
}

// TestSpliceAndWrite makes random edits, and saves them by splicing and by writing the whole file.
// Both files must be equal in every node. Each script saves several times.
func TestSpliceAndWrite(t *testing.T) {
	testneeds.Seconds(t)
	for _, by := range writers {
		t.Run(by.name, func(t *testing.T) {
			spliced, nodes, saves := 0, 2000, 2
			first, end, isLong := spliceScripts(t)
			if isLong {
				nodes, saves = 32000, 3
			}
			if testneeds.Quick() {
				saves = 1
			}
			for i := first; i < end; i++ {
				seed := uint64(i)
				rng := rand.New(rand.NewPCG(seed, 3))
				doc := dctest.Generate(dctest.GenOptions{Seed: seed % 16, Sheets: 20 + rng.IntN(80), Nodes: nodes/2 + rng.IntN(nodes)})
				if rng.IntN(4) == 0 {
					doc.Layout = datacenter.LayoutV6X86
				}
				s := newSplicing(t, by.write(t, doc), rng)
				for range saves {
					s.edit(1 + rng.IntN(20))
					s.save()
				}
				spliced += s.spliced
				if t.Failed() {
					t.Fatalf("script %d", i)
				}
			}
			if spliced == 0 {
				t.Error("nothing was spliced")
			}
			t.Logf("scripts %d to %d: %d saves were spliced", first, end-1, spliced)
		})
	}
}

// TestSpliceFixtures is TestSpliceAndWrite for real files. Only a long run makes it: each script
// reads the whole file many times.
func TestSpliceFixtures(t *testing.T) {
	first, end, isLong := spliceScripts(t)
	if !isLong {
		t.Skip("each script takes seconds (LOREFS_SPLICE_SCRIPTS=FIRST-END runs some)")
	}
	for _, name := range []string{"p115_small_x64.dat", "p100_x64.dat"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/"+name))
			if err != nil {
				t.Fatal(err)
			}
			spliced := 0
			for i := first; i < end; i++ {
				rng := rand.New(rand.NewPCG(uint64(i), 4))
				s := newSplicing(t, data, rng)
				s.edit(1 + rng.IntN(20))
				s.save()
				spliced += s.spliced
				if t.Failed() {
					t.Fatalf("script %d", i)
				}
			}
			if spliced == 0 {
				t.Error("nothing was spliced")
			}
			t.Logf("scripts %d to %d: %d saves were spliced", first, end-1, spliced)
		})
	}
}

// TestSpliceOften saves many times in a row onto one file, and shows how it differs from one that is
// written as a whole. Only a long run does so with the files of all writers.
func TestSpliceOften(t *testing.T) {
	testneeds.Slow(t, "TestSpliceAndWrite saves as well")
	_, _, isLong := spliceScripts(t)
	for _, by := range writers {
		if isLong || by.name == "compress" {
			t.Run(by.name, func(t *testing.T) { spliceOften(t, by.write, isLong) })
		}
	}
}

func spliceOften(t *testing.T, write func(*testing.T, dctest.Doc) []byte, isLong bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 3))
	saves, nodes := 4, 2000
	if isLong {
		saves, nodes = 50, 20000
	}
	s := newSplicing(t, write(t, dctest.Generate(dctest.GenOptions{Seed: 5, Sheets: 40, Nodes: nodes})), rng)
	first := len(s.data)
	for range saves {
		s.edit(1 + rng.IntN(2))
		s.save()
	}
	c := s.base.Counts()
	whole := dctest.Open(t, s.whole).Counts()
	t.Logf("%d of %d saves were spliced; %d bytes became %d, as a whole %d; unused: %d of %d nodes, %d of %d attributes, %d of %d values",
		s.spliced, saves, first, len(s.data), len(s.whole),
		c.StoredNodes-whole.StoredNodes, c.StoredNodes, c.StoredAttributes-whole.StoredAttributes, c.StoredAttributes, c.Values-whole.Values, c.Values)
	if s.spliced == 0 {
		t.Error("nothing was spliced")
	}
}

// splicing is a file that is edited and saved in both ways.
type splicing struct {
	t   *testing.T
	rng *rand.Rand
	d   *edit.Draft
	// never gets the same edits, but is never saved.
	never *edit.Draft
	// first and base are the Draft's. data has the bytes of base, and whole those of the same tree
	// written as a whole.
	first, base *datacenter.File
	data, whole []byte
	spliced     int
	// seen are numbers and values that the edits use again.
	names  []string
	values []datacenter.Value
	keys   []datacenter.KeyDefinition
}

func newSplicing(t *testing.T, data []byte, rng *rand.Rand) *splicing {
	t.Helper()
	f := openBlocks(t, data)
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	never, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &splicing{t: t, rng: rng, d: d, never: never, first: f, base: f, data: data, names: f.Names(), keys: f.KeyDefinitions()}
}

// openBlocks opens a file with small blocks.
func openBlocks(t *testing.T, data []byte) *datacenter.File {
	t.Helper()
	f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{BlockSize: blocksOfTests})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// save saves the edits in both ways while others are made, checks the results, and continues with the
// spliced file if there is one.
func (s *splicing) save() {
	s.t.Helper()
	snapshot, never := s.d.Snapshot(), s.never.Snapshot()
	defer snapshot.Close()
	defer never.Close()
	s.edit(s.rng.IntN(5))
	var whole bytes.Buffer
	written, err := snapshot.Write(s.t.Context(), datacenter.WriteOptions{}, &whole)
	if err != nil {
		s.t.Fatal(err)
	}
	s.whole = whole.Bytes()
	g := openBlocks(s.t, s.whole)
	if err := written.Compare(s.t.Context(), g); err != nil {
		s.t.Fatal(err)
	}
	s.sameAsNeverSaved(never, g)
	s.data = s.whole
	var out bytes.Buffer
	w, spliced, err := snapshot.Splice(s.t.Context(), datacenter.WriteOptions{}, &out)
	switch {
	case errors.Is(err, splice.ErrWhole):
		s.t.Logf("%v", err)
		if out.Len() > 0 {
			s.t.Errorf("%d bytes were written", out.Len())
		}
	case err != nil:
		s.t.Fatal(err)
	default:
		s.spliced++
		written, s.data = w, out.Bytes()
		g = s.checkSpliced(w, spliced, g)
	}
	if err := s.d.Rebase(s.t.Context(), written, g, func([][]byte) error { return nil }); err != nil {
		s.t.Fatal(err)
	}
	s.base = g
}

// sameAsNeverSaved compares a file with what the same edits make of the first one, but for the order of
// siblings: those that had other keys when they were saved stay in the order of these.
func (s *splicing) sameAsNeverSaved(never *edit.Snapshot, g *datacenter.File) {
	s.t.Helper()
	var out bytes.Buffer
	if _, err := never.Write(s.t.Context(), datacenter.WriteOptions{}, &out); err != nil {
		s.t.Fatal(err)
	}
	got, want := newAnyOrder(s.t, g), newAnyOrder(s.t, openBlocks(s.t, out.Bytes()))
	if got != want {
		s.t.Fatal("saves have changed what the edits mean")
	}
}

// anyOrder computes hashes of nodes with all below them. They are the same for nodes that differ in
// nothing but the order of siblings. Shared runs are read once: as a tree, a real file does not fit
// into memory.
type anyOrder struct {
	t    *testing.T
	kids map[datacenter.Run]uint64
	text []byte
}

// newAnyOrder returns the hash of a whole file.
func newAnyOrder(t *testing.T, f *datacenter.File) uint64 {
	t.Helper()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	o := &anyOrder{t: t, kids: map[datacenter.Run]uint64{}}
	return o.node(root)
}

func (o *anyOrder) node(n datacenter.Node) uint64 {
	sum := xxhash.Sum64String(fmt.Sprintf("%q %q %d", n.Name(), n.Keys(), n.Flags()))
	for a, err := range n.Attributes() {
		if err == nil {
			o.text, err = a.AppendText(fmt.Appendf(o.text[:0], "%q %d ", a.Name(), a.Type()))
		}
		if err != nil {
			o.t.Fatal(err)
		}
		sum += xxhash.Sum64(o.text)
	}
	return xxhash.Sum64(binary.LittleEndian.AppendUint64(nil, sum)) + 3*o.children(n)
}

func (o *anyOrder) children(n datacenter.Node) (sum uint64) {
	sum, known := o.kids[n.ChildRun()]
	if known || n.ChildCount() == 0 {
		return sum
	}
	for k, err := range n.Children() {
		if err != nil {
			o.t.Fatal(err)
		}
		h := o.node(k)
		sum += xxhash.Sum64(binary.LittleEndian.AppendUint64(nil, h))
	}
	o.kids[n.ChildRun()] = sum
	return sum
}

// checkSpliced checks a spliced file in all ways, and returns it, opened by its successor index.
func (s *splicing) checkSpliced(w *edit.Written, spliced *splice.Spliced, whole *datacenter.File) *datacenter.File {
	s.t.Helper()
	ctx, r, size := s.t.Context(), bytes.NewReader(s.data), int64(len(s.data))
	if err := checkSpliced(ctx, spliced, r, s.data); err != nil {
		s.t.Fatal(err)
	}
	g, err := spliced.Open(r, size, datacenter.Options{BlockSize: blocksOfTests})
	if err == nil {
		err = w.CompareSpliced(ctx, spliced.Wanted(g))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	anew := openBlocks(s.t, s.data)
	if err := w.Compare(ctx, anew); err != nil {
		s.t.Fatal(err)
	}
	for _, f := range []*datacenter.File{g, anew} {
		same, err := sameFiles(ctx, whole, f)
		if err != nil || !same {
			s.t.Fatalf("spliced and whole differ: %v", err)
		}
	}
	if g.Counts() != anew.Counts() || g.Header() != anew.Header() {
		s.t.Errorf("counts %+v, want %+v", g.Counts(), anew.Counts())
	}
	if found := dctest.Findings(s.t, s.data, 5); len(found) > 0 {
		s.t.Errorf("verify finds %v", found)
	}
	s.inflate(g)
	return g
}

// sameFiles reports whether two files are equal in every node.
func sameFiles(ctx context.Context, f, g *datacenter.File) (bool, error) {
	x, err := f.Root()
	if err != nil {
		return false, err
	}
	y, err := g.Root()
	if err != nil {
		return false, err
	}
	c := compare.NewComparer(ctx, f, g)
	same, err := c.Same(x, y)
	if !same && err == nil {
		_, err = c.Difference()
	}
	return same, err
}

// inflate inflates the file by the standard library and, where there is Python, by zlib.
func (s *splicing) inflate(g *datacenter.File) {
	s.t.Helper()
	key := g.Key()
	block, err := aes.NewCipher(key.Key[:])
	if err != nil {
		s.t.Fatal(err)
	}
	plain, err := io.ReadAll(io.NewSectionReader(cfb.NewReader(bytes.NewReader(s.data), block, key.IV), 0, int64(len(s.data))))
	if err != nil {
		s.t.Fatal(err)
	}
	z, err := zlib.NewReader(bytes.NewReader(plain[4:]))
	if err != nil {
		s.t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil || len(data) != int(binary.LittleEndian.Uint32(plain)) {
		s.t.Fatalf("inflates to %d bytes: %v", len(data), err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		return
	}
	out := runPython(s.t, "import sys, zlib\nd = zlib.decompressobj()\nb = d.decompress(sys.stdin.buffer.read())\n"+
		"print(d.eof, len(d.unused_data), len(b), zlib.adler32(b))", plain[4:])
	if want := fmt.Sprintln("True", 0, len(data), adler32.Checksum(data)); string(out) != want {
		s.t.Errorf("zlib says %swant %s", out, want)
	}
}

// edit makes random edits.
func (s *splicing) edit(n int) {
	s.t.Helper()
	made := 0
	for range 20 * n {
		if made == n {
			return
		}
		edits := s.one()
		if s.d.Apply(s.t.Context(), edits...) != nil { // most of them can be made
			continue
		}
		made++
		if err := s.never.Apply(s.t.Context(), edits...); err != nil {
			s.t.Fatalf("%+v can't be made of the first file: %v", edits, err)
		}
	}
}

// one returns a random edit.
func (s *splicing) one() []edit.Edit {
	n := s.node()
	attrs, _ := s.d.Attributes(n)
	switch s.rng.IntN(16) {
	case 0:
		return []edit.Edit{{Op: edit.RemoveNode, Node: n}}
	case 1:
		child := s.d.NewNumber()
		edits := []edit.Edit{{Op: edit.AddNode, Node: child, Parent: n, Name: s.childName(n), Ordinal: 1000 + s.rng.Uint32N(1<<20)}}
		for range s.rng.IntN(5) {
			edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: child, Name: s.name(), Value: s.value()})
		}
		return edits
	case 2:
		return []edit.Edit{{Op: edit.MoveNode, Node: n, Parent: s.node(), Name: s.childName(n), Ordinal: 1000 + s.rng.Uint32N(1<<20)}}
	case 3:
		return []edit.Edit{{Op: edit.SetKeys, Node: n, Keys: s.keys[s.rng.IntN(len(s.keys))]}}
	case 4:
		return []edit.Edit{{Op: edit.SetFlags, Node: n, Flags: datacenter.KeyFlags(s.rng.IntN(2))}}
	case 5, 6:
		return []edit.Edit{{Op: edit.SetAttribute, Node: n, Name: s.name(), Value: s.value()}}
	case 7:
		if len(attrs) > 0 {
			return []edit.Edit{{Op: edit.RemoveAttribute, Node: n, Name: attrs[s.rng.IntN(len(attrs))].Name}}
		}
	}
	if len(attrs) == 0 {
		return []edit.Edit{{Op: edit.SetAttribute, Node: n, Name: s.name(), Value: s.value()}}
	}
	a := attrs[s.rng.IntN(len(attrs))]
	if a.Stored {
		if stored, err := s.first.Attribute(a.Addr); err == nil && stored.Type() == datacenter.String {
			s.values = append(s.values, storedValue(s.t, stored))
		}
	}
	return []edit.Edit{{Op: edit.SetAttribute, Node: n, Name: a.Name, Value: s.value()}}
}

func (s *splicing) name() string { return s.names[s.rng.IntN(len(s.names))] }

// childName returns a name for a child of a node: mostly one that its children have.
func (s *splicing) childName(n edit.Number) string {
	info, _ := s.d.Node(n)
	if info.Name != dctest.RootName && s.rng.IntN(3) > 0 {
		return info.Name
	}
	return s.name()
}

// value returns a new value, or one that the file has.
func (s *splicing) value() datacenter.Value {
	parse := func(typ datacenter.Type, text string) datacenter.Value {
		v, err := datacenter.ParseValue(typ, text)
		if err != nil {
			s.t.Fatal(err)
		}
		return v
	}
	switch s.rng.IntN(8) {
	case 0, 1:
		return parse(datacenter.Int, strconv.Itoa(int(int32(s.rng.Uint32()))))
	case 2:
		return parse(datacenter.Float, strconv.Itoa(s.rng.IntN(1000))+".5")
	case 3:
		return parse(datacenter.Bool, strconv.FormatBool(s.rng.IntN(2) == 0))
	case 4, 5:
		if len(s.values) > 0 {
			return s.values[s.rng.IntN(len(s.values))]
		}
	}
	text := make([]rune, s.rng.IntN(60))
	if s.rng.IntN(50) == 0 {
		text = make([]rune, 1+s.rng.IntN(40000))
	}
	for i := range text {
		text[i] = rune('a' + s.rng.IntN(26))
		if s.rng.IntN(20) == 0 {
			text[i] = rune(0xAC00 + s.rng.IntN(2000))
		}
	}
	return parse(datacenter.String, string(text))
}

// node returns a random node. It goes down from the root, so that all depths are met.
func (s *splicing) node() edit.Number {
	s.t.Helper()
	n := edit.Number(0)
	for depth := 0; ; depth++ {
		if err := s.d.Open(n); err != nil {
			s.t.Fatal(err)
		}
		info, ok := s.d.Node(n)
		if !ok {
			s.t.Fatalf("node %d is no draft node", n)
		}
		if info.Children == 0 || depth > 1 && s.rng.IntN(4) == 0 {
			return n
		}
		list, _ := s.d.List(n, 0, info.Attributes+info.Children, nil)
		kids := list[:0]
		for _, e := range list {
			if !e.Attribute {
				kids = append(kids, e)
			}
		}
		n = kids[s.rng.IntN(len(kids))].Number
	}
}

// checkSpliced checks what was written, as a save does.
func checkSpliced(ctx context.Context, spliced *splice.Spliced, r io.ReaderAt, written []byte) error {
	return errors.Join(spliced.CheckBytes(ctx, r, sha256.Sum256(written)), spliced.CheckData(ctx, r))
}
