package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds"
)

// compareDoc returns a tree in which two sheets are equal, and so are many runs below. It
// calls change for a part of it that is not shared.
func compareDoc(change func(deep *dctest.Node)) dctest.Doc {
	leaf := func() *dctest.Node {
		return &dctest.Node{
			Name: "Leaf", Keys: []string{"id"}, Flags: 1,
			Attrs: []dctest.Attr{
				{Name: "id", Value: 1},
				{Name: "f", Value: float32(0)},
				{Name: "s", Value: "one"},
				{Name: "b", Value: true},
				dctest.Text("text"),
			},
			Children: []*dctest.Node{{Name: "Tip", Attrs: []dctest.Attr{{Name: "id", Value: 7}}}, {Name: "Tip"}, {Name: "Top"}},
		}
	}
	sheet := func() *dctest.Node {
		var mid []*dctest.Node
		for range 4 {
			mid = append(mid, &dctest.Node{Name: "Mid", Children: []*dctest.Node{leaf(), leaf()}})
		}
		return &dctest.Node{Name: "Sheet", Children: mid}
	}
	first, second := sheet(), sheet()
	if change != nil {
		change(second.Children[2].Children[1])
	}
	return dctest.Doc{
		Revision: 5, Keys: [][]string{{"id"}, {"s"}, {"id", "s"}},
		Names: []string{"Sheet", "Mid", "Leaf", "Tip", "Top", "id", "f", "s", "b", "extra", "renamed"},
		Root:  dctest.Root(first, second),
	}
}

// compareWith returns what Compare says of g as the result of writing a Draft.
func compareWith(t *testing.T, d *edit.Draft, g *datacenter.File, layout datacenter.Layout) error {
	t.Helper()
	s := d.Snapshot()
	defer s.Close()
	w, err := s.Write(t.Context(), datacenter.WriteOptions{Layout: layout}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return w.Compare(t.Context(), g)
}

// compareDraft returns what Compare says of a file as the result of writing a Draft of the
// plain document.
func compareDraft(t *testing.T, file []byte, opened bool, layout datacenter.Layout) error {
	t.Helper()
	d := draftOf(t, compareDoc(nil), dctest.Options{})
	if opened {
		listAll(t, d)
	}
	g := dctest.Open(t, file)
	return compareWith(t, d, g, layout)
}

func TestCompareFindsDifferences(t *testing.T) {
	testneeds.Seconds(t)
	attr := func(name string, v any) func(*dctest.Node) {
		return func(n *dctest.Node) {
			for i := range n.Attrs {
				if n.Attrs[i].Name == name {
					n.Attrs[i].Value = v
					return
				}
			}
			n.Attrs = append(n.Attrs, dctest.Attr{Name: name, Value: v})
		}
	}
	rename := func(from, to string) func(*dctest.Node) {
		return func(n *dctest.Node) {
			for i := range n.Attrs {
				if n.Attrs[i].Name == from {
					n.Attrs[i].Name = to
				}
			}
		}
	}
	for name, change := range map[string]func(*dctest.Node){
		"an int":                 attr("id", 2),
		"a float":                attr("f", float32(1)),
		"-0":                     attr("f", float32(math.Copysign(0, -1))),
		"a string":               attr("s", "two"),
		"an empty string":        attr("s", ""),
		"a longer string":        attr("s", "one "),
		"a bool":                 attr("b", false),
		"text":                   attr(dctest.ValueName, "texT"),
		"a bool as int":          attr("b", 1),
		"a float as int":         attr("f", 0),
		"a string as int":        attr("s", 0),
		"an attribute's name":    rename("f", "renamed"),
		"a string's name":        rename("s", "renamed"),
		"one more attribute":     attr("extra", 1),
		"one attribute less":     func(n *dctest.Node) { n.Attrs = n.Attrs[:4] },
		"a name":                 func(n *dctest.Node) { n.Children[2].Name = "renamed" },
		"a key":                  func(n *dctest.Node) { n.Keys = []string{"s"} },
		"a key less":             func(n *dctest.Node) { n.Keys = nil },
		"a key more":             func(n *dctest.Node) { n.Keys = []string{"id", "s"} },
		"flags":                  func(n *dctest.Node) { n.Flags = 0 },
		"one more child":         func(n *dctest.Node) { n.Children = append(n.Children, &dctest.Node{Name: "Top"}) },
		"one child less":         func(n *dctest.Node) { n.Children = n.Children[:2] },
		"no child":               func(n *dctest.Node) { n.Children = nil },
		"order":                  func(n *dctest.Node) { n.Children[0], n.Children[1] = n.Children[1], n.Children[0] },
		"a child for attributes": func(n *dctest.Node) { n.Children, n.Attrs = append(n.Children, &dctest.Node{Name: "Top"}), n.Attrs[:4] },
		"an attribute further down": func(n *dctest.Node) {
			n.Children[0].Attrs, n.Children[1].Attrs = nil, n.Children[0].Attrs
		},
		"a child further down": func(n *dctest.Node) {
			n.Children, n.Children[0].Children = n.Children[:2], []*dctest.Node{n.Children[2]}
		},
	} {
		for _, opened := range []bool{false, true} {
			for _, o := range []dctest.Options{{}, {NoSharing: true}, {Overlap: true, Placeholders: 2}} {
				err := compareDraft(t, dctest.Build(compareDoc(change), o), opened, datacenter.LayoutAuto)
				if !errors.Is(err, edit.ErrDiffers) {
					t.Errorf("%s, of draft nodes %v: %v", name, opened, err)
				}
			}
		}
	}
}

func TestCompareFindsNoDifference(t *testing.T) {
	for _, layout := range []datacenter.Layout{datacenter.LayoutV3, datacenter.LayoutV6X86, datacenter.LayoutV6X64} {
		for i, o := range []dctest.Options{{}, {NoSharing: true}, {Overlap: true, Placeholders: 2}, {ShareSuffixes: true, Garbage: 7}} {
			for _, opened := range []bool{false, true} {
				doc := compareDoc(nil)
				doc.Layout = layout
				if err := compareDraft(t, dctest.Build(doc, o), opened, layout); err != nil {
					t.Errorf("%v, %d, of draft nodes %v: %v", layout, i, opened, err)
				}
			}
		}
	}
}

// TestCompareProgress checks that the progress goes to its end once.
func TestCompareProgress(t *testing.T) {
	f := openBlocks(t, dctest.Build(compareDoc(nil), dctest.Options{}))
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := d.Snapshot()
	defer s.Close()
	var out bytes.Buffer
	w, err := s.Write(t.Context(), datacenter.WriteOptions{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	var turn sync.Mutex
	var parts []float64
	w.Progress = func(done, total int64) {
		turn.Lock()
		defer turn.Unlock()
		parts = append(parts, float64(done)/float64(total))
	}
	if err := w.Compare(t.Context(), openBlocks(t, out.Bytes())); err != nil {
		t.Fatal(err)
	}
	end := slices.Index(parts, slices.Max(parts))
	if len(parts) < 4 || parts[end] > 1 || parts[end] < 0.9 || end < len(parts)-2 {
		t.Errorf("progress: %v", parts)
	}
}

func TestCompareFindsOtherHeaders(t *testing.T) {
	for name, change := range map[string]func(*dctest.Doc){
		"timestamp": func(d *dctest.Doc) { d.Timestamp = 1 },
		"revision":  func(d *dctest.Doc) { d.Revision++ },
		"layout":    func(d *dctest.Doc) { d.Layout = datacenter.LayoutV3 },
	} {
		doc := compareDoc(nil)
		change(&doc)
		if err := compareDraft(t, dctest.Build(doc, dctest.Options{}), false, datacenter.LayoutAuto); !errors.Is(err, edit.ErrDiffers) {
			t.Errorf("%s: %v", name, err)
		}
	}
	const unknown = 4 + 8 + 4
	for _, at := range []int{0, 2, 4, 8, 12} {
		img := dctest.NewImage(compareDoc(nil), dctest.Options{})
		img.Data[unknown+at] = 1
		if err := compareDraft(t, img.Seal(dctest.SealOptions{}), false, datacenter.LayoutAuto); !errors.Is(err, edit.ErrDiffers) {
			t.Errorf("the unknown field at %d: %v", at, err)
		}
	}
}

// TestCompareOfEdits checks that Compare compares edited attributes one by one.
func TestCompareOfEdits(t *testing.T) {
	text, err := datacenter.StringValue("new")
	if err != nil {
		t.Fatal(err)
	}
	values := []datacenter.Value{text, datacenter.IntValue(1), datacenter.FloatValue(math.Float32frombits(1)), datacenter.BoolValue(true), datacenter.IntValue(0)}
	for i, v := range values {
		for j, other := range values {
			d, e := draftOf(t, compareDoc(nil), dctest.Options{}), draftOf(t, compareDoc(nil), dctest.Options{})
			for _, s := range []struct {
				d *edit.Draft
				v datacenter.Value
			}{{d, v}, {e, other}} {
				done(t, s.d, edit.Edit{Op: edit.SetAttribute, Node: 1, Name: "brand-new", Value: s.v})
			}
			g, _ := writeDraft(t, e, datacenter.LayoutAuto)
			err := compareWith(t, d, g, datacenter.LayoutAuto)
			if (err == nil) != (i == j) || err != nil && !errors.Is(err, edit.ErrDiffers) {
				t.Errorf("%v written as %v: %v", v, other, err)
			}
		}
	}
}

// TestDraftOfContradictingKeys saves siblings whose key definitions contradict each other.
// No order suits both, but they are saved, and the entries behind them get the right
// numbers.
func TestDraftOfContradictingKeys(t *testing.T) {
	contrary := func(i int) *dctest.Node {
		return &dctest.Node{
			Name: "Item", Keys: [][]string{{"a"}, {"b"}}[i%2],
			Attrs:    []dctest.Attr{{Name: "a", Value: i}, {Name: "b", Value: -i}},
			Children: []*dctest.Node{{Name: "Below"}},
		}
	}
	for n := 2; n < 60; n += 19 {
		sheets := make([]*dctest.Node, 3)
		for i := range sheets {
			sheets[i] = &dctest.Node{Name: fmt.Sprintf("Sheet%d", i)}
			for k := range n {
				sheets[i].Children = append(sheets[i].Children, contrary(k))
			}
		}
		root := dctest.Root(sheets...)
		for i := range n { // and among the children of the root
			root.Children = append(root.Children, contrary(i))
		}
		f := dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{}))
		var records [][]byte
		d, err := edit.NewDraft(f, func(r []byte) error {
			records = append(records, bytes.Clone(r))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m := newModel(t, f)
		done(t, d, set(m.root.kids[0].kids[0].number, "x"))
		for round := range 3 {
			g, _ := writeDraft(t, d, datacenter.LayoutAuto)
			records = nil
			for i, top := range m.root.kids {
				done(t, d, set(top.kids[0].number, fmt.Sprintf("round%d-%d", round, i)))
			}
			replayed, err := edit.NewDraft(g, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if err := replayed.Replay(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			p, _ := writeDraft(t, replayed, datacenter.LayoutAuto)
			q := dctest.Open(t, justWrite(t, d))
			if got, want := newModel(t, p).String(), newModel(t, q).String(); got != want {
				t.Fatalf("%d siblings, round %d: after Replay\n%.2000swant\n%.2000s", n, round, got, want)
			}
		}
	}
}

// justWrite writes a Draft without a rebase.
func justWrite(t testing.TB, d *edit.Draft) []byte {
	t.Helper()
	var out bytes.Buffer
	s := d.Snapshot()
	defer s.Close()
	if _, err := s.Write(t.Context(), datacenter.WriteOptions{}, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
