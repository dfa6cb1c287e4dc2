package patch_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/datacenter/query"
	"lorefs/internal/testneeds/property"
)

// serial is an attribute that tells nodes apart for the judge. The patcher never sees it.
const serial = "serial"

// number gives each node a serial number.
func number(list []*dctest.Node, next *int) {
	for _, n := range list {
		n.Attrs = append(n.Attrs, dctest.Attr{Name: serial, Value: *next})
		*next++
		number(n.Children, next)
	}
}

// without copies nodes without their serial numbers.
func without(list []*dctest.Node) (out []*dctest.Node) {
	for _, n := range list {
		c := *n
		c.Attrs = slices.DeleteFunc(slices.Clone(n.Attrs), func(a dctest.Attr) bool { return a.Name == serial })
		c.Children = without(n.Children)
		out = append(out, &c)
	}
	return out
}

// serials are the serial numbers of the nodes of a file without, by their numbers there: a
// walk meets the nodes of both in the same order.
func serials(t *testing.T, with, f *datacenter.File) map[edit.Number]int32 {
	m := map[edit.Number]int32{}
	plain := spots(t, f)
	for i, s := range spots(t, with) {
		for a, err := range s.node.Attributes() {
			if err != nil {
				t.Fatal(err)
			}
			if a.Name() == serial {
				m[plain[i].number] = a.Int()
			}
		}
	}
	return m
}

// drift gives what another version of the game made of nodes: siblings came and went, and
// values, ids and keys are other ones, none of which was there before.
func drift(rt *rapid.T, list []*dctest.Node, next *int) []*dctest.Node {
	var out []*dctest.Node
	for _, n := range list {
		c := *n
		c.Attrs = slices.Clone(n.Attrs)
		c.Children = drift(rt, n.Children, next)
		switch rapid.IntRange(0, 9).Draw(rt, "drift") {
		case 0:
			continue
		case 1:
			if i := rapid.IntRange(0, len(c.Attrs)-1).Draw(rt, "attribute"); c.Attrs[i].Name != serial && c.Attrs[i].Name != dctest.ValueName {
				c.Attrs[i].Value = 1000 + *next
				*next++
			}
		case 2:
			added := &dctest.Node{Name: n.Name, Keys: n.Keys, Attrs: []dctest.Attr{{Name: "v", Value: 1000 + *next}}}
			number([]*dctest.Node{added}, next)
			out = append(out, added)
		}
		out = append(out, &c)
	}
	return out
}

// A mod of one version, applied to another one, changes no node that is not the one it
// was made for.
func TestNoneWrong(t *testing.T) {
	var outcomes [3]int
	property.Check(t, func(rt *rapid.T) {
		sheets := drawSheets(rt)
		next := 1
		number(sheets, &next)
		other := drift(rt, sheets, &next)
		if len(other) == 0 {
			return
		}
		a, b, c := open(t, without(sheets)...), open(t, mutate(rt, without(sheets), 0)...), open(t, without(other)...)
		of, in := serials(t, open(t, sheets...), a), serials(t, open(t, other...), c)
		p := makePatch(rt, a, b)
		patched, expected := apply(rt, a, p)
		j := judge{largeMod: &largeMod{TB: t}, files: map[*edit.Draft]*datacenter.File{patched: a}}
		j.old, j.now = j.draft(a), j.draft(c)
		d, results := apply(rt, c, p)
		r := results[0]
		if len(r.Items) != len(expected[0].Items) {
			rt.Fatalf("%d parts of a patch of %d", len(r.Items), len(expected[0].Items))
		}
		for i, it := range r.Items {
			want := expected[0].Items[i]
			outcomes[it.Outcome]++
			if it.Outcome == patch.Conflict || it.Outcome == patch.Already && (it.Node == 0 || p.Blocks[it.Block].Kind == patch.Add) {
				continue
			}
			b := &p.Blocks[it.Block]
			if b.Kind == patch.Add && len(b.Path.Steps) == 1 {
				continue // sheets that nothing tells apart are one
			}
			isThere := func(n, should edit.Number) bool { return n == should && n == 0 || in[n] == of[should] }
			if it.Outcome == patch.Already && j.isAsPatched(it.Node, patched, want.Node, isThere) {
				continue
			}
			if steps := b.Path.Steps; it.Outcome == patch.Applied && len(steps) > 0 && j.isAsBefore(it.Node, want.Node, &steps[len(steps)-1], isThere) {
				continue
			}
			if of[want.Node] != in[it.Node] {
				rt.Fatalf("%s: done to %d instead of %d by\n%s", r.Describe(it), in[it.Node], of[want.Node], p.Append(nil))
			}
		}
		if rejects := patch.Rejects(r); rejects != nil {
			_, again := apply(rt, c, reread(rt, rejects))
			from := rejected(r)
			for i, it := range again[0].Items {
				// The rejects are for what the patch has made of the file. A block whose path or sibling
				// is called otherwise since then may not find that here.
				b, was := &rejects.Blocks[it.Block], &p.Blocks[from[it.Block].Block]
				if b.Path.Text != was.Path.Text || b.Beside.Text != was.Beside.Text {
					continue
				}
				// Without the block that removes its place, an addition has one.
				if strings.Contains(from[it.Block].Reason, "of the patch removes") {
					continue
				}
				// Without the other blocks some may be there: one of two equal nodes was that of
				// the other block, and a path with new keys leads elsewhere.
				if it.Outcome == patch.Applied {
					rt.Fatalf("reject %d of %d is applied:\n%s", i, r.Conflicts, rejects.Append(nil))
				}
			}
		}
		after := saved(t, d)
		// What was in no place for it at first may be now.
		if _, again := apply(rt, after, p); again[0].Applied > 0 {
			text := ""
			for i, it := range again[0].Items {
				if it.Outcome == patch.Applied && r.Items[i].Outcome != patch.Conflict {
					b := p.Blocks[it.Block]
					if slices.ContainsFunc(b.Contexts, func(c patch.Context) bool { return c.Sum != 0 }) {
						continue // a twin may make siblings what they were before the patch
					}
					text += again[0].Describe(it) + "; at first " + r.Describe(r.Items[i]) + "\n" + string(b.Append(nil))
				}
			}
			if text != "" {
				rt.Fatalf("again: %s", text)
			}
		}
	})
	t.Logf("%d applied, %d already there, %d conflicts", outcomes[0], outcomes[1], outcomes[2])
}

// rejected returns the first conflict of each block that has one, in the order of the rejects.
func rejected(r *patch.Result) (list []*patch.Item) {
	for i := range r.Items {
		it := &r.Items[i]
		if it.Outcome == patch.Conflict && (len(list) == 0 || list[len(list)-1].Block != it.Block) {
			list = append(list, it)
		}
	}
	return list
}

// isAsPatched reports whether a node of the other version, or one above it, and all siblings of its name
// are as the patch makes those of the file that it was made for: then nothing tells that it was not
// applied before. isRight reports whether a node is the one of that file.
func (j *judge) isAsPatched(n edit.Number, patched *edit.Draft, should edit.Number, isRight func(n, should edit.Number) bool) bool {
	siblings := func(d *edit.Draft, n edit.Number) (list []string, at int) {
		info, _ := d.Node(n)
		for _, c := range j.children(d, info.Parent) {
			if c.Number == n {
				at = len(list)
			}
			if c.Name == info.Name {
				list = append(list, j.spell(d, c.Number))
			}
		}
		return list, at
	}
	if errors.Is(patched.Open(should), edit.ErrGone) {
		return false // the patch removes it
	}
	for n != 0 && should != 0 {
		above, aboveShould := j.parent(j.now, n), j.parent(patched, should)
		have, at := siblings(j.now, n)
		want, wantAt := siblings(patched, should)
		if isRight(above, aboveShould) && at == wantAt && slices.Equal(have, want) {
			return true
		}
		n, should = above, aboveShould
	}
	return false
}

// isAsBefore reports whether a node of the other version holds what the node held that the patch was made
// for, below the same node, and is beside a sibling that holds what one held there: so it would be if all
// but that node had gone. Siblings are those that a step of the patch finds without its place.
func (j *judge) isAsBefore(n, should edit.Number, s *query.PlainStep, isRight func(n, should edit.Number) bool) bool {
	if n == 0 || should == 0 || j.spell(j.now, n) != j.spell(j.old, should) || !isRight(j.parent(j.now, n), j.parent(j.old, should)) {
		return false
	}
	neighbours := func(d *edit.Draft, n edit.Number) (list [2]string) {
		passed := false
		for _, c := range j.children(d, j.parent(d, n)) {
			switch {
			case c.Number == n:
				passed = true
			case c.Attribute || c.Name != s.Name || !j.meets(d, c.Number, s):
			case !passed:
				list[0] = j.spell(d, c.Number)
			case list[1] == "":
				list[1] = j.spell(d, c.Number)
			}
		}
		return list
	}
	have, want := neighbours(j.now, n), neighbours(j.old, should)
	return want == [2]string{} || have[0] != "" && have[0] == want[0] || have[1] != "" && have[1] == want[1]
}
