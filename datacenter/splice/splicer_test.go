package splice_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/splice"
	"lorefs/internal/testneeds"
)

// TestSplicer saves random edits both ways, over and over onto the spliced file. The trees must be
// equal, Verify must find nothing, and the index must be that of a pass.
func TestSplicer(t *testing.T) {
	rounds, nodes := 5, 1500
	if testneeds.Quick() {
		rounds, nodes = 1, 800
	}
	for i, tt := range spliceBases(nodes) {
		t.Run(tt.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			c := &chain{rng: rng, file: dctest.Build(tt.doc, tt.options)}
			c.strict = strictKinds(t, c.file)
			c.f = mustOpen(t, c.file, smallBlocks)
			for round := range rounds {
				t.Logf("round %d", round)
				c.save(t, 1+rng.IntN(6))
			}
			if c.spliced < rounds/2 {
				t.Errorf("%d of %d saves were spliced", c.spliced, rounds)
			}
		})
	}
}

// smallBlocks give small files many checkpoints.
var smallBlocks = datacenter.Options{BlockSize: 64 << 10}

type spliceBase struct {
	name    string
	doc     dctest.Doc
	options dctest.Options
}

func spliceBases(nodes int) []spliceBase {
	generated := func(seed uint64, layout datacenter.Layout) dctest.Doc {
		return dctest.Generate(dctest.GenOptions{Layout: layout, Seed: seed, Sheets: nodes / 75, Nodes: nodes})
	}
	return []spliceBase{
		{"x64", generated(1, datacenter.LayoutV6X64), dctest.Options{}},
		{"x86", generated(2, datacenter.LayoutV6X86), dctest.Options{}},
		{"v3", generated(3, datacenter.LayoutV3), dctest.Options{}},
		{"slack", generated(4, datacenter.LayoutV6X64), dctest.Options{FullCount: 9000, Garbage: 1}},
		{"little slack", generated(5, datacenter.LayoutV6X64), dctest.Options{SegmentSize: 1000, FullCount: 1003, Garbage: 1}},
		{"full segments", generated(6, datacenter.LayoutV6X86), dctest.Options{SegmentSize: 65535}},
		{"nothing shared", generated(7, datacenter.LayoutV6X64), dctest.Options{NoSharing: true}},
		{"overlapping runs", generated(8, datacenter.LayoutV6X64), dctest.Options{Overlap: true}},
		{"odd strings", generated(9, datacenter.LayoutV6X64), dctest.Options{OmitNUL: true, ShareSuffixes: true, StringSegmentSize: 5000}},
		{"placeholders", generated(10, datacenter.LayoutV6X64), dctest.Options{Placeholders: 3, Garbage: 2}},
	}
}

// chain is a file that is saved again and again.
type chain struct {
	rng     *rand.Rand
	file    []byte
	f       *datacenter.File
	strict  map[string]bool // what VerifyStrict said about the first file
	spliced int
	exact   int
}

// save makes random edits and saves them both ways. It continues with the spliced file.
func (c *chain) save(t *testing.T, edits int) {
	t.Helper()
	c.saveEdits(t, func(d *edit.Draft, apply func(edit.Edit) bool) {
		script := newScripter(t, c.rng, c.f, d, apply)
		for range edits {
			script.edit(t)
		}
	})
}

func (c *chain) saveEdits(t *testing.T, edits func(d *edit.Draft, apply func(edit.Edit) bool)) {
	t.Helper()
	d, err := edit.NewDraft(c.f, nil)
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	edits(d, func(e edit.Edit) bool {
		err := d.Apply(t.Context(), e)
		if err == nil {
			made = append(made, fmt.Sprintf("%+v", e))
		}
		return err == nil
	})
	snapshot := d.Snapshot()
	defer snapshot.Close()
	var whole, spliced bytes.Buffer
	if _, err := snapshot.Write(t.Context(), datacenter.WriteOptions{}, &whole); err != nil {
		t.Fatal(err)
	}
	want := mustOpen(t, whole.Bytes(), smallBlocks)
	_, s, err := snapshot.Splice(t.Context(), datacenter.WriteOptions{}, &spliced)
	if errors.Is(err, splice.ErrWhole) && spliced.Len() == 0 {
		t.Logf("%v", err)
		c.file, c.f = whole.Bytes(), want
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	c.spliced++
	if err := s.CheckBytes(t.Context(), bytes.NewReader(spliced.Bytes()), sha256.Sum256(spliced.Bytes())); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckData(t.Context(), bytes.NewReader(spliced.Bytes())); err != nil {
		t.Fatal(err)
	}
	opts := smallBlocks
	opts.Index = dctest.Index{}
	got, err := s.Open(bytes.NewReader(spliced.Bytes()), int64(spliced.Len()), opts)
	if err != nil {
		t.Fatal(err)
	}
	fresh := mustOpen(t, spliced.Bytes(), datacenter.Options{Layout: c.f.Layout()})
	exact, err := splice.CompareIndexes(got, fresh)
	if err != nil {
		t.Fatalf("the index: %v\nedits:\n%s", err, strings.Join(made, "\n"))
	}
	if exact {
		c.exact++
	}
	if a, b := inOrder(t, got), inOrder(t, want); a != b {
		at := 0
		for a[at] == b[at] {
			at++
		}
		t.Fatalf("differs at %d:\n%.300s\nwant\n%.300s\nedits:\n%s", at, a[max(at-100, 0):], b[max(at-100, 0):], strings.Join(made, "\n"))
	}
	for kind := range strictKinds(t, spliced.Bytes()) {
		if !c.strict[kind] && kind != "unused" && kind != "twice" {
			t.Errorf("VerifyStrict: %s", kind)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	c.file, c.f = bytes.Clone(spliced.Bytes()), got
	if c.rng.IntN(2) == 0 {
		c.remount(t, opts)
	}
}

// remount opens the file anew, by the index that was kept. No pass may be needed.
func (c *chain) remount(t *testing.T, opts datacenter.Options) {
	t.Helper()
	var log bytes.Buffer
	passed := false
	opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	opts.Progress = func(int64, int64) { passed = true }
	f := mustOpen(t, c.file, opts)
	if passed || log.Len() > 0 {
		t.Fatalf("the index was not used: %s", log.Bytes())
	}
	if exact, err := splice.CompareIndexes(c.f, f); err != nil || !exact {
		t.Fatalf("the index was not kept as it was: %v", err)
	}
	c.f = f
}

// strictKinds returns the kinds of what VerifyStrict finds.
func strictKinds(t *testing.T, file []byte) map[string]bool {
	t.Helper()
	kinds := map[string]bool{}
	for _, f := range dctest.StrictFindings(t, file, 1<<20) {
		switch {
		case f.What == "nothing refers to it", f.What == "no attribute has it":
			kinds["unused"] = true
		case strings.HasPrefix(f.What, "the same "):
			kinds["twice"] = true
		case strings.HasSuffix(f.What, " are used"):
			kinds["slack"] = true
		default:
			kinds[f.String()] = true
		}
	}
	return kinds
}

// inOrder returns a text for a whole file, with siblings in their order.
func inOrder(t *testing.T, f *datacenter.File) string {
	t.Helper()
	var b strings.Builder
	var write func(n datacenter.Node)
	write = func(n datacenter.Node) {
		fmt.Fprintf(&b, "<%s %v %d", n.Name(), n.Keys(), n.Flags())
		for a, err := range n.Attributes() {
			if err != nil {
				t.Fatal(err)
			}
			text, err := a.AppendText(nil)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, " %s=%v:%q", a.Name(), a.Type(), text)
		}
		b.WriteString(">\n")
		for k, err := range n.Children() {
			if err != nil {
				t.Fatal(err)
			}
			write(k)
		}
		b.WriteString("</>\n")
	}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	write(root)
	return b.String()
}

// scripter makes random edits of a draft.
type scripter struct {
	rng     *rand.Rand
	f       *datacenter.File
	d       *edit.Draft
	make    func(edit.Edit) bool
	nodes   []scriptNode
	strings []string
}

// scriptNode is a node of the first file, or one that was added.
type scriptNode struct {
	number edit.Number
	name   string
	attrs  []string
	size   int // nodes in its subtree
}

func newScripter(t *testing.T, rng *rand.Rand, f *datacenter.File, d *edit.Draft, apply func(edit.Edit) bool) *scripter {
	s := &scripter{rng: rng, f: f, d: d, make: apply, strings: []string{""}}
	next := edit.Number(0)
	var list func(n datacenter.Node) int
	list = func(n datacenter.Node) int {
		at := len(s.nodes)
		s.nodes = append(s.nodes, scriptNode{number: next, name: n.Name()})
		next++
		for a, err := range n.Attributes() {
			if err != nil {
				t.Fatal(err)
			}
			s.nodes[at].attrs = append(s.nodes[at].attrs, a.Name())
			if a.Type() == datacenter.String && len(s.strings) < 200 {
				text, err := a.AppendText(nil)
				if err != nil {
					t.Fatal(err)
				}
				s.strings = append(s.strings, string(text))
			}
			next++
		}
		size := 1
		for k, err := range n.Children() {
			if err != nil {
				t.Fatal(err)
			}
			size += list(k)
		}
		s.nodes[at].size = size
		return size
	}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	list(root)
	return s
}

func (s *scripter) node() *scriptNode {
	// Half of the edits hit one of the last nodes, so that edits meet.
	if n := len(s.nodes); s.rng.IntN(2) == 0 {
		return &s.nodes[n-1-s.rng.IntN(min(n, 40))]
	}
	return &s.nodes[s.rng.IntN(len(s.nodes))]
}

func (s *scripter) value(t *testing.T) datacenter.Value {
	switch s.rng.IntN(6) {
	case 0:
		return datacenter.FloatValue(s.rng.Float32())
	case 1:
		return datacenter.BoolValue(s.rng.IntN(2) == 0)
	case 2:
		return datacenter.IntValue(int32(s.rng.IntN(5)))
	case 3:
		return s.text(t, fmt.Sprintf("a new text, number %d", s.rng.IntN(1000)))
	}
	return s.text(t, s.strings[s.rng.IntN(len(s.strings))])
}

func (s *scripter) text(t *testing.T, text string) datacenter.Value {
	v, err := datacenter.StringValue(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (s *scripter) name() string {
	names := s.f.Names()
	if len(names) == 2 { // __root__ and __value__
		return "new"
	}
	return names[s.rng.IntN(len(names)-2)]
}

// edit makes an edit. Some can't be made, which does not matter.
func (s *scripter) edit(t *testing.T) {
	n := s.node()
	switch s.rng.IntN(11) {
	case 0, 1, 2:
		if len(n.attrs) > 0 {
			name := n.attrs[s.rng.IntN(len(n.attrs))]
			v := s.value(t)
			if name == datacenter.ValueName {
				v = s.text(t, "new")
			}
			s.apply(edit.Edit{Op: edit.SetAttribute, Node: n.number, Name: name, Value: v})
		}
	case 3:
		s.apply(edit.Edit{Op: edit.SetAttribute, Node: n.number, Name: s.name(), Value: s.value(t)})
	case 4:
		if len(n.attrs) > 0 {
			s.apply(edit.Edit{Op: edit.RemoveAttribute, Node: n.number, Name: n.attrs[s.rng.IntN(len(n.attrs))]})
		}
	case 5, 6:
		child := scriptNode{number: s.d.NewNumber(), name: s.name()}
		if s.apply(edit.Edit{Op: edit.AddNode, Node: child.number, Parent: n.number, Name: child.name, Ordinal: 1000 + s.rng.Uint32N(1000)}) {
			for range s.rng.IntN(4) {
				s.apply(edit.Edit{Op: edit.SetAttribute, Node: child.number, Name: s.name(), Value: s.value(t)})
			}
			s.nodes = append(s.nodes, child)
		}
	case 7, 8:
		if n.size < 200 {
			s.apply(edit.Edit{Op: edit.RemoveNode, Node: n.number})
		}
	case 9:
		to := s.node()
		s.apply(edit.Edit{Op: edit.MoveNode, Node: n.number, Parent: to.number, Name: n.name, Ordinal: 2000 + s.rng.Uint32N(1000)})
	case 10:
		defs := s.f.KeyDefinitions()
		s.apply(edit.Edit{Op: edit.SetKeys, Node: n.number, Keys: defs[s.rng.IntN(len(defs))]})
		s.apply(edit.Edit{Op: edit.SetFlags, Node: n.number, Flags: datacenter.KeyFlags(s.rng.IntN(2))})
	}
}

func (s *scripter) apply(e edit.Edit) bool {
	return e.Node > 0 && s.make(e) // 0 is the root
}
