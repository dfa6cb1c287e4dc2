package identity_test

import (
	"fmt"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/identity"
)

// TestContents checks that nodes that hold the same values at other places have other hashes.
func TestContents(t *testing.T) {
	nodeOf := func(name string, values ...int) *dctest.Node {
		n := &dctest.Node{Name: name}
		for i, v := range values {
			if v > 0 {
				n.Attrs = append(n.Attrs, dctest.Attr{Name: fmt.Sprintf("value%d", i), Value: v})
			}
		}
		return n
	}
	var sheets []*dctest.Node
	for k := range 3 * 3 * 3 * 3 * 3 * 3 {
		var v [6]int
		for i, rest := 0, k; i < len(v); i++ {
			v[i], rest = rest%3, rest/3
		}
		first, second, inner := nodeOf("A", v[2]), nodeOf("A", v[3]), nodeOf("A", v[4], v[5])
		second.Children = []*dctest.Node{inner}
		sheet := nodeOf("A", v[0], v[1])
		sheet.Children = []*dctest.Node{first, second}
		sheets = append(sheets, sheet)
	}
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(sheets...)}, dctest.Options{}))
	tree := identity.NewFile(t.Context())
	for name, c := range map[string]*identity.Contents[datacenter.Node]{
		"texts": identity.NewContents(tree), "exact": identity.NewExactContents(tree),
	} {
		root, err := f.Root()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[uint64]int{}
		for n, err := range root.Children() {
			if err != nil {
				t.Fatal(err)
			}
			h, err := c.Hash(n)
			if err != nil {
				t.Fatal(err)
			}
			seen[h]++
		}
		if len(seen) != len(sheets) {
			t.Errorf("%s: %d hashes of %d nodes", name, len(seen), len(sheets))
		}
	}
}
