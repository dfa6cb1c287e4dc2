package pack_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/testneeds/property"
)

// Names and texts are made of pieces that mean something to XML, to the conventions of the
// package, or to neither.
var (
	pieces = rapid.SampledFrom([]string{
		"a", "b", "A", "1", "-", ".", ":", " ", "  ", "\n", "\r", "\t", "<", ">", "&", `"`, "'", "]]>", "_", "_x", "_x0061_", "_x_", "x0041_", `\`, `\u0041`,
		"xml", "xmlns", "xsi", "dc", "\x01", "\x1f", "\x7f", "\u0085", "\ufffe", "\ufeff", "é", "한", "\U0001f409", "\xed\xa0\x80", "\xed\xb0\x80", "\u00b7",
	})
	words = rapid.Custom(func(t *rapid.T) string {
		s := ""
		for range rapid.IntRange(0, 4).Draw(t, "pieces") {
			s += pieces.Draw(t, "piece")
		}
		// Two halves of a character that meet are that character.
		return dctest.Text8(dctest.Units(s))
	})
	plainNames = rapid.SampledFrom([]string{"A", "B", "a", "id", "rank"})
)

func drawName(t *rapid.T, strange bool) string {
	if strange {
		return words.Draw(t, "name")
	}
	return plainNames.Draw(t, "name")
}

func drawValue(t *rapid.T) any {
	switch rapid.IntRange(0, 3).Draw(t, "type") {
	case 0:
		return rapid.Int32().Draw(t, "int")
	case 1:
		return math.Float32frombits(rapid.Uint32().Draw(t, "float"))
	case 2:
		return rapid.Bool().Draw(t, "bool")
	}
	return words.Draw(t, "string")
}

// drawNode makes a node of any kind, with all below it. keys are those of its siblings, by
// name, because siblings with different keys have no order.
func drawNode(t *rapid.T, strange bool, depth int, keys map[string][]string) *dctest.Node {
	n := &dctest.Node{Name: drawName(t, strange), Flags: uint8(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "flags"))}
	seen := map[string]bool{}
	for range rapid.IntRange(0, 3).Draw(t, "attributes") {
		name := drawName(t, strange)
		if !seen[name] {
			seen[name] = true
			n.Attrs = append(n.Attrs, dctest.Attr{Name: name, Value: drawValue(t)})
		}
	}
	def, ok := keys[n.Name]
	if !ok {
		for range rapid.SampledFrom([]int{0, 0, 1, 2, 4}).Draw(t, "keys") {
			if name := drawName(t, strange); name != "" {
				def = append(def, name)
			}
		}
		keys[n.Name] = def
	}
	n.Keys = def
	if rapid.IntRange(0, 2).Draw(t, "has text") == 0 {
		n.Attrs = append(n.Attrs, dctest.Text(words.Draw(t, "text")))
	}
	if depth > 0 {
		below := map[string][]string{}
		for range rapid.IntRange(0, 3).Draw(t, "children") {
			n.Children = append(n.Children, drawNode(t, strange, depth-1, below))
		}
	}
	return n
}

// TestRoundTripOfAnyTree checks that any tree survives unpacking and packing, whatever its
// names and texts are.
func TestRoundTripOfAnyTree(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		strange := rapid.Bool().Draw(rt, "strange names")
		root := dctest.Root()
		for i := range rapid.IntRange(1, 3).Draw(rt, "sheets") {
			// File systems do not allow all names, and here the keys differ.
			sheet := drawNode(rt, strange, 3, map[string][]string{})
			sheet.Name, sheet.Keys = fmt.Sprintf("S%d", i%2), nil
			root.Children = append(root.Children, sheet)
		}
		f := dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{}))
		fsys := exported(t, f)
		got, _ := mustPack(t, fsys, pack.Options{Write: datacenter.WriteOptions{Layout: datacenter.LayoutV6X86}})
		c := comparison{equal: map[[2]datacenter.Address]bool{}}
		g, err := got.Root()
		if err != nil {
			rt.Fatal(err)
		}
		w, err := f.Root()
		if err != nil {
			rt.Fatal(err)
		}
		if err := c.children(g, w, ""); err != nil {
			rt.Fatal(err)
		}
	})
}
