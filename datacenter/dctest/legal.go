package dctest

import (
	"compress/flate"
	"fmt"
	"math"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/hash"
)

// Example is a valid data center: a reader must accept it, and Verify must find nothing. It
// can be sealed with Options.
type Example struct {
	Name    string
	Doc     Doc
	Options Options
}

// Legal returns small data centers with everything that the format allows, however rare.
func Legal() []Example {
	var all []Example
	for _, layout := range []datacenter.Layout{datacenter.LayoutV3, datacenter.LayoutV6X86, datacenter.LayoutV6X64} {
		all = append(all, Example{Name: "plain " + layout.String(), Doc: inLayout(plain(), layout)})
	}
	all = append(all, legalOptions()...)
	all = append(all, legalDocs()...)
	return append(all, legalSeals()...)
}

func inLayout(d Doc, layout datacenter.Layout) Doc {
	d.Layout = layout
	return d
}

// plain returns a small data center with every kind of node, value and text.
func plain() Doc {
	return Doc{Revision: 387463, Root: Root(
		&Node{Name: "Items", Children: []*Node{
			{Name: "Item", Keys: []string{"id"}, Attrs: []Attr{
				{"id", 2}, {"bound", true}, {"name", "sword"}, {"weight", float32(1.5)},
			}},
			{Name: "Item", Keys: []string{"id"}, Attrs: []Attr{{"id", 1}, {"bound", false}, {"name", "외투"}}},
		}},
		&Node{Name: "Quest", Children: []*Node{
			{Name: "Task", Attrs: []Attr{{"id", 1}, Text("go north")}, Children: []*Node{{Name: "End"}}},
			{Name: "Task", Attrs: []Attr{{"id", 2}, Text("")}},
		}},
	)}
}

// crowd returns a data center with many nodes, some of them equal.
func crowd() Doc {
	var sheets []*Node
	for i := range 12 {
		sheet := &Node{Name: "Crowd", Attrs: []Attr{{"number", i}}}
		for k := range 20 {
			person := &Node{Name: "Person", Attrs: []Attr{
				{"age", k % 7}, {"name", fmt.Sprintf("%d of village", (i*20+k)%90)}, {"weight", float32(k) / 4},
			}}
			for p := range k % 5 {
				person.Children = append(person.Children, &Node{Name: "Pocket", Attrs: []Attr{{"holds", "coin " + fmt.Sprint(p)}}})
			}
			sheet.Children = append(sheet.Children, person)
		}
		sheets = append(sheets, sheet)
	}
	return Doc{Root: Root(sheets...)}
}

func legalOptions() []Example {
	return []Example{
		{"many segments", crowd(), Options{SegmentSize: 24, StringSegmentSize: 40}},
		{"slack", crowd(), Options{SegmentSize: 100, FullCount: 128}},
		{"full segments of official files", plain(), Options{FullCount: maxRun}},
		{"garbage", crowd(), Options{SegmentSize: 100, FullCount: 128, Garbage: 5}},
		{"garbage x86", inLayout(crowd(), datacenter.LayoutV6X86), Options{FullCount: 300, Garbage: 5}},
		{"placeholders", crowd(), Options{Placeholders: 3, Garbage: 6}},
		{"nothing shared", crowd(), Options{NoSharing: true}},
		{"overlapping runs", crowd(), Options{Overlap: true, SegmentSize: 64}},
		{"no NUL at the end of a segment", crowd(), Options{OmitNUL: true, StringSegmentSize: 30}},
		{"shared suffixes", crowd(), Options{ShareSuffixes: true}},
		{"shared suffixes without NUL", crowd(), Options{ShareSuffixes: true, OmitNUL: true, StringSegmentSize: 30}},
		{"everything at once", crowd(), Options{
			SegmentSize: 50, StringSegmentSize: 50, FullCount: 64, Garbage: 7, Placeholders: 2,
			Overlap: true, OmitNUL: true, ShareSuffixes: true,
		}},
	}
}

func legalSeals() []Example {
	return []Example{
		{"zlib header 78 01", plain(), Options{Seal: SealOptions{ZlibHeader: [2]byte{0x78, 0x01}, Level: flate.BestSpeed}}},
		{"zlib header 78 da", plain(), Options{Seal: SealOptions{ZlibHeader: [2]byte{0x78, 0xda}, Level: flate.BestCompression}}},
		{"zlib header 78 5e", plain(), Options{Seal: SealOptions{ZlibHeader: [2]byte{0x78, 0x5e}}}},
		{"stored", plain(), Options{Seal: SealOptions{Stored: true}}},
		{"Huffman only", plain(), Options{Seal: SealOptions{Level: flate.HuffmanOnly}}},
		{"another key", plain(), Options{Seal: SealOptions{Key: []byte("sixteen letters!"), IV: []byte("and sixteen more")}}},
	}
}

func legalDocs() []Example {
	return []Example{
		{"root alone", Doc{Root: Root()}, Options{}},
		{"header", Doc{Timestamp: 1573747200, Revision: math.MaxUint32, Root: Root()}, Options{}},
		{"timestamp is not a number", Doc{Timestamp: math.NaN(), Root: Root()}, Options{}},
		{"unused keys and names", unused(), Options{}},
		{"key definitions", keyed(), Options{}},
		{"key flags", Doc{Root: Root(&Node{Name: "Uncached", Flags: 1})}, Options{}},
		{"text beside children", texts(), Options{}},
		{"65,535 children", wide(), Options{}},
		{"several parents", family(), Options{}},
		{"long strings", longStrings(), Options{}},
		{"strange strings", strangeStrings(), Options{}},
		{"strange names", strangeNames(), Options{}},
		{"strange numbers", strangeNumbers(), Options{}},
		{"equal hashes", equalHashes(), Options{}},
		{"one bucket", oneBucket(), Options{}},
		{"placeholders first and last", placeholders(), Options{}},
		{"1,000 nested nodes", nested(1000), Options{}},
	}
}

func unused() Doc {
	d := plain()
	d.Names = []string{"forgotten", "name", "이름"}
	d.Keys = [][]string{{"forgotten"}, {"id", "name"}}
	return d
}

func keyed() Doc {
	var children []*Node
	for i := range 20 {
		attrs := []Attr{{"zone", 20 - i}, {"kind", []any{1, float32(2), "3", true}[i%4]}, {"index", i}}
		children = append(children,
			&Node{Name: "ByZone", Keys: []string{"zone"}, Attrs: attrs},
			&Node{Name: "ByKind", Keys: []string{"kind", "zone"}, Attrs: attrs},
			&Node{Name: "ByFour", Keys: []string{"zone", "kind", "index", "absent"}, Attrs: attrs},
			&Node{Name: "WithHole", Keys: []string{"", "zone"}, Attrs: attrs},
		)
	}
	return Doc{Root: Root(&Node{Name: "Keyed", Children: children})}
}

func texts() Doc {
	return Doc{Root: Root(
		&Node{Name: "Story", Attrs: []Attr{Text("on the sheet itself"), {"id", 1}}, Children: []*Node{
			{Name: "Line", Attrs: []Attr{Text("  spaces and\na new line\t\r  ")}},
			{Name: "Line", Attrs: []Attr{Text("<b>&amp;\"'</b>]]>")}},
			{Name: "Line", Attrs: []Attr{Text(""), {"text", ""}}},
		}},
	)}
}

func wide() Doc {
	leaf := &Node{Name: "Leaf", Attrs: []Attr{{"id", 1}}}
	sheet := &Node{Name: "Wide", Children: make([]*Node, maxRun)}
	for i := range sheet.Children {
		sheet.Children[i] = leaf
	}
	return Doc{Root: Root(sheet, &Node{Name: "Narrow"})}
}

// family returns a data center with a node of two parents with different names, and equal
// runs that are stored separately.
func family() Doc {
	child := &Node{Name: "Child", Attrs: []Attr{{"age", 3}}, Children: []*Node{{Name: "Toy"}}}
	return Doc{Root: Root(
		&Node{Name: "Father", Children: []*Node{child}},
		&Node{Name: "Mother", Children: []*Node{child, {Name: "Niece", Children: []*Node{{Name: "Toy"}}}}},
	)}
}

func longStrings() Doc {
	return Doc{Root: Root(&Node{Name: "Long", Attrs: []Attr{
		{"a", strings.Repeat("x", 65533)},
		{"b", strings.Repeat("y", 65534)},
		{"c", strings.Repeat("z", 65535)},
		{"d", strings.Repeat("긴 글", 30000)},
		{"e", "short"},
	}})}
}

func strangeStrings() Doc {
	var attrs []Attr
	for i, s := range []any{
		"", " ", "\t\r\n", "\x01\x02\x1b\x7f", "\ufffe\uffff", "\ufeff", "\U0001f409 and \U0010ffff",
		[]uint16{0xd800},
		[]uint16{0xdc00},
		[]uint16{'a', 0xdbff, 'b'},
		[]uint16{0xdc00, 0xd800},
		"\u009c\u00ff\u0151\u00f0\u00f7\u00e0\u00fe", "../../etc/passwd", "https://example.org/?a=1&b=2", "1.0", "true",
	} {
		attrs = append(attrs, Attr{fmt.Sprintf("s%02d", i), s})
	}
	return Doc{Root: Root(&Node{Name: "Strange", Attrs: attrs})}
}

func strangeNames() Doc {
	var sheets []*Node
	for _, name := range []string{
		"", " ", ".", "..", "/", "a/b", "/etc/passwd", "x", "x.1", "x.01", "@x", "%2F", "name", "Name", "NAME", "\n", "a b", "1st", "-dash",
		"a:b", "xml", "<a>", "몬스터지정", "전달수량", "\U0001f409", "\xed\xa0\x80", "é", "e\u0301", "~", ".hidden", "x~", "con", "*",
		strings.Repeat("n", 255), strings.Repeat("n", 256), strings.Repeat("n", 300), strings.Repeat("한", 100),
	} {
		sheets = append(sheets, &Node{
			Name:     name,
			Attrs:    []Attr{{name, 1}, {"@" + name, "one"}},
			Children: []*Node{{Name: name, Attrs: []Attr{Text(name)}}, {Name: name}, {Name: "x"}, {Name: "x"}},
		})
	}
	return Doc{Root: Root(sheets...)}
}

func strangeNumbers() Doc {
	var attrs []Attr
	for i, bits := range []uint32{
		0, 1 << 31, 1, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0x7fffffff,
		math.Float32bits(1e9), math.Float32bits(1e-5), math.Float32bits(999999999), math.Float32bits(0.0001), math.Float32bits(16777217),
	} {
		attrs = append(attrs, Attr{fmt.Sprintf("f%02d", i), Raw{Type: typeFloat, Value: bits}})
	}
	for i, v := range []int32{0, -1, math.MaxInt32, math.MinInt32} {
		attrs = append(attrs, Attr{fmt.Sprintf("i%d", i), v})
	}
	return Doc{Root: Root(&Node{Name: "Numbers", Attrs: attrs})}
}

// EqualHashes are two strings with the same hash.String.
var EqualHashes = [2]string{"birch amber stone kelp", "oak frost north thorn"}

func equalHashes() Doc {
	return Doc{Root: Root(
		&Node{Name: EqualHashes[0], Attrs: []Attr{{EqualHashes[1], EqualHashes[0]}}},
		&Node{Name: EqualHashes[1], Attrs: []Attr{{EqualHashes[0], EqualHashes[1]}}},
	)}
}

// neighbours returns different strings of one bucket.
func neighbours(n, buckets int) []string {
	var found []string
	for i := 0; len(found) < n; i++ {
		s := fmt.Sprintf("n%d", i)
		if BucketOf(hash.String(Units(s)), buckets) == buckets/2 {
			found = append(found, s)
		}
	}
	return found
}

func oneBucket() Doc {
	var attrs []Attr
	values := neighbours(40, ValueBuckets)
	for i, name := range neighbours(40, NameBuckets) {
		attrs = append(attrs, Attr{name, values[i]})
	}
	return Doc{Root: Root(&Node{Name: "Bucket", Attrs: attrs})}
}

func placeholders() Doc {
	none := &Node{Placeholder: true}
	return Doc{Root: Root(
		&Node{Name: "Some", Children: []*Node{none, {Name: "Real"}, none, none, {Name: "Real"}, none}},
		&Node{Name: "Only", Children: []*Node{none, none}},
	)}
}

func nested(depth int) Doc {
	n := &Node{Name: "Nested", Attrs: []Attr{{"depth", depth}}}
	for d := depth - 1; d > 0; d-- {
		n = &Node{Name: "Nested", Attrs: []Attr{{"depth", d}}, Children: []*Node{n}}
	}
	return Doc{Root: Root(n)}
}
