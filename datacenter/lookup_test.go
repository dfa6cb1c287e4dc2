package datacenter_test

import (
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
)

// TestLookupsFindWhatListingFinds checks that lookups find the same as a walk through all
// children and attributes, in sorted files, in unsorted ones, and in files with
// placeholders.
func TestLookupsFindWhatListingFinds(t *testing.T) {
	doc := dctest.Generate(dctest.GenOptions{Seed: 5, Sheets: 10, Nodes: 800})
	unsorted := dctest.NewImage(doc, dctest.Options{})
	swapSiblings(unsorted)
	for name, data := range map[string][]byte{
		"sorted":       dctest.Build(doc, dctest.Options{SegmentSize: 300}),
		"placeholders": dctest.Build(doc, dctest.Options{Placeholders: 2, Garbage: 3}),
		"unsorted":     unsorted.Seal(dctest.SealOptions{}),
	} {
		t.Run(name, func(t *testing.T) {
			f := mustOpen(t, data, datacenter.Options{})
			if f.Sorted() == (name == "unsorted") {
				t.Fatalf("Sorted = %v", f.Sorted())
			}
			root, err := f.Root()
			if err != nil {
				t.Fatal(err)
			}
			checkLookups(t, root, len(f.Names()))
		})
	}
}

// swapSiblings swaps the first two sheets that have different names.
func swapSiblings(m *dctest.Image) {
	for i := 0; ; i++ {
		a, b := m.NodeOffset(m.Child(i)), m.NodeOffset(m.Child(i+1))
		if m.U16(a) == m.U16(b) {
			continue
		}
		for off := int64(0); off < m.Nodes.Size; off += 2 {
			x, y := m.U16(a+off), m.U16(b+off)
			m.Put16(a+off, y)
			m.Put16(b+off, x)
		}
		return
	}
}

func checkLookups(t *testing.T, n datacenter.Node, names int) {
	t.Helper()
	ordinals := map[uint16]int{}
	before := uint32(0)
	for c, err := range n.Children() {
		if err != nil {
			t.Fatal(err)
		}
		want := ordinals[c.NameIndex()]
		ordinals[c.NameIndex()]++
		if got, ok, err := n.ChildNamed(c.NameIndex(), want); err != nil || !ok || got.Address() != c.Address() {
			t.Fatalf("%v: ChildNamed(%s, %d) = %v, %v, %v: want %v", n.Address(), c.Name(), want, got.Address(), ok, err, c.Address())
		}
		if got, ok, err := n.Child(c.Name()); want == 0 && (err != nil || !ok || got.Address() != c.Address()) {
			t.Fatalf("%v: Child(%s) = %v, %v, %v: want %v", n.Address(), c.Name(), got.Address(), ok, err, c.Address())
		}
		if got, err := n.Ordinal(c); err != nil || got != want {
			t.Fatalf("%v: Ordinal(%v) = %d, %v: want %d", n.Address(), c.Address(), got, err, want)
		}
		if got := n.EntriesBefore(n.ChildIndex(c)); got != before {
			t.Fatalf("%v: EntriesBefore(%v) = %d, want %d", n.Address(), c.Address(), got, before)
		}
		before += c.Entries()
		checkLookups(t, c, names)
	}
	if _, ok, err := n.Child("no such name"); ok || err != nil {
		t.Fatalf("%v: Child of an unknown name: %v, %v", n.Address(), ok, err)
	}
	if _, ok, err := n.Attr("no such name"); ok || err != nil {
		t.Fatalf("%v: Attr of an unknown name: %v, %v", n.Address(), ok, err)
	}
	attrs := map[uint16]bool{}
	for a, err := range n.Attributes() {
		if err != nil {
			t.Fatal(err)
		}
		attrs[a.NameIndex()] = true
		if got, ok, err := n.Attribute(a.NameIndex()); err != nil || !ok || got != a {
			t.Fatalf("%v: Attribute(%s) = %v, %v, %v", n.Address(), a.Name(), got, ok, err)
		}
		if got, ok, err := n.Attr(a.Name()); err != nil || !ok || got != a {
			t.Fatalf("%v: Attr(%s) = %v, %v, %v", n.Address(), a.Name(), got, ok, err)
		}
	}
	for i := 1; i <= names; i += 1 + names/40 {
		name := uint16(i)
		if _, ok, err := n.ChildNamed(name, ordinals[name]); ok || err != nil {
			t.Fatalf("%v: ChildNamed(%d, %d) = %v, %v: there are as many only", n.Address(), name, ordinals[name], ok, err)
		}
		if _, ok, err := n.Attribute(name); ok != attrs[name] || err != nil {
			t.Fatalf("%v: Attribute(%d) = %v, %v", n.Address(), name, ok, err)
		}
	}
}

func TestWalkingDoesNotAllocate(t *testing.T) {
	f := mustOpen(t, dctest.Build(dctest.SmallDoc(datacenter.LayoutV6X64), dctest.Options{}), datacenter.Options{})
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 0, 1<<16)
	if n := testing.AllocsPerRun(10, func() {
		if err := touch(root, buf); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a walk over %d entries", n, root.Entries())
	}
}

// touch reads every name and value below n.
func touch(n datacenter.Node, buf []byte) error {
	for a, err := range n.Attributes() {
		if err != nil {
			return err
		}
		if _, err := a.AppendText(buf); err != nil {
			return err
		}
		if _, err := a.TextLen(); err != nil {
			return err
		}
	}
	for c, err := range n.Children() {
		if err != nil {
			return err
		}
		if err := touch(c, buf); err != nil {
			return err
		}
	}
	return nil
}
