package edit

import (
	"iter"

	"lorefs/datacenter"
)

// childPlace is where a child is stored.
type childPlace struct {
	addr    datacenter.Address
	entries uint32 // the child's, see [datacenter.Node.Entries]
}

// childPlaces yields the places of the children of n, a node of f, without placeholders. It reads the children
// only if the file has placeholders.
func childPlaces(f *datacenter.File, n datacenter.Node) iter.Seq2[childPlace, error] {
	return func(yield func(childPlace, error) bool) {
		if !f.Form().Placeholders {
			for i := range n.ChildCount() {
				addr := n.ChildAddress(i)
				if !yield(childPlace{addr, f.Entries(addr)}, nil) {
					return
				}
			}
			return
		}
		for c, err := range n.Children() {
			if err != nil {
				yield(childPlace{}, err)
				return
			}
			if !yield(childPlace{c.Address(), c.Entries()}, nil) {
				return
			}
		}
	}
}
