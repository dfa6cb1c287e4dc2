package datacenter_test

import (
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
)

// TestShares checks that exactly the nodes whose runs others have, too, say so.
func TestShares(t *testing.T) {
	for seed := range uint64(8) {
		f := dctest.Open(t, dctest.Build(dctest.Generate(dctest.GenOptions{Seed: seed, Sheets: 5, Nodes: 800}), dctest.Options{}))
		children, attributes := map[datacenter.Run]map[datacenter.Address]bool{}, map[datacenter.Run]map[datacenter.Address]bool{}
		var all []datacenter.Node
		seen := map[datacenter.Address]bool{}
		note := func(of map[datacenter.Run]map[datacenter.Address]bool, run datacenter.Run, n datacenter.Node) {
			if of[run] == nil {
				of[run] = map[datacenter.Address]bool{}
			}
			of[run][n.Address()] = true
		}
		var walk func(n datacenter.Node)
		walk = func(n datacenter.Node) {
			if seen[n.Address()] {
				return
			}
			seen[n.Address()] = true
			all = append(all, n)
			note(children, n.ChildRun(), n)
			note(attributes, n.AttributeRun(), n)
			for c, err := range n.Children() {
				if err != nil {
					t.Fatal(err)
				}
				walk(c)
			}
		}
		root, err := f.Root()
		if err != nil {
			t.Fatal(err)
		}
		walk(root)
		shared := 0
		for _, n := range all {
			if want := n.ChildCount() > 0 && len(children[n.ChildRun()]) > 1; n.SharesChildren() != want {
				t.Errorf("seed %d: the children of %v are shared: %v", seed, n.Address(), !want)
			}
			want := n.AttributeCount() > 0 && len(attributes[n.AttributeRun()]) > 1
			if n.SharesAttributes() != want {
				t.Errorf("seed %d: the attributes of %v are shared: %v", seed, n.Address(), !want)
			}
			if want {
				shared++
			}
		}
		if shared == 0 || shared == len(all) {
			t.Errorf("seed %d: %d of %d nodes share attributes", seed, shared, len(all))
		}
	}
}
