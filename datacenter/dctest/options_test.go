package dctest_test

import (
	"fmt"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
)

// rows returns sheets of few kinds of rows, with runs that others end with.
func rows() dctest.Doc {
	var sheets []*dctest.Node
	for i := range 40 {
		sheet := &dctest.Node{Name: "Sheet"}
		for k := i % 4; k < 8; k++ {
			sheet.Children = append(sheet.Children, &dctest.Node{Name: "Row", Attrs: []dctest.Attr{
				{Name: "a", Value: fmt.Sprintf("%d of many", k)}, {Name: "b", Value: "of many"}, {Name: "c", Value: k % 2},
			}})
		}
		sheets = append(sheets, sheet)
	}
	return dctest.Doc{Root: dctest.Root(sheets...)}
}

func TestOptions(t *testing.T) {
	build := func(o dctest.Options) (*dctest.Image, *reader) {
		m := dctest.NewImage(rows(), o)
		return m, read(m.Data, datacenter.LayoutV6X64)
	}
	counts := func(o dctest.Options) [3]int {
		_, r := build(o)
		return [3]int{r.nodes.count(), r.attrs.count(), r.values.data.count()}
	}
	plain := counts(dctest.Options{})
	for _, tt := range []struct {
		o    dctest.Options
		want [3]int
	}{
		{dctest.Options{}, [3]int{1 + 40 + 8 + 7 + 6 + 5, 8 * 3, 8*10 + 8}},
		{dctest.Options{NoSharing: true}, [3]int{1 + 40 + 10*(8+7+6+5), 3 * 10 * (8 + 7 + 6 + 5), plain[2]}},
		{dctest.Options{Overlap: true}, [3]int{1 + 40 + 8, plain[1], plain[2]}},
		{dctest.Options{ShareSuffixes: true}, [3]int{plain[0], plain[1], plain[2] - 8}},
		{dctest.Options{OmitNUL: true}, [3]int{plain[0], plain[1], plain[2] - 1}},
		{dctest.Options{Placeholders: 4}, [3]int{1 + 40 + 10 + 10 + 8 + 7 + 6, plain[1], plain[2]}},
		{dctest.Options{FullCount: 500, Garbage: 3}, plain},
	} {
		if got := counts(tt.o); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.o, got, tt.want)
		}
	}
	m, r := build(dctest.Options{SegmentSize: 40, StringSegmentSize: 20, FullCount: 60})
	if len(m.Nodes.Segments) != 2 || len(m.Values.Data.Segments) < 4 {
		t.Errorf("%d and %d segments", len(m.Nodes.Segments), len(m.Values.Data.Segments))
	}
	for i, s := range m.Nodes.Segments {
		if s.Used > 40 || s.Full != 60 || r.nodes.full[i] != 60 || len(r.nodes.used[i]) != s.Used*24 {
			t.Errorf("segment %d: %+v", i, s)
		}
	}
	if a, b := m.U32(m.Nodes.Offset), m.U32(m.Footer); int(a) != len(m.Nodes.Segments) || b != 0 {
		t.Errorf("%d segments, footer %d", a, b)
	}
}

// TestFind finds things in an image by the methods for tests.
func TestFind(t *testing.T) {
	for _, layout := range []datacenter.Layout{datacenter.LayoutV3, datacenter.LayoutV6X86, datacenter.LayoutV6X64} {
		doc := small()
		doc.Layout = layout
		m := dctest.NewImage(doc, dctest.Options{})
		item := m.Child(0, 1)
		if got, want := int(m.U16(m.NodeOffset(item)+dctest.NodeName)), m.Index(&m.Names, "Item"); got != want {
			t.Errorf("%v: name index %d, want %d", layout, got, want)
		}
		name := m.AttributeOffset(m.Attribute(item, 2))
		sword := m.Index(&m.Values, "sword")
		if got, want := m.AddressAt(name+dctest.AttributeValue), m.AddressAt(m.Values.AddressOffset(sword)); got != want {
			t.Errorf("%v: address %v, want %v", layout, got, want)
		}
		if got := m.U16(m.StringOffset(&m.Values, sword)); got != 's' {
			t.Errorf("%v: first character %#x", layout, got)
		}
		entry := m.EntryOffset(&m.Values, sword)
		if got := m.U32(entry + dctest.EntryLength); got != 6 {
			t.Errorf("%v: length %d", layout, got)
		}
	}
}
