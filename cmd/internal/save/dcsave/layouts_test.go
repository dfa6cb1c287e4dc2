package dcsave

import (
	"strings"
	"testing"

	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
)

// likeX86 returns a file of 64 bits that fits the layout of 32 bits too once its attribute h is 0.
//
// Read in the layout of 32 bits, the 11 attributes are two thirds as long, and end before the value
// of h: that is then the number of segments of nodes, the padding behind it the number of segments
// of values, and what is next, the name and type of i, the number of strings in the first bucket.
// Their 16 bytes each end exactly where the real second bucket begins. From there on both layouts
// are the same.
func likeX86() []byte {
	const (
		letters = "abcdefgjk" // the attributes that are strings, each in a segment of its own
		strs    = int64(len(letters))
		claimed = int64(1)<<16 | 10 // the type of i, an int, and the index of its name
		between = 32 /* of attributes */ + 4 + 8 + 2*24 /* the nodes */ + 4 + strs*8 + 4
		units   = (claimed*16-between)/2 - strs // without their NULs
	)
	n := &dctest.Node{Name: "S"}
	left := units
	for i := range "abcdefghijk" {
		name := string(rune('a' + i))
		at := strings.Index(letters, name)
		if at < 0 {
			n.Attrs = append(n.Attrs, dctest.Attr{Name: name, Value: 1})
			continue
		}
		size := left / (strs - int64(at))
		left -= size
		n.Attrs = append(n.Attrs, dctest.Attr{Name: name, Value: strings.Repeat(name, int(size))})
	}
	return dctest.Build(dctest.Doc{Layout: datacenter.LayoutV6X64, Root: dctest.Root(n)}, dctest.Options{})
}

// TestTwoLayouts saves a file that fits two layouts from then on, and then another edit of it: it is
// read back in the layout in which it was written.
func TestTwoLayouts(t *testing.T) {
	for _, how := range []save.How{{}, {VerifyAll: true}, {Repack: true}, {Repack: true, VerifyAll: true}} {
		p := newPlace(t, 0)
		p.how = how
		p.put(likeX86())
		e := p.mustOpen(Options{})
		for i, name := range []string{"h", "i"} {
			set := edit.Edit{Op: edit.SetAttribute, Node: 1, Name: name, Value: datacenter.IntValue(int32(2 * i))}
			if err := e.Draft().Apply(t.Context(), set); err != nil {
				t.Fatal(err)
			}
			if _, err := e.save(); err != nil {
				t.Fatalf("%+v, edit of %s: %v", how, name, err)
			}
			if _, err := p.open(Options{}); err == nil || !strings.Contains(err.Error(), "may be of layout v6-x64 or v6-x86") {
				t.Errorf("%+v, edit of %s: %v, want a file that fits two layouts", how, name, err)
			}
		}
		e.close()
	}
}
