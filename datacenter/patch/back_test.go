package patch_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/internal/testneeds"
)

// thereAndBack checks that the patch of a draft of f makes of f what the draft is, once, and
// reversed makes f of that again. It returns the patch.
func thereAndBack(t testing.TB, rt fataler, f *datacenter.File, d *edit.Draft) *patch.Patch {
	rt.Helper()
	want, p := saved(t, d), makeDraft(rt, d, "")
	step := func(name string, from *datacenter.File, p *patch.Patch, to *datacenter.File) *datacenter.File {
		rt.Helper()
		got, results := apply(rt, from, p)
		after := saved(t, got)
		if r := results[0]; r.Conflicts+r.Already > 0 {
			rt.Fatalf("%s: %d already, %.2000s\n%.4000s", name, r.Already, conflicts(r), p.Append(nil))
		}
		if text := differences(rt, to, after); text != "" {
			rt.Fatalf("%s: %.2000s\nafter\n%.4000s", name, text, p.Append(nil))
		}
		if _, results = apply(rt, after, p); len(results[0].Edits)+results[0].Conflicts > 0 {
			rt.Fatalf("%s, again: %d edits, %.2000s\n%.4000s", name, len(results[0].Edits), conflicts(results[0]), p.Append(nil))
		}
		return after
	}
	after := step("there", f, p, want)
	step("back", after, reread(rt, p.Reverse()), f)
	return p
}

// draftOf edits a file in a draft.
func draftOf(t fataler, f *datacenter.File, edits ...edit.Edit) *edit.Draft {
	t.Helper()
	d, err := edit.NewDraft(f, nil)
	if err == nil {
		err = d.Apply(context.Background(), edits...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A patch of random edits of random nodes, many of which are twins, and its reverse.
func TestThereAndBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := open(t, drawSheets(rt)...)
		d := draftOf(rt, f)
		randomEdits(rt, d, f)
		thereAndBack(t, rt, f, d)
	})
}

// Siblings that exchange what finds them, or of which each gets that of the next one: a path has
// to find its node among the old values, and reversed among the new ones.
func TestExchangedKeys(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count := rapid.IntRange(2, 7).Draw(rt, "siblings")
		var keys []string
		name := rapid.SampledFrom([]string{"id", "xId", "name"}).Draw(rt, "found by")
		if rapid.Bool().Draw(rt, "keyed") {
			keys = []string{name}
		}
		small := func(what string) int { return rapid.IntRange(1, 2).Draw(rt, what) }
		sheet := under(of("S"), of("Z"), of("Z"), of("Z"))
		for i := range count {
			part := under(of("P", "v", small("part")), of("Q", "v", small("below")))
			sheet.Children = append(sheet.Children, under(keyed(of("I", name, i+1, "v", small("value")), keys...), part))
		}
		f := open(t, sheet)
		var items []spot
		for _, s := range spots(t, f) {
			if s.node.Name() == "I" {
				items = append(items, s)
			}
		}
		var edits []edit.Edit
		set := func(n edit.Number, name string, v int) {
			edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: n, Name: name, Value: datacenter.IntValue(int32(v))})
		}
		order := make([]int, count)
		for i := range order {
			order[i] = i + 1
		}
		switch rapid.IntRange(0, 2).Draw(rt, "how") {
		case 0:
			order = rapid.Permutation(order).Draw(rt, "order")
		case 1: // the next one's, and the last a new one
			for i := range order {
				order[i]++
			}
		default: // the next one's from a place on, as if a sibling came before it
			for i := rapid.IntRange(0, count-1).Draw(rt, "place"); i < count; i++ {
				order[i]++
			}
		}
		for i, s := range items {
			set(s.number, name, order[i])
			below := s.number + 1 + edit.Number(s.node.AttributeCount())
			switch rapid.IntRange(0, 3).Draw(rt, "too") {
			case 0:
				set(s.number, "v", 9)
			case 1:
				set(below, "v", 9)
			case 2:
				set(below+2, "v", 9)
			}
		}
		if rapid.IntRange(0, 3).Draw(rt, "remove") == 0 {
			edits = append(edits, edit.Edit{Op: edit.RemoveNode, Node: items[rapid.IntRange(0, count-1).Draw(rt, "gone")].number})
		}
		thereAndBack(t, rt, f, draftOf(rt, f, edits...))
	})
}

// Thousands of edits of one sheet: of values, of ids, each of which is that of the sibling before,
// and of twins that only their places tell apart.
func TestManyEditsOfOneSheet(t *testing.T) {
	testneeds.Seconds(t)
	const siblings = 3000
	for _, tt := range []struct {
		name string
		item func(i int) *dctest.Node
		to   func(i int) (name string, v int)
	}{
		{
			"values", func(i int) *dctest.Node { return keyed(of("I", "id", i, "v", i%7), "id") },
			func(i int) (string, int) { return "v", 10 + i%5 },
		},
		{
			"values that find nodes", func(i int) *dctest.Node { return of("I", "templateId", i, "v", i%7) },
			func(i int) (string, int) { return "templateId", 2*siblings - i },
		},
		{
			"the next one's ids", func(i int) *dctest.Node { return keyed(of("I", "id", i, "v", i%7), "id") },
			func(i int) (string, int) { return "id", i + 1 },
		},
		{
			"twins", func(int) *dctest.Node { return of("I", "v", 1) },
			func(i int) (string, int) { return "v", 1 + i%3 },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sheet := of("S")
			for i := range siblings {
				sheet.Children = append(sheet.Children, tt.item(i))
			}
			for i := range 4 * siblings { // they keep the sheet from being replaced as a whole
				sheet.Children = append(sheet.Children, of("Z", "id", i))
			}
			f := open(t, sheet)
			var edits []edit.Edit
			place := 0
			for _, s := range spots(t, f) {
				if s.node.Name() != "I" {
					continue
				}
				name, v := tt.to(place)
				edits = append(edits, edit.Edit{Op: edit.SetAttribute, Node: s.number, Name: name, Value: datacenter.IntValue(int32(v))})
				place++
			}
			p := thereAndBack(t, t, f, draftOf(t, f, edits...))
			if len(p.Blocks) < siblings/2 {
				t.Errorf("%d blocks", len(p.Blocks))
			}
		})
	}
}
