package dctest_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/internal/testneeds"
)

// dump makes what reader.tree must find.
func dump(n *dctest.Node, names []string, depth int, lines *[]string) {
	line := fmt.Sprintf("%*s%q %d %q", depth, "", n.Name, n.Flags, slices.DeleteFunc(slices.Clone(n.Keys), func(key string) bool { return key == "" }))
	attrs := slices.Clone(n.Attrs)
	slices.SortStableFunc(attrs, func(a, b dctest.Attr) int {
		return slices.Index(names, a.Name) - slices.Index(names, b.Name)
	})
	for _, a := range attrs {
		line += fmt.Sprintf(" %q=%s", a.Name, dumpValue(a.Value))
	}
	*lines = append(*lines, line)
	children := slices.DeleteFunc(slices.Clone(n.Children), func(n *dctest.Node) bool { return n.Placeholder })
	slices.SortStableFunc(children, func(a, b *dctest.Node) int {
		return slices.Index(names, a.Name) - slices.Index(names, b.Name)
	})
	for _, c := range children {
		dump(c, names, depth+1, lines)
	}
}

func dumpValue(v any) string {
	switch v := v.(type) {
	case int:
		return fmt.Sprintf("int:%d", v)
	case int32:
		return fmt.Sprintf("int:%d", v)
	case bool:
		if v {
			return "bool:1"
		}
		return "bool:0"
	case float32:
		return fmt.Sprintf("float:%08x", math.Float32bits(v))
	case string:
		return fmt.Sprintf("string:%x", dctest.Units(v))
	case []uint16:
		return fmt.Sprintf("string:%x", v)
	case dctest.Raw:
		return fmt.Sprintf("float:%08x", v.Value)
	}
	panic(fmt.Sprintf("%T", v))
}

func small() dctest.Doc {
	return dctest.Doc{
		Revision: 7,
		Root: dctest.Root(
			&dctest.Node{Name: "Items", Children: []*dctest.Node{
				{Name: "Item", Keys: []string{"id"}, Attrs: []dctest.Attr{
					{"name", "sword"}, {"id", 2}, {"weight", float32(1.5)}, {"bound", true},
				}},
				{Name: "Item", Keys: []string{"id"}, Attrs: []dctest.Attr{{"name", "검"}, {"id", 1}, {"bound", false}}},
			}},
			&dctest.Node{Name: "Quest", Children: []*dctest.Node{
				{Name: "Task", Attrs: []dctest.Attr{dctest.Text("go"), {"id", 1}}, Children: []*dctest.Node{{Name: "End"}}},
			}},
		),
	}
}

func TestBuild(t *testing.T) {
	want := []string{
		`"__root__" 0 []`,
		` "Items" 0 []`,
		`  "Item" 0 ["id"] "id"=int:1 "bound"=bool:0 "name"=string:[ac80]`,
		`  "Item" 0 ["id"] "id"=int:2 "bound"=bool:1 "name"=string:[73 77 6f 72 64] "weight"=float:3fc00000`,
		` "Quest" 0 []`,
		`  "Task" 0 [] "id"=int:1 "__value__"=string:[67 6f]`,
		`   "End" 0 []`,
	}
	for _, layout := range []datacenter.Layout{datacenter.LayoutV3, datacenter.LayoutV6X86, datacenter.LayoutV6X64} {
		t.Run(layout.String(), func(t *testing.T) {
			doc := small()
			doc.Layout = layout
			r := read(unseal(t, dctest.Build(doc, dctest.Options{})), layout)
			if r.version != layout.Version() || r.timestamp != -1 {
				t.Errorf("version %d, timestamp %v", r.version, r.timestamp)
			}
			if layout != datacenter.LayoutV3 && r.revision != 7 {
				t.Errorf("revision %d", r.revision)
			}
			var got []string
			r.tree(r.node(0, 0), 0, &got)
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s", strings.Join(got, "\n"))
			}
		})
	}
}

func TestLegal(t *testing.T) {
	for _, e := range dctest.Legal() {
		t.Run(e.Name, func(t *testing.T) {
			layout := e.Doc.Layout
			if layout == datacenter.LayoutAuto {
				layout = datacenter.LayoutV6X64
			}
			m := dctest.NewImage(e.Doc, e.Options)
			seal := e.Options.Seal
			if seal.Key == nil && !seal.NoAdler && string(unseal(t, m.Seal(seal))) != string(m.Data) {
				t.Error("the file is not the image")
			}
			for _, finding := range check(m.Data, layout) {
				t.Error(finding)
			}
			if t.Failed() {
				return
			}
			r := read(m.Data, layout)
			var names, got, want []string
			for i := range r.names.addresses {
				names = append(names, r.name(uint16(i+1)))
			}
			r.tree(r.node(0, 0), 0, &got)
			dump(e.Doc.Root, names, 0, &want)
			slices.Sort(got)
			slices.Sort(want)
			if len(got) != len(want) {
				t.Fatalf("%d nodes, want %d", len(got), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("got\n%.300s\nwant\n%.300s", got[i], want[i])
				}
			}
		})
	}
}

// inflate is unseal for files that may be broken.
func inflate(t testing.TB, file []byte) (data []byte, failed string) {
	defer func() {
		if r := recover(); r != nil {
			failed = fmt.Sprint(r)
		}
	}()
	return unseal(failer{t}, file), ""
}

// failer turns a failure into a panic.
type failer struct {
	testing.TB
}

func (failer) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (failer) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func TestBroken(t *testing.T) {
	testneeds.Seconds(t)
	layouts := []datacenter.Layout{datacenter.LayoutV6X64, datacenter.LayoutV3, datacenter.LayoutV6X86}
	if testneeds.Quick() {
		layouts = layouts[:1]
	}
	for _, layout := range layouts {
		seen := map[string]bool{}
		for _, b := range dctest.Broken(layout) {
			t.Run(layout.String()+" "+b.Name, func(t *testing.T) {
				if seen[b.Name] || b.Want == "" || b.Layout != layout {
					t.Error("name, Want or Layout")
				}
				seen[b.Name] = true
				if strings.Contains(b.Name, "bomb") {
					return
				}
				data, failed := inflate(t, b.Data)
				if failed != "" {
					if b.Found == dctest.AtRead || b.Found == dctest.Never {
						t.Error(failed)
					}
					return
				}
				findings := check(data, layout)
				if (len(findings) == 0) != (b.Found == dctest.Never) {
					t.Errorf("%s, found %q", b.Found, findings)
				}
				t.Logf("%s: %.200q", b.Want, findings)
			})
		}
	}
}

// TestBomb inflates a bomb that is a valid data center.
func TestBomb(t *testing.T) {
	testneeds.Slow(t, "inflates a GiB")
	for _, b := range dctest.Hostile(datacenter.LayoutV6X64) {
		if b.Name != "slack bomb" {
			continue
		}
		plain := decrypt(t, b.Data)
		z, err := zlib.NewReader(bytes.NewReader(plain[4:]))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, z)
		if err != nil || n != int64(binary.LittleEndian.Uint32(plain)) || n < 1_000_000_000 {
			t.Errorf("%d bytes inflate to %d: %v", len(b.Data), n, err)
		}
		return
	}
	t.Error("no bomb")
}

func TestCounts(t *testing.T) {
	n := &dctest.Node{Name: "Leaf", Attrs: []dctest.Attr{{Name: "a", Value: 1}}}
	for range 2 {
		n = &dctest.Node{Name: "Level", Children: slices.Repeat([]*dctest.Node{n}, 10)}
	}
	if got := (dctest.Doc{Root: dctest.Root(n)}).Counts(); got != (dctest.Counts{Nodes: 112, Attributes: 100}) {
		t.Errorf("%+v", got)
	}
	for range 30 {
		n = &dctest.Node{Name: "Level", Children: slices.Repeat([]*dctest.Node{n}, 60)}
	}
	if got := (dctest.Doc{Root: dctest.Root(n)}).Counts(); got.Nodes != math.MaxUint64 {
		t.Errorf("%+v", got)
	}
}

func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		text  string
		units []uint16
	}{
		{"", []uint16{}},
		{"aé한", []uint16{'a', 0xe9, 0xd55c}},
		{"\U0001f409", []uint16{0xd83d, 0xdc09}},
		{"\xed\xa0\xbd", []uint16{0xd83d}},
		{"x\xed\xb0\x89y", []uint16{'x', 0xdc09, 'y'}},
		{"\xed\xb0\x89\xed\xa0\xbd", []uint16{0xdc09, 0xd83d}},
	} {
		if got := dctest.Units(tt.text); !slices.Equal(got, tt.units) {
			t.Errorf("Units(%q) = %x", tt.text, got)
		}
		if got := dctest.Text8(tt.units); got != tt.text {
			t.Errorf("Text8(%x) = %q", tt.units, got)
		}
	}
	if got := dctest.Units("\xff\xed\xa0"); !slices.Equal(got, []uint16{0xfffd, 0xfffd, 0xfffd}) {
		t.Errorf("invalid bytes are %x", got)
	}
}
