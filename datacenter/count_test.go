package datacenter_test

import (
	"bytes"
	"errors"
	"testing"

	"lorefs/datacenter"
)

// TestUnreferenced checks that a node to which no path leads is not there and is no referrer, also
// where all that it needs to be counted stands before it.
func TestUnreferenced(t *testing.T) {
	const name, root = 1, 2
	for what, nodes := range map[string][]rawNode{
		"refers to a child of another": {
			{name: root, children: 1, childElem: 1},
			{name: name, attrs: 1},
			{name: name, attrs: 1, children: 1, childElem: 1},
		},
		"refers to the root": {
			{name: root, attrs: 1},
			{name: name, attrs: 1, children: 1},
		},
		"refers to itself": {
			{name: root, attrs: 1},
			{name: name, attrs: 1, children: 1, childElem: 1},
		},
		"refers to nothing that there is": {
			{name: root, attrs: 1},
			{name: name, attrs: 1, children: 9, childElem: 9},
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := (&rawFile{keys: emptyKey()}).withNames("a", "__root__", "__value__")
			r.attrs, r.nodes = [][]rawAttr{{{name: name, code: 1}}}, [][]rawNode{nodes}
			data := r.seal(0)
			f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			last := len(nodes) - 1
			if _, err := f.Node(datacenter.Address{Element: uint16(last)}); !errors.Is(err, datacenter.ErrAddress) {
				t.Errorf("the node without a path: %v, want ErrAddress", err)
			}
			for i := range last {
				n, err := f.Node(datacenter.Address{Element: uint16(i)})
				if err != nil {
					t.Fatal(err)
				}
				if n.IsShared() || n.SharesChildren() || n.SharesAttributes() {
					t.Errorf("node %d shares something", i)
				}
				if entries := n.Entries(); i == 0 && entries != uint32(last+1) {
					t.Errorf("the root has %d entries, want %d", entries, last+1)
				}
			}
		})
	}
}
