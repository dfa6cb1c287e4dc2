package patch_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/testneeds/property"
)

// drawNode draws a node of a small world, in which many are twins.
func drawNode(rt *rapid.T, depth int) *dctest.Node {
	n := &dctest.Node{Name: rapid.SampledFrom([]string{"A", "B"}).Draw(rt, "name")}
	for _, name := range []string{"id", "xId", "name", "v", "w", "__value__"} {
		if rapid.IntRange(0, 3).Draw(rt, "has") == 0 {
			n.Attrs = append(n.Attrs, dctest.Attr{Name: name, Value: drawValue(rt, name)})
		}
	}
	n.Keys = rapid.SampledFrom([][]string{nil, nil, nil, {"xId"}, {"xId", "w"}}).Draw(rt, "keys")
	n.Flags = rapid.SampledFrom([]uint8{0, 0, 0, 1}).Draw(rt, "flags")
	if depth < 3 {
		for range rapid.IntRange(0, 4).Draw(rt, "children") {
			n.Children = append(n.Children, drawNode(rt, depth+1))
		}
		sameKeys(n.Children)
	}
	return n
}

// sameKeys gives siblings of one name one key definition: others have no order that all
// writers agree on.
func sameKeys(list []*dctest.Node) {
	keys := map[string][]string{}
	for _, n := range list {
		if k, ok := keys[n.Name]; ok {
			n.Keys = k
		} else {
			keys[n.Name] = n.Keys
		}
	}
}

func drawValue(rt *rapid.T, name string) any {
	if name == "__value__" {
		return rapid.SampledFrom([]string{"", " ", "text", "two\nlines", "\x01", "<&>\""}).Draw(rt, "text")
	}
	values := []any{1, 2, 1, 2, 1, "1", "01", "x", "x'y", "", "\x01", "\xed\xa0\x80", float32(1), float32(0.1), true}
	if name == "v" || name == "id" { // the order of such keys is not the builder's business
		values = append(values, dctest.Raw{Type: 2, Value: 1 << 31}, dctest.Raw{Type: 2, Value: 0x7fc00000}, dctest.Raw{Type: 2, Value: 0x7fc00001})
	}
	return rapid.SampledFrom(values).Draw(rt, "value")
}

// mutate gives a copy of nodes with some edits.
func mutate(rt *rapid.T, list []*dctest.Node, depth int) []*dctest.Node {
	var out []*dctest.Node
	for _, n := range list {
		c := *n
		c.Attrs = slices.Clone(n.Attrs)
		c.Children = mutate(rt, n.Children, depth+1)
		switch rapid.IntRange(0, 24).Draw(rt, "edit") {
		case 0:
			continue
		case 1:
			out = append(out, drawNode(rt, depth))
		case 2, 3, 4:
			if len(c.Attrs) > 0 {
				a := &c.Attrs[rapid.IntRange(0, len(c.Attrs)-1).Draw(rt, "attribute")]
				a.Value = drawValue(rt, a.Name)
			}
		case 5:
			c.Flags ^= 1
		case 6:
			c.Keys = rapid.SampledFrom([][]string{nil, {"xId"}, {"w"}}).Draw(rt, "keys")
		case 7:
			if len(out) > 0 {
				out[len(out)-1], c = &c, *out[len(out)-1]
				cc := c
				out = append(out, &cc)
				continue
			}
		case 8:
			twin := c
			out = append(out, &twin)
		case 9:
			if len(c.Attrs) > 0 {
				c.Attrs = c.Attrs[1:]
			}
		}
		out = append(out, &c)
	}
	sameKeys(out)
	return out
}

func drawSheets(rt *rapid.T) []*dctest.Node {
	var list []*dctest.Node
	for range rapid.IntRange(1, 5).Draw(rt, "sheets") {
		list = append(list, drawNode(rt, 0))
	}
	sameKeys(list)
	return list
}

// A patch of two data centers makes of the first the second, once; reversed, it takes that
// back.
func TestApplyDiff(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		sheets := drawSheets(rt)
		a, b := open(t, sheets...), open(t, mutate(rt, sheets, 0)...)
		p := makePatch(rt, a, b)
		d, results := apply(rt, a, p)
		got := saved(t, d)
		// Of a node that is removed and added again both may be there already.
		if r := results[0]; r.Conflicts > 0 {
			rt.Fatalf("%s\n%s", conflicts(r), p.Append(nil))
		}
		if text := differences(rt, got, b); text != "" {
			rt.Fatalf("after\n%s\n%s", p.Append(nil), text)
		}
		for _, f := range []*datacenter.File{b, got} {
			if _, results = apply(rt, f, p); len(results[0].Edits) > 0 || results[0].Conflicts > 0 {
				rt.Fatalf("again: %d edits, %s\n%s", len(results[0].Edits), conflicts(results[0]), p.Append(nil))
			}
		}
		back := reread(rt, p.Reverse())
		d, results = apply(rt, b, back)
		if r := results[0]; r.Conflicts+r.Already > 0 {
			rt.Fatalf("back: %d already, %s\n%s\nof\n%s", r.Already, conflicts(r), back.Append(nil), p.Append(nil))
		}
		if text := differences(rt, a, saved(t, d)); text != "" {
			rt.Fatalf("back\n%s\n%s", back.Append(nil), text)
		}
	})
}
