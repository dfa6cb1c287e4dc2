package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
)

// told returns a text of changes, one in each line.
func told(list []edit.Change) string {
	var b strings.Builder
	path := func(steps []edit.Step) string {
		var all []string
		for _, s := range steps {
			text := fmt.Sprintf("%s.%d", s.Name, s.Ordinal)
			for _, m := range s.Marks {
				text += fmt.Sprintf("[%s=%s]", m.Name, m.Value.Text())
			}
			all = append(all, text)
		}
		return strings.Join(all, "/")
	}
	for _, c := range list {
		kinds := map[edit.ChangeKind]string{
			edit.AttributeSet: "set", edit.AttributeGone: "gone", edit.KeysSet: "keys", edit.FlagsSet: "flags",
			edit.NodeMade: "made", edit.NodeGone: "removed", edit.NodeMoved: "moved",
		}
		fmt.Fprintf(&b, "%s %s", kinds[c.Kind], path(c.Path))
		if c.Name != "" {
			fmt.Fprintf(&b, " %s", c.Name)
		}
		switch {
		case c.Lost:
			b.WriteString(" ?")
		case c.Old.Type() != 0:
			fmt.Fprintf(&b, " -%s", c.Old.Text())
		}
		if c.New.Type() != 0 {
			fmt.Fprintf(&b, " +%s", c.New.Text())
		}
		if c.Kind == edit.KeysSet {
			fmt.Fprintf(&b, " %s", c.Keys)
		}
		if c.From != nil {
			fmt.Fprintf(&b, " from %s", path(c.From))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// overwritten is a block cache whose blocks can't be read any more once gone is set.
type overwritten struct{ gone atomic.Bool }

var errOverwritten = errors.New("another program wrote over it")

func (o *overwritten) Block(n uint64, load func(uint64) ([]byte, error)) ([]byte, error) {
	if o.gone.Load() {
		return nil, errOverwritten
	}
	return load(n)
}

func TestDescribed(t *testing.T) {
	sheet := &dctest.Node{Name: "Item", Attrs: []dctest.Attr{{Name: "version", Value: 1}}}
	for i := range 4 {
		sheet.Children = append(sheet.Children, &dctest.Node{
			Name: "Thing", Keys: []string{"id"},
			Attrs:    []dctest.Attr{{Name: "id", Value: 10 + i}, {Name: "name", Value: fmt.Sprintf("n%d", i)}, {Name: "rate", Value: float32(i)}},
			Children: []*dctest.Node{{Name: "Part", Attrs: []dctest.Attr{{Name: "w", Value: i}}}},
		})
	}
	root := dctest.Root()
	root.Children = []*dctest.Node{sheet}
	data := dctest.Build(dctest.Doc{Root: root}, dctest.Options{})
	blocks := &overwritten{}
	f, err := datacenter.Open(t.Context(), bytes.NewReader(data), int64(len(data)), datacenter.Options{Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	d, err := edit.NewDraft(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if list := d.Described(); len(list) != 0 {
		t.Errorf("nothing was edited: %s", told(list))
	}
	number := func(parent edit.Number, name string, ordinal uint32) edit.Number {
		t.Helper()
		if err := d.Open(parent); err != nil {
			t.Fatal(err)
		}
		e, ok := d.Child(parent, name, ordinal)
		if !ok {
			t.Fatalf("no child %s.%d", name, ordinal)
		}
		return e.Number
	}
	item := number(0, "Item", 0)
	things := [4]edit.Number{}
	for i := range things {
		things[i] = number(item, "Thing", uint32(i))
	}
	text := func(s string) datacenter.Value {
		v, err := datacenter.StringValue(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	made := d.NewNumber()
	for _, e := range []edit.Edit{
		{Op: edit.SetAttribute, Node: things[0], Name: "name", Value: text("other")},
		{Op: edit.SetAttribute, Node: things[0], Name: "rate", Value: datacenter.FloatValue(0)}, // the old value
		{Op: edit.SetAttribute, Node: things[0], Name: "id", Value: datacenter.IntValue(99)},
		{Op: edit.RemoveAttribute, Node: things[1], Name: "rate"},
		{Op: edit.SetAttribute, Node: things[1], Name: "fresh", Value: datacenter.BoolValue(true)},
		{Op: edit.SetKeys, Node: things[1]},
		{Op: edit.SetFlags, Node: things[1], Flags: 1},
		{Op: edit.RemoveNode, Node: things[2]},
		{Op: edit.AddNode, Node: made, Parent: item, Name: "Thing", Ordinal: 9, Keys: datacenter.KeyDefinition{"name"}},
		{Op: edit.SetAttribute, Node: made, Name: "name", Value: text("new")},
		{Op: edit.MoveNode, Node: things[3], Parent: made, Name: "Moved"},
		{Op: edit.SetAttribute, Node: number(things[3], "Part", 0), Name: "w", Value: datacenter.IntValue(7)},
	} {
		if err := d.Apply(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	const want = `set Item.0/Thing.0[id=10] id -10 +99
set Item.0/Thing.0[id=10] name -n0 +other
gone Item.0/Thing.1[id=11] rate -1
set Item.0/Thing.1[id=11] fresh +true
keys Item.0/Thing.1[id=11] 
flags Item.0/Thing.1[id=11]
removed Item.0/Thing.2[id=12]
made Item.0/Thing.9[name=new]
set Item.0/Thing.9[name=new] name +new
keys Item.0/Thing.9[name=new] name
moved Item.0/Thing.9[name=new]/Moved.0[id=13] from Item.0/Thing.3[id=13]
set Item.0/Thing.9[name=new]/Moved.0[id=13]/Part.0 w -3 +7
`
	if got := told(d.Described()); got != want {
		t.Errorf("the changes are\n%swant\n%s", got, want)
	}

	// Described leaves out what can't be read any more, and lists all else.
	blocks.gone.Store(true)
	got := told(d.Described())
	for _, line := range []string{
		"set Item.0/Thing.0 name ? +other\n", "gone Item.0/Thing.1 rate ?\n", "removed Item.0/Thing.2\n",
		"made Item.0/Thing.9[name=new]\n", "set Item.0/Thing.9[name=new]/Moved.0/Part.0 w ? +7\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("of a file that was written over, %q is not in\n%s", line, got)
		}
	}
}
