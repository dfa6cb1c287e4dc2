package sheets_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/sheets"
	"lorefs/internal/testneeds"
)

// jsonNode is a node in the output of WriteJSON.
type jsonNode struct {
	Name       string
	Keys       []string
	Flags      int
	Attributes map[string]any
	Text       *string
	Children   []jsonNode
}

func TestWriteJSON(t *testing.T) {
	sheet := &dctest.Node{
		Name: "Item", Keys: []string{"id"}, Flags: 1,
		Attrs: []dctest.Attr{
			{Name: "id", Value: int32(7)},
			{Name: "rare", Value: true},
			{Name: "rate", Value: float32(2)},
			{Name: "half", Value: float32(0.5)},
			{Name: "tiny", Value: float32(1e-7)},
			{Name: "none", Value: math.Float32frombits(0xFFC00000)},
			{Name: "text", Value: "a\"b\n검"},
			{Name: "__value__", Value: "words"},
		},
		Children: []*dctest.Node{{Name: "B"}, {Name: "A", Attrs: []dctest.Attr{{Name: "id", Value: int32(-1)}}}},
	}
	s := newSource(t, openDoc(t, dctest.Root(sheet)), nil, sheets.Options{})
	f := s.Families()[0]
	for one := range f.Sheets(0) {
		var out bytes.Buffer
		if err := s.WriteJSON(t.Context(), &out, one); err != nil {
			t.Fatal(err)
		}
		if f.JSONFile(one.Ordinal) != "Item-00000.json" || strings.Count(out.String(), "\n") != 3 {
			t.Errorf("%s: %s", f.JSONFile(one.Ordinal), &out)
		}
		dec := json.NewDecoder(&out)
		dec.UseNumber()
		var got jsonNode
		if err := dec.Decode(&got); err != nil {
			t.Fatal(err)
		}
		want := `{Item [id] 1 map[half:0.5 id:7 none:NaN rare:true rate:2.0 text:a"b` + "\n" + `검 tiny:1E-07]`
		if text := fmt.Sprint(got); !strings.HasPrefix(text, want) || *got.Text != "words" {
			t.Errorf("%s, want %s", text, want)
		}
		if len(got.Children) != 2 || fmt.Sprint(got.Children[0].Attributes, got.Children[1].Attributes) == "" {
			t.Errorf("%+v", got.Children)
		}
	}
}

// TestWriteJSONOfLegalFiles checks that the JSON of every valid file has all its nodes and
// attributes.
func TestWriteJSONOfLegalFiles(t *testing.T) {
	for _, x := range dctest.Legal() {
		t.Run(x.Name, func(t *testing.T) {
			if x.Name == "65,535 children" && testneeds.Quick() {
				t.Skip("a large one")
			}
			x.Options.Seal = dctest.SealOptions{}
			f := dctest.Open(t, dctest.Build(x.Doc, x.Options))
			s, err := sheets.New(f, nil, sheets.Options{})
			if err != nil {
				t.Skip(err)
			}
			count := f.Counts()
			count.Nodes-- // the root
			for _, family := range s.Families() {
				for sheet := range family.Sheets(0) {
					var out bytes.Buffer
					if err := s.WriteJSON(t.Context(), &out, sheet); err != nil {
						t.Fatal(err)
					}
					var n jsonNode
					if err := json.Unmarshal(out.Bytes(), &n); err != nil {
						t.Fatalf("%s: %v", family.Name, err)
					}
					n.take(&count)
				}
			}
			if count.Nodes != 0 || count.Attributes != 0 {
				t.Errorf("%d nodes and %d attributes are missing", count.Nodes, count.Attributes)
			}
		})
	}
}

func (n *jsonNode) take(c *datacenter.Counts) {
	c.Nodes--
	c.Attributes -= int64(len(n.Attributes))
	if n.Text != nil {
		c.Attributes--
	}
	for i := range n.Children {
		n.Children[i].take(c)
	}
}
