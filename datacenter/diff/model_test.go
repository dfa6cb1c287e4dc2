package diff_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/diff"
)

type (
	node  = dctest.Node
	attrs = []dctest.Attr
)

func build(t testing.TB, o dctest.Options, sheets ...*node) *datacenter.File {
	t.Helper()
	return dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(sheets...)}, o))
}

func compare(t testing.TB, a, b *datacenter.File, o diff.Options) (all []diff.Difference) {
	t.Helper()
	for d, err := range diff.Compare(t.Context(), a, b, o) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// text returns what would be printed.
func text(all []diff.Difference) string {
	var b []byte
	for _, d := range all {
		b = d.Append(b)
	}
	return string(b)
}

// model is a node of a file, with all below it in memory.
type model struct {
	name, keys, flags string
	attrs             map[string]diff.Value
	kids              map[string][]*model // the children of each name, in their order
	entries           uint32
	path              string
}

func modelOf(t testing.TB, f *datacenter.File) *model {
	t.Helper()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	m, err := modelNode(root, "")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func modelNode(n datacenter.Node, path string) (*model, error) {
	m := &model{
		name: n.Name(), keys: n.Keys().String(), flags: strconv.Itoa(int(n.Flags())), path: path,
		attrs: map[string]diff.Value{}, kids: map[string][]*model{}, entries: 1,
	}
	for a, err := range n.Attributes() {
		if err != nil {
			return nil, err
		}
		text, err := a.AppendText(nil)
		if err != nil {
			return nil, err
		}
		m.attrs[a.Name()] = diff.Value{Type: a.Type().String(), Text: string(text)}
		m.entries++
	}
	for c, err := range n.Children() {
		if err != nil {
			return nil, err
		}
		file := c.Name()
		if i := len(m.kids[file]); i > 0 {
			file += "." + strconv.Itoa(i)
		}
		k, err := modelNode(c, strings.TrimPrefix(path+"/"+file, "/"))
		if err != nil {
			return nil, err
		}
		m.kids[k.name] = append(m.kids[k.name], k)
		m.entries += k.entries
	}
	return m, nil
}

// attributePath returns the path of an attribute of m.
func (m *model) attributePath(name string) string {
	if len(m.kids[name]) > 0 {
		name = "@" + name
	}
	return strings.TrimPrefix(m.path+"/"+name, "/")
}

// told has differences by what they are about.
type told struct {
	removed, added map[string]diff.Difference
	moved          map[string]diff.Difference // by the old path
	changed        map[string]diff.Difference // by the kind and the path
}

func tell(all []diff.Difference) told {
	d := told{map[string]diff.Difference{}, map[string]diff.Difference{}, map[string]diff.Difference{}, map[string]diff.Difference{}}
	for _, x := range all {
		switch x.Kind {
		case diff.NodeRemoved:
			d.removed[x.Path] = x
		case diff.NodeAdded:
			d.added[x.Path] = x
		case diff.OrderChanged:
			d.moved[x.Path] = x
		default:
			d.changed[fmt.Sprint(x.Kind, " ", x.Path)] = x
		}
	}
	return d
}

func (d told) count() int { return len(d.removed) + len(d.added) + len(d.moved) + len(d.changed) }

// explain checks the differences between x and y, which belong together: each must be true,
// and there must be no others. It removes those that are correct.
func (d told) explain(x, y *model) error {
	newPath := func(was, is string) string {
		if was == is {
			return ""
		}
		return is
	}
	want := map[string]diff.Difference{}
	expect := func(kind diff.Kind, path, newAt string, old, now diff.Value) {
		if old != now {
			want[fmt.Sprint(kind, " ", path)] = diff.Difference{Kind: kind, Path: path, NewPath: newPath(path, newAt), Old: old, New: now}
		}
	}
	expect(diff.KeysChanged, x.path, y.path, diff.Value{Type: "keys", Text: x.keys}, diff.Value{Type: "keys", Text: y.keys})
	expect(diff.FlagsChanged, x.path, y.path, diff.Value{Type: "flags", Text: x.flags}, diff.Value{Type: "flags", Text: y.flags})
	for name, old := range x.attrs {
		if now, ok := y.attrs[name]; ok {
			expect(diff.AttributeChanged, x.attributePath(name), y.attributePath(name), old, now)
		} else {
			expect(diff.AttributeRemoved, x.attributePath(name), x.attributePath(name), old, diff.Value{})
		}
	}
	for name, now := range y.attrs {
		if _, ok := x.attrs[name]; !ok {
			expect(diff.AttributeAdded, y.attributePath(name), y.attributePath(name), diff.Value{}, now)
		}
	}
	for what, w := range want {
		if got := d.changed[what]; got != w {
			return fmt.Errorf("%+v, want %+v", got, w)
		}
		delete(d.changed, what)
	}
	names := slices.Collect(maps.Keys(x.kids))
	for name := range y.kids {
		if len(x.kids[name]) == 0 {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if err := d.explainSiblings(x.kids[name], y.kids[name]); err != nil {
			return err
		}
	}
	return nil
}

func (d told) explainSiblings(xs, ys []*model) error {
	var stay, there []*model
	moved := map[string]*model{} // by the new path
	for _, x := range xs {
		if r, ok := d.removed[x.path]; ok {
			if r.Entries != x.entries {
				return fmt.Errorf("%+v, want %d entries", r, x.entries)
			}
			delete(d.removed, x.path)
			continue
		}
		if m, ok := d.moved[x.path]; ok {
			to := m.NewPath
			if to == "" {
				to = m.Path
			}
			moved[to] = x
			delete(d.moved, x.path)
			continue
		}
		stay = append(stay, x)
	}
	for _, y := range ys {
		if a, ok := d.added[y.path]; ok {
			if a.Entries != y.entries {
				return fmt.Errorf("%+v, want %d entries", a, y.entries)
			}
			delete(d.added, y.path)
			continue
		}
		if x, ok := moved[y.path]; ok {
			if err := d.explain(x, y); err != nil {
				return err
			}
			delete(moved, y.path)
			continue
		}
		there = append(there, y)
	}
	if len(stay) != len(there) || len(moved) > 0 {
		return fmt.Errorf("%d siblings stay and %d are there, %d moved to nowhere", len(stay), len(there), len(moved))
	}
	for i, x := range stay {
		if err := d.explain(x, there[i]); err != nil {
			return err
		}
	}
	return nil
}
