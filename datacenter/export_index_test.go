package datacenter

import (
	"fmt"
	"slices"
)

// CompareIndexes returns an error if the index that f got from a splice is not right. fresh is the
// same file, read by a pass. f may hold elements for shared that are not, or for used. exact is false
// if it does.
func CompareIndexes(f, fresh *File) (exact bool, err error) {
	for _, p := range []struct {
		what        string
		have, fresh any
	}{
		{"layout", f.layout, fresh.layout},
		{"regions", f.regions, fresh.regions},
		{"counts", f.counts, fresh.counts},
		{"names", f.names, fresh.names},
		{"keys", f.keys, fresh.keys},
		{"number of nodes", len(f.entries), len(fresh.entries)},
		{"logical nodes", f.logical, fresh.logical},
		{"sorted", f.sorted, fresh.sorted},
		{"base", f.base, fresh.base},
		{"base of the attributes", f.sharedAttributes.base, fresh.sharedAttributes.base},
		{"base of the nodes", f.sharedNodes.base, fresh.sharedNodes.base},
		{"end of the stream", f.streamEnd, fresh.streamEnd},
		{"deflate blocks", f.deflateBlocks, fresh.deflateBlocks},
	} {
		if have, want := fmt.Sprint(p.have), fmt.Sprint(p.fresh); have != want {
			return false, fmt.Errorf("%s: %.300s, want %.300s", p.what, have, want)
		}
	}
	if !f.header.Same(fresh.header) {
		return false, fmt.Errorf("header %v, want %v", f.header, fresh.header)
	}
	if f.placeholders != fresh.placeholders && fresh.placeholders || f.maxName < fresh.maxName || f.steps < fresh.steps {
		return false, fmt.Errorf("placeholders %v, highest name %d, steps %d, want %v, %d, %d",
			f.placeholders, f.maxName, f.steps, fresh.placeholders, fresh.maxName, fresh.steps)
	}
	exact = slices.Equal(f.entries, fresh.entries) && f.steps == fresh.steps
	for i, n := range fresh.entries {
		if n > 0 && f.entries[i] != n {
			return false, fmt.Errorf("node %d has %d entries, want %d", i, f.entries[i], n)
		}
	}
	for _, m := range [][2]*marks{{&f.sharedAttributes, &fresh.sharedAttributes}, {&f.sharedNodes, &fresh.sharedNodes}} {
		have, want := m[0], m[1]
		exact = exact && slices.Equal(have.many, want.many) && have.unused == want.unused
		if len(have.many) != len(want.many) || have.unused > want.unused {
			return false, fmt.Errorf("%d words, %d unused, want %d and %d", len(have.many), have.unused, len(want.many), want.unused)
		}
		for i, w := range want.many {
			if w&^have.many[i] != 0 {
				return false, fmt.Errorf("elements from %d on: marks %b, want %b", i*64, have.many[i], w)
			}
		}
	}
	return exact, nil
}
