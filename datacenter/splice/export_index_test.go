package splice

import (
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
)

// CompareIndexes returns an error if the index that f got from a splice is not right. fresh is the
// same file, read by a pass. f may hold elements for shared that are not, or for used. exact is false
// if it does.
func CompareIndexes(spliced, read *datacenter.File) (exact bool, err error) {
	f, fresh := spliced.Form(), read.Form()
	for _, p := range []struct {
		what        string
		have, fresh any
	}{
		{"layout", f.Layout, fresh.Layout},
		{"regions", f.Regions, fresh.Regions},
		{"counts", f.Counts, fresh.Counts},
		{"names", f.Names, fresh.Names},
		{"keys", f.Keys, fresh.Keys},
		{"number of nodes", len(f.Entries), len(fresh.Entries)},
		{"logical nodes", f.Logical, fresh.Logical},
		{"sorted", f.Sorted, fresh.Sorted},
		{"base", f.Base, fresh.Base},
		{"base of the attributes", f.SharedAttributes.Base, fresh.SharedAttributes.Base},
		{"base of the nodes", f.SharedNodes.Base, fresh.SharedNodes.Base},
		{"end of the stream", f.StreamEnd, fresh.StreamEnd},
		{"deflate blocks", f.DeflateBlocks, fresh.DeflateBlocks},
	} {
		if have, want := fmt.Sprint(p.have), fmt.Sprint(p.fresh); have != want {
			return false, fmt.Errorf("%s: %.300s, want %.300s", p.what, have, want)
		}
	}
	if !f.Header.Same(fresh.Header) {
		return false, fmt.Errorf("header %v, want %v", f.Header, fresh.Header)
	}
	if f.Placeholders != fresh.Placeholders && fresh.Placeholders || f.MaxName < fresh.MaxName || f.Steps < fresh.Steps {
		return false, fmt.Errorf("placeholders %v, highest name %d, steps %d, want %v, %d, %d",
			f.Placeholders, f.MaxName, f.Steps, fresh.Placeholders, fresh.MaxName, fresh.Steps)
	}
	exact = slices.Equal(f.Entries, fresh.Entries) && f.Steps == fresh.Steps
	for i, n := range fresh.Entries {
		if n > 0 && f.Entries[i] != n {
			return false, fmt.Errorf("node %d has %d entries, want %d", i, f.Entries[i], n)
		}
	}
	for _, m := range [][2]*form.Marks{{&f.SharedAttributes, &fresh.SharedAttributes}, {&f.SharedNodes, &fresh.SharedNodes}} {
		have, want := m[0], m[1]
		exact = exact && slices.Equal(have.Many, want.Many) && have.Unused == want.Unused
		if len(have.Many) != len(want.Many) || have.Unused > want.Unused {
			return false, fmt.Errorf("%d words, %d unused, want %d and %d", len(have.Many), have.Unused, len(want.Many), want.Unused)
		}
		for i, w := range want.Many {
			if w&^have.Many[i] != 0 {
				return false, fmt.Errorf("elements from %d on: marks %b, want %b", i*64, have.Many[i], w)
			}
		}
	}
	return exact, nil
}
