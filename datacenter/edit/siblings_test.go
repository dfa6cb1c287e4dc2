package edit_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/internal/testneeds/property"
)

// definitions have one attribute or several, and some are prefixes of others. The order of
// their names is neither that of the indexes nor that of the bytes.
var definitions = []datacenter.KeyDefinition{
	{}, {"id"}, {"id", "rank"}, {"rank"}, {"rank", "id"}, {"idx"}, {"한"}, {"\U0001f409"}, {"\uffe6", "id"}, {"A", "id", "rank", "한"},
}

// someSiblings draws siblings of one name. Each has its place in "n".
func someSiblings(t *rapid.T) []*modelNode {
	defs := definitions
	if rapid.Bool().Draw(t, "of one definition") {
		defs = []datacenter.KeyDefinition{rapid.SampledFrom(definitions).Draw(t, "definition")}
	}
	siblings := make([]*modelNode, rapid.IntRange(2, 24).Draw(t, "siblings"))
	for i := range siblings {
		n := &modelNode{name: "Item", keys: rapid.SampledFrom(defs).Draw(t, "keys"), attrs: map[string]modelAttr{}}
		for _, name := range []string{"id", "rank", "한"} {
			if rapid.IntRange(0, 3).Draw(t, "is there") > 0 {
				n.attrs[name] = modelAttr{value: someValue(t)}
			}
		}
		n.attrs["n"] = modelAttr{value: datacenter.IntValue(int32(i))}
		siblings[i] = n
	}
	return siblings
}

// places returns the places of siblings in the order in which they were drawn.
func places(siblings []*modelNode) string {
	s := ""
	for _, n := range siblings {
		s += n.attrs["n"].value.Text() + " "
	}
	return s
}

// inOrder returns the siblings in the order in which they must be written.
func inOrder(siblings []*modelNode) []*modelNode {
	sorted := slices.Clone(siblings)
	slices.SortStableFunc(sorted, (*modelNode).compareSiblings)
	return sorted
}

// buildSiblings writes them with a Builder as the children of a sheet.
func buildSiblings(t rapidTB, siblings []*modelNode, names []string) []byte {
	b, err := datacenter.NewBuilder(names, datacenter.WriteOptions{Header: datacenter.Header{Timestamp: -1}})
	if err != nil {
		t.Fatal(err)
	}
	b.Begin("Sheet", nil, 0)
	for _, n := range siblings {
		b.Begin(n.name, n.keys, 0)
		for name, a := range n.attrs {
			switch v := a.value; v.Type() {
			case datacenter.Int:
				var i int32
				if _, err := fmt.Sscan(v.Text(), &i); err != nil {
					t.Fatal(err)
				}
				b.Int(name, i)
			case datacenter.Float:
				f, _ := datacenter.ParseFloat(v.Text())
				b.Float(name, math.Float32frombits(f))
			case datacenter.Bool:
				b.Bool(name, v.Text() == "true")
			default:
				b.String(name, v.Text())
			}
		}
		b.End()
	}
	b.End()
	var out bytes.Buffer
	if err := b.Write(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// checkSiblings checks the order of the siblings in a file.
func checkSiblings(t rapidTB, data []byte, want []*modelNode) *model {
	for _, f := range dctest.StrictFindings(t, data, 5) {
		t.Errorf("VerifyStrict: %v", f)
	}
	m := newModel(t, dctest.Open(t, data))
	if got, want := places(m.root.kids[0].kids), places(want); got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
	return m
}

// TestOrderOfMixedDefinitions checks that siblings of one name have one order, whatever
// their key definitions. A Builder, a Draft before it is saved and after, and Verify must
// agree.
func TestOrderOfMixedDefinitions(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		t := rapidTB{t, rt}
		siblings := someSiblings(rt)
		names := rapid.Permutation([]string{"Sheet", "Item", "n", "id", "rank", "idx", "한", "\U0001f409", "\uffe6", "A"}).Draw(rt, "names")
		data := buildSiblings(t, siblings, names)
		m := checkSiblings(t, data, inOrder(siblings))

		f := dctest.Open(t, data)
		d, err := edit.NewDraft(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		sheet := m.root.kids[0]
		for range 2 { // the second time on top of the saved file
			for _, n := range sheet.kids {
				editSibling(t, d, n)
			}
			if err := d.Open(sheet.number); err != nil {
				t.Fatal(err)
			}
			told, _, err := d.OrderedChildren(sheet.number)
			if err != nil {
				t.Fatal(err)
			}
			sheet.kids = inOrder(sheet.kids)
			for i, e := range told {
				if e.Number != sheet.kids[i].number {
					t.Fatalf("OrderedChildren has %d at place %d, want %d", e.Number, i, sheet.kids[i].number)
				}
			}
			_, data := writeDraft(t, d, datacenter.LayoutAuto)
			checkSiblings(t, data, sheet.kids)
			checkSiblings(t, repacked(t, data), sheet.kids)
		}
	})
}

// editSibling changes the keys of a node, or the value of an attribute, or nothing.
func editSibling(t rapidTB, d *edit.Draft, n *modelNode) {
	e := edit.Edit{Op: edit.SetKeys, Node: n.number}
	switch rapid.IntRange(0, 2).Draw(t.rt, "edit") {
	case 0:
		return
	case 1:
		n.keys = rapid.SampledFrom(definitions).Draw(t.rt, "keys")
		e.Keys = n.keys
	case 2:
		e.Op, e.Name, e.Value = edit.SetAttribute, rapid.SampledFrom([]string{"id", "rank"}).Draw(t.rt, "name"), someValue(t.rt)
		n.attrs[e.Name] = modelAttr{value: e.Value}
	}
	if err := d.Apply(context.Background(), e); err != nil {
		t.Fatal(err)
	}
}

// repacked returns a file written anew without edits.
func repacked(t rapidTB, data []byte) []byte {
	d, err := edit.NewDraft(dctest.Open(t, data), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, again := writeDraft(t, d, datacenter.LayoutAuto)
	return again
}

// TestOrderOfOneDefinitionIsNovadrops checks that, with one definition for each name, the
// order is novadrop's: by the keys of the node that comes first.
func TestOrderOfOneDefinitionIsNovadrops(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		t := rapidTB{t, rt}
		siblings := someSiblings(rt)
		for _, n := range siblings {
			n.keys = siblings[0].keys
		}
		want := slices.Clone(siblings)
		slices.SortStableFunc(want, (*modelNode).compareKeys)
		checkSiblings(t, buildSiblings(t, siblings, []string{"Sheet", "Item", "n", "id", "rank", "idx", "한", "\U0001f409", "\uffe6", "A"}), want)
	})
}

// TestVerifyOfOthersMixedDefinitions checks that definitions in any order, as others may
// write them, are reported only by VerifyStrict.
func TestVerifyOfOthersMixedDefinitions(t *testing.T) {
	item := func(id int, keys ...string) *dctest.Node {
		return &dctest.Node{Name: "Item", Keys: keys, Attrs: []dctest.Attr{{Name: "id", Value: id}}}
	}
	img := dctest.NewImage(dctest.Doc{Root: dctest.Root(&dctest.Node{
		Name: "Sheet", Children: []*dctest.Node{item(7), item(5, "id"), item(6, "id"), item(4, "id", "rank")},
	})}, dctest.Options{})
	reverseRuns(img)
	data := img.Seal(dctest.SealOptions{})
	var plain, strict []string
	for _, f := range dctest.Findings(t, data, 9) {
		plain = append(plain, f.What)
	}
	for _, f := range dctest.StrictFindings(t, data, 9) {
		strict = append(strict, f.What)
	}
	const lower = "its key id is lower than that of the sibling before it"
	if !slices.Equal(plain, []string{lower}) {
		t.Errorf("Verify: %q", plain)
	}
	if want := []string{
		"its keys [id] come behind [id rank], those of the sibling before it: want none first, then by name", lower,
		"its keys [] come behind [id], those of the sibling before it: want none first, then by name",
	}; !slices.Equal(strict, want) {
		t.Errorf("VerifyStrict: %q, want %q", strict, want)
	}
}
