package dctree

import (
	"testing"

	"lorefs/datacenter"
	"lorefs/nodes"
)

func TestSplitIsTheInverse(t *testing.T) {
	for _, number := range []uint32{1, 77, datacenter.MaxEntries} {
		for _, addr := range []datacenter.Address{{}, {Segment: 1}, {Element: 1}, {Segment: 0xffff, Element: 0xffff}} {
			for _, attribute := range []bool{false, true} {
				if !attribute && addr == (datacenter.Address{}) {
					continue // that is the root's
				}
				id := nodeID(number, addr)
				if attribute {
					id = attributeID(number, addr)
				}
				n, a, isAttr, ok := split(id)
				if n != number || a != addr || isAttr != attribute || !ok || id >= 1<<60 {
					t.Errorf("split(%#x) = %d, %v, %v, %v: want %d, %v, %v", id, n, a, isAttr, ok, number, addr, attribute)
				}
			}
		}
	}
	for _, id := range []nodes.ID{0, 2, 1 << 31, 1 << 60, nodes.MaxID, ^nodes.ID(0)} {
		if _, _, _, ok := split(id); ok {
			t.Errorf("split(%#x) is accepted", id)
		}
	}
}
