package splice_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/internal/hash"
	"lorefs/datacenter/splice"
	"lorefs/internal/testneeds"
)

// TestSplicerOfLegalFiles splices everything that the format allows, or says that it can't.
func TestSplicerOfLegalFiles(t *testing.T) {
	testneeds.Slow(t, "saves each of many files three times")
	for i, ex := range dctest.Legal() {
		t.Run(ex.Name, func(t *testing.T) {
			c := &chain{rng: rand.New(rand.NewPCG(uint64(i), 2)), file: dctest.Build(ex.Doc, ex.Options)}
			opts := smallBlocks
			if ex.Options.Seal.Key != nil {
				t.Skip("has a key of its own")
			}
			f, err := open(c.file, opts)
			if err != nil {
				t.Skip("has two layouts")
			}
			c.f, c.strict = f, strictKinds(t, c.file)
			for range 3 {
				c.save(t, 1)
			}
		})
	}
}

// TestSplicerAddsSegments edits a file whose last segments are all but full, so that what is added
// needs new ones.
func TestSplicerAddsSegments(t *testing.T) {
	testneeds.Slow(t, "has nodes enough to fill a segment")
	const full = 65535
	sheet := &dctest.Node{Name: "Sheet"}
	for i := range full - 4 { // and the root, the sheet and a node without attributes
		sheet.Children = append(sheet.Children, &dctest.Node{Name: "Node", Attrs: []dctest.Attr{{Name: "x", Value: i}}})
	}
	texts := &dctest.Node{Name: "Texts", Attrs: []dctest.Attr{{Name: "text", Value: strings.Repeat("long", full/4-1)}}}
	doc := dctest.Doc{Root: dctest.Root(sheet, texts)}
	c := &chain{file: dctest.Build(doc, dctest.Options{}), rng: rand.New(rand.NewPCG(1, 1))}
	c.f = mustOpen(t, c.file, smallBlocks)
	c.strict = strictKinds(t, c.file)
	before := c.f.Counts()
	c.saveEdits(t, func(d *edit.Draft, apply func(edit.Edit) bool) {
		for i := range 3 {
			n := edit.Edit{Op: edit.AddNode, Node: d.NewNumber(), Parent: 2, Name: "Texts", Ordinal: uint32(i)}
			apply(n)
			v, err := datacenter.StringValue(fmt.Sprintf("a text that does not fit, %d", i))
			if err != nil {
				t.Fatal(err)
			}
			apply(edit.Edit{Op: edit.SetAttribute, Node: n.Node, Name: "text", Value: v})
			apply(edit.Edit{Op: edit.SetAttribute, Node: n.Node, Name: "x", Value: datacenter.IntValue(int32(i))})
		}
	})
	after := c.f.Counts()
	if c.spliced != 1 || after.Values != before.Values+3 || after.StoredAttributes != before.StoredAttributes+6 ||
		after.StoredNodes != before.StoredNodes+3 || after.Nodes != before.Nodes+3 {
		t.Errorf("spliced %d times: counts\n%+v, before\n%+v", c.spliced, after, before)
	}
}

// TestSplicerGrowsInPlace adds children to one node in several saves. The first one copies the run,
// with room for more.
func TestSplicerGrowsInPlace(t *testing.T) {
	testneeds.Slow(t, "saves a file of 10,000 nodes four times")
	sheet, rest := &dctest.Node{Name: "Sheet"}, &dctest.Node{Name: "Rest"}
	for i := range 100 {
		sheet.Children = append(sheet.Children, &dctest.Node{Name: "Node", Attrs: []dctest.Attr{{Name: "x", Value: i}}})
	}
	for i := range 10000 {
		rest.Children = append(rest.Children, &dctest.Node{Name: "Node", Attrs: []dctest.Attr{{Name: "x", Value: -i}}})
	}
	doc := dctest.Doc{Root: dctest.Root(sheet, rest)}
	c := &chain{file: dctest.Build(doc, dctest.Options{}), rng: rand.New(rand.NewPCG(1, 1))}
	c.f = mustOpen(t, c.file, smallBlocks)
	c.strict = strictKinds(t, c.file)
	var stored []int64
	for i := range 4 {
		c.saveEdits(t, func(d *edit.Draft, apply func(edit.Edit) bool) {
			const behindRest = 1 + 1 + 2*10000 // the root, Rest, and its children with an attribute each
			n := edit.Edit{Op: edit.AddNode, Node: d.NewNumber(), Parent: behindRest, Name: "Node", Ordinal: 1000}
			apply(n)
			apply(edit.Edit{Op: edit.SetAttribute, Node: n.Node, Name: "x", Value: datacenter.IntValue(int32(1000 + i))})
		})
		stored = append(stored, c.f.Counts().StoredNodes)
	}
	copied := int64(1+2+100+10000) + 101 + 101/32
	if want := []int64{copied, copied, copied, copied}; c.spliced != 4 || !slices.Equal(stored, want) {
		t.Errorf("spliced %d times, %d stored nodes, want %d", c.spliced, stored, want)
	}
}

// TestSplicerRefuses checks what has to be written as a whole.
func TestSplicerRefuses(t *testing.T) {
	doc := dctest.Generate(dctest.GenOptions{Seed: 1, Sheets: 5, Nodes: 500})
	file := dctest.Build(doc, dctest.Options{})
	key, alike := datacenter.DefaultKeys()[1], sameHash()
	set := func(name string) func(d *edit.Draft) edit.Edit {
		return func(*edit.Draft) edit.Edit {
			return edit.Edit{Op: edit.SetAttribute, Node: 1, Name: name, Value: datacenter.IntValue(1)}
		}
	}
	for name, tt := range map[string]struct {
		file []byte
		opts datacenter.WriteOptions
		edit func(d *edit.Draft) edit.Edit
		want error
	}{
		"a known name": {file: file, edit: set(doc.Root.Children[0].Name)},
		"a revision":   {file: file, edit: set(doc.Root.Children[0].Name), opts: datacenter.WriteOptions{Revision: new(uint32(7))}},
		"a new name":   {file: file, edit: set("unheard of"), want: splice.ErrWhole},
		"a new key definition": {file: file, want: splice.ErrWhole, edit: func(*edit.Draft) edit.Edit {
			a, b := doc.Root.Children[0].Name, doc.Root.Children[1].Name
			return edit.Edit{Op: edit.SetKeys, Node: 1, Keys: datacenter.KeyDefinition{a, b}}
		}},
		"another layout": {file: file, edit: set("id"), opts: datacenter.WriteOptions{Layout: datacenter.LayoutV3}, want: splice.ErrWhole},
		"another key":    {file: file, edit: set("id"), opts: datacenter.WriteOptions{Key: &key}, want: splice.ErrWhole},
		"a level":        {file: file, edit: set("id"), opts: datacenter.WriteOptions{Level: new(9)}, want: splice.ErrWhole},
		"trailing bytes": {
			file: dctest.Build(doc, dctest.Options{Seal: dctest.SealOptions{Trailing: []byte("more")}}),
			edit: set("id"), want: splice.ErrWhole,
		},
		"much that is unused": {file: file, want: splice.ErrWhole, edit: func(*edit.Draft) edit.Edit {
			return edit.Edit{Op: edit.RemoveNode, Node: largest(t, file)}
		}},
		"many strings of one hash": {file: withTexts(alike[1:]), want: splice.ErrWhole, edit: func(*edit.Draft) edit.Edit {
			v, err := datacenter.StringValue(alike[0])
			if err != nil {
				t.Fatal(err)
			}
			return edit.Edit{Op: edit.SetAttribute, Node: 1, Name: "text", Value: v}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := mustOpen(t, tt.file, datacenter.Options{})
			d, err := edit.NewDraft(f, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Apply(t.Context(), tt.edit(d)); err != nil {
				t.Fatal(err)
			}
			s := d.Snapshot()
			defer s.Close()
			var out bytes.Buffer
			_, spliced, err := s.Splice(t.Context(), tt.opts, &out)
			if !errors.Is(err, tt.want) || (err != nil) != (out.Len() == 0) {
				t.Fatalf("wrote %d bytes, %v: want %v", out.Len(), err, tt.want)
			}
			if err != nil {
				return
			}
			g, err := spliced.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), datacenter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := f.Header()
			if tt.opts.Revision != nil {
				want.Revision = *tt.opts.Revision
			}
			if fresh := mustOpen(t, out.Bytes(), datacenter.Options{}); !g.Header().Same(want) || !fresh.Header().Same(want) {
				t.Errorf("header %+v and %+v, want %+v", g.Header(), fresh.Header(), want)
			}
		})
	}
}

// withTexts returns a file with some strings.
func withTexts(texts []string) []byte {
	sheet := &dctest.Node{Name: "Sheet"}
	for _, text := range texts {
		sheet.Children = append(sheet.Children, &dctest.Node{Name: "Node", Attrs: []dctest.Attr{{Name: "text", Value: text}}})
	}
	return dctest.Build(dctest.Doc{Root: dctest.Root(sheet)}, dctest.Options{})
}

// sameHash returns 256 strings that have one hash. The hash is linear: what it makes of a b instead
// of an a at a place is the same whatever stands at the others. So those of 40 places are vectors of
// 32 bits, and in at least 8 ways some of them cancel each other out.
func sameHash() (texts []string) {
	const places = 40
	text := func(bs uint64) string {
		units := bytes.Repeat([]byte("a"), places)
		for i := range units {
			units[i] += byte(bs >> i & 1)
		}
		return string(units)
	}
	hashOf := func(bs uint64) uint32 { return hash.String(utf16.Encode([]rune(text(bs)))) }
	var rest [32]struct {
		vector uint32
		bs     uint64
	}
	var nothing []uint64
	for i := range places {
		v, bs := hashOf(1<<i)^hashOf(0), uint64(1)<<i
		for v != 0 {
			r := &rest[bits.LeadingZeros32(v)]
			if r.bs == 0 {
				r.vector, r.bs = v, bs
				break
			}
			v, bs = v^r.vector, bs^r.bs
		}
		if v == 0 {
			nothing = append(nothing, bs)
		}
	}
	for pick := range 1 << 8 {
		bs := uint64(0)
		for i := range 8 {
			if pick>>i&1 == 1 {
				bs ^= nothing[i]
			}
		}
		texts = append(texts, text(bs))
	}
	return texts
}

// largest returns the number of the sheet with the most entries.
func largest(t *testing.T, file []byte) (n edit.Number) {
	root, err := mustOpen(t, file, datacenter.Options{}).Root()
	if err != nil {
		t.Fatal(err)
	}
	most, next := uint32(0), edit.Number(1)
	for k, err := range root.Children() {
		if err != nil {
			t.Fatal(err)
		}
		if k.Entries() > most {
			most, n = k.Entries(), next
		}
		next += edit.Number(k.Entries())
	}
	return n
}

// TestSplicerAtLimits makes edits for which a region has no segment yet, edits of the longest strings,
// and some that change nothing.
func TestSplicerAtLimits(t *testing.T) {
	texts := &dctest.Node{Name: "Text", Attrs: []dctest.Attr{{Name: "id", Value: "same"}}}
	bare := dctest.Root(&dctest.Node{Name: "Text", Children: []*dctest.Node{{Name: "id"}, {Name: "id"}}})
	set := func(n edit.Number, name, text string) func(*edit.Draft) []edit.Edit {
		return func(*edit.Draft) []edit.Edit {
			v, err := datacenter.StringValue(text)
			if err != nil {
				t.Fatal(err)
			}
			return []edit.Edit{{Op: edit.SetAttribute, Node: n, Name: name, Value: v}}
		}
	}
	in := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct {
		name  string
		root  *dctest.Node
		edits func(d *edit.Draft) []edit.Edit
		whole bool
	}{
		{"nothing changes", dctest.Root(texts), set(1, "id", "same"), false},
		{"the empty string", dctest.Root(texts), set(1, "id", ""), false},
		{"a long string", dctest.Root(texts), set(1, "id", in(65533)), false},
		{"the longest string", dctest.Root(texts), set(1, "id", in(65534)), false},
		{"the first attribute", bare, set(1, "id", "first"), false},
		{"the first attribute of an empty string", bare, set(2, "id", ""), false},
		{"the first child of a child", bare, func(d *edit.Draft) []edit.Edit {
			return []edit.Edit{{Op: edit.AddNode, Node: d.NewNumber(), Parent: 2, Name: "id"}}
		}, false},
		{"the last child of all", bare, func(*edit.Draft) []edit.Edit {
			return []edit.Edit{{Op: edit.RemoveNode, Node: 2}, {Op: edit.RemoveNode, Node: 3}}
		}, true},
		{"all sheets", bare, func(*edit.Draft) []edit.Edit { return []edit.Edit{{Op: edit.RemoveNode, Node: 1}} }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &chain{file: dctest.Build(dctest.Doc{Root: tt.root}, dctest.Options{}), rng: rand.New(rand.NewPCG(1, 1))}
			c.f = mustOpen(t, c.file, smallBlocks)
			c.strict = strictKinds(t, c.file)
			c.saveEdits(t, func(d *edit.Draft, apply func(edit.Edit) bool) {
				for _, e := range tt.edits(d) {
					if !apply(e) {
						t.Fatalf("%+v can't be made", e)
					}
				}
			})
			if (c.spliced == 0) != tt.whole {
				t.Errorf("spliced %d times", c.spliced)
			}
		})
	}
}
