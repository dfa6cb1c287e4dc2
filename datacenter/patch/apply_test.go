package patch_test

import (
	"slices"
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
)

func parse(t *testing.T, name, blocks string) *patch.Patch {
	t.Helper()
	p, err := patch.Parse(name, []byte("lorefs-patch 1\n\n"+blocks))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func shop(t *testing.T) *datacenter.File {
	return open(t,
		under(of("Items"), keyed(of("Item", "id", 1, "level", 14, "name", "a"), "id"), keyed(of("Item", "id", 2, "level", 20), "id")),
		under(of("Items"), keyed(of("Item", "id", 5, "level", 1), "id")),
		under(of("Twins"), of("T", "v", 1), of("T", "v", 1), of("T", "v", 1)),
	)
}

// outcomes tells what became of each part of a patch, a line each.
func outcomes(r *patch.Result) (text string) {
	for _, it := range r.Items {
		text += r.Describe(it) + "\n"
	}
	return text
}

func TestOutcomes(t *testing.T) {
	for _, tt := range []struct{ name, blocks, want string }{
		{"set", "@ /Items/Item[@id=1]\n-level int 14\n+level int 15\n", "applied"},
		{"already", "@ /Items/Item[@id=2]\n-level int 14\n+level int 20\n", "already there"},
		{"neither", "@ /Items/Item[@id=2]\n-level int 14\n+level int 15\n", "level is int 20; want int 14 or int 15"},
		{"another type", "@ /Items/Item[@id=1]\n-level string \"14\"\n+level int 15\n", `level is int 14; want string "14" or int 15`},
		{"no such node", "@ /Items/Item[@id=3]\n-level int 14\n+level int 15\n", "there is no such node"},
		{"several", "@ /Twins/T\n-v int 1\n+v int 2\n", "the path leads to 3 nodes"},
		{"several sheets", "@ /Items\n+v int 2\n", "the path leads to 2 nodes"},
		{"another key", "@ /Items/Item[@id=7]\n-id int 7\n+id int 5\n-level int 2\n+level int 1\n", "already there\nmod:6: /Items/Item[@id=7]: already there"},
		{"attribute gone", "@ /Items/Item[@id=2]\n-name string \"a\"\n", "already there"},
		{"keys", "@ /Items/Item[@id=1]\n-%keys keys id\n+%keys keys id name\n", "applied"},
		{"flags", "@ /Items/Item[@id=1]\n-%flags flags 1\n+%flags flags 2\n", "%flags is flags 0; want flags 1 or flags 2"},
		{"place without context", "@ /Twins/T[2]\n-v int 1\n+v int 2\n", "applied"},
		{"wrong sum", "@ /Twins/T[2]\n /T at 2 of 3 sum 00000001 then 00000002\n-v int 1\n+v int 2\n", "which one is meant can't be told"},
		{"removed", "@- /Items/Item[@id=2]\n-<Item id=\"2\" level=\"20\" dc:keys=\"id\" />\n", "applied"},
		{"removed before", "@- /Items/Item[@id=3]\n-<Item id=\"3\" />\n", "already there"},
		{"another one there", "@- /Items/Item[@id=2]\n-<Item id=\"2\" level=\"21\" dc:keys=\"id\" />\n", "Item level is int 20; want int 21"},
		{"added", "@+ /Items after Item[@id=5]\n+<Item id=\"6\" dc:keys=\"id\" />\n", "applied"},
		{"added before", "@+ /Items after Item[@id=1]\n+<Item id=\"5\" level=\"1\" dc:keys=\"id\" />\n", "already there"},
		{"taken", "@+ /Items after Item[@id=1]\n+<Item id=\"5\" level=\"2\" dc:keys=\"id\" />\n", "there is one already: Item level is int 1; want int 2"},
		{"no neighbour", "@+ /Items after Item[@id=9]\n+<Item id=\"6\" dc:keys=\"id\" />\n", "the path leads to 2 nodes, of which 0 have the sibling"},
		{"no parent", "@+ /Nothing\n+<Item id=\"6\" />\n", "no place to add it: there is no such node"},
		{"sheet", "@+ / after Items[2]\n+<New id=\"6\" />\n", "applied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(t, "mod", tt.blocks)
			_, results := apply(t, shop(t), p)
			got := outcomes(results[0])
			if !strings.HasSuffix(strings.TrimSuffix(got, "\n"), tt.want) && !strings.Contains(got, tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
			rejects := patch.Rejects(results[0])
			if (rejects != nil) != (results[0].Conflicts > 0) {
				t.Errorf("rejects %v of %d conflicts", rejects, results[0].Conflicts)
			}
			if rejects == nil {
				return
			}
			if text := string(reread(t, rejects).Append(nil)); !strings.Contains(text, "\n! mod:3: ") && !strings.Contains(text, "\n! mod:4: ") && !strings.Contains(text, "\n! mod:5: ") {
				t.Errorf("rejects without a reason:\n%s", text)
			}
		})
	}
}

// Of two patches that set one value, the second is judged by what the first left.
func TestTwoPatches(t *testing.T) {
	set := func(name, old, now string) *patch.Patch {
		return parse(t, name, "@ /Items/Item[@id=1]\n-level int "+old+"\n+level int "+now+"\n")
	}
	for _, tt := range []struct {
		second *patch.Patch
		want   string
	}{
		{set("two", "14", "30"), "two:4: /Items/Item[@id=1]: level is int 15; want int 14 or int 30: the patch one set it\n"},
		{set("two", "15", "30"), "two:4: /Items/Item[@id=1]: the patch one set it as well\n"},
		{set("two", "14", "15"), "two:4: /Items/Item[@id=1]: already there\n"},
	} {
		_, results := apply(t, shop(t), set("one", "14", "15"), tt.second)
		if got := outcomes(results[1]); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// A reject whose - line is corrected can be applied.
func TestCorrectedReject(t *testing.T) {
	p := parse(t, "mod", "@ /Items/Item[@id=2]\n-level int 14\n+level int 15\n+name string \"b\"\n")
	d, results := apply(t, shop(t), p)
	text := string(patch.Rejects(results[0]).Append(nil))
	if strings.Contains(text, "name string") {
		t.Errorf("what was applied is rejected:\n%s", text)
	}
	fixed, err := patch.Parse("fixed", []byte(strings.Replace(text, "-level int 14", "-level int 20", 1)))
	if err != nil {
		t.Fatal(err)
	}
	f := saved(t, d)
	if _, results = apply(t, f, fixed); results[0].Applied != 1 {
		t.Error(outcomes(results[0]))
	}
}

// A reject whose place has become another one can be applied once its guard is deleted and its -
// line corrected, but not before, whatever the guards of other places say.
func TestCorrectedPlace(t *testing.T) {
	file := func(first, v any, more ...*dctest.Node) *datacenter.File {
		group := func(n int, v any) *dctest.Node {
			return under(of("G"), of("T", "v", n), of("T", "v", v), of("T", "v", n))
		}
		return open(t, under(of("S"), append([]*dctest.Node{group(1, first), group(1, v)}, more...)...))
	}
	p := makePatch(t, file(1, 1), file(1, 2))
	if b := &p.Blocks[0]; len(p.Blocks) != 1 || len(b.Contexts) != 2 {
		t.Fatalf("want one block with two contexts:\n%s", p.Append(nil))
	}
	next := file(1, 7)
	d, results := apply(t, next, p)
	text := string(patch.Rejects(results[0]).Append(nil))
	if results[0].Conflicts != 1 || !strings.Contains(text, "delete the line with /G") {
		t.Fatalf("%s", text)
	}
	cut := func(text, prefix string) string {
		var kept []string
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, prefix) {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	for _, tt := range []struct {
		text    string
		applied int
		want    string
	}{
		{text, 0, "/G"},
		{strings.Replace(text, "-v int 1", "-v int 7", 1), 0, "/G"},
		{cut(text, " /G"), 0, "/T"},
		{cut(cut(text, " /G"), " /T"), 0, "v is int 7; want int 1 or int 2"},
		{strings.Replace(cut(cut(text, " /G"), " /T"), "-v int 1", "-v int 7", 1), 1, "applied"},
	} {
		fixed, err := patch.Parse("fixed", []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		_, results := apply(t, saved(t, d), reread(t, fixed))
		if got := outcomes(results[0]); results[0].Applied != tt.applied || !strings.Contains(got, tt.want) {
			t.Errorf("%s%s, want %s", tt.text, got, tt.want)
		}
	}
}

// A sheet of which more than half is another one is replaced as a whole.
func TestReplacedSheet(t *testing.T) {
	sheet := func(from, n int) *datacenter.File {
		s := of("S", "id", 1)
		for i := range 20 {
			v := i
			if i < n {
				v += from
			}
			s = under(s, of("R", "name", string(rune('a'+i)), "v", v))
		}
		return open(t, s, of("Other"))
	}
	few, most := makePatch(t, sheet(0, 0), sheet(100, 3)), makePatch(t, sheet(0, 0), sheet(100, 20))
	if len(few.Blocks) != 3 || few.Blocks[0].Kind != patch.Change {
		t.Errorf("%s", few.Append(nil))
	}
	if len(most.Blocks) != 20 {
		t.Errorf("20 of 61 are another one:\n%s", most.Append(nil))
	}
	whole := makePatch(t, open(t, under(of("S", "id", 1), sheetRows(30, "a")...)), open(t, under(of("S", "id", 1), sheetRows(30, "b")...)))
	if len(whole.Blocks) != 2 || whole.Blocks[0].Kind != patch.Remove || whole.Blocks[1].Kind != patch.Add {
		t.Errorf("%s", whole.Append(nil))
	}
}

// The condition with the new value may lead to more than the one with the old value.
func TestReverseOfLikeKeys(t *testing.T) {
	other := keyed(of("A", "id", "1", "v", 2), "id")
	a, b := open(t, keyed(of("A", "id", "01"), "id"), other), open(t, keyed(of("A", "id", 1), "id"), other)
	p := makePatch(t, a, b)
	d, results := apply(t, b, reread(t, p.Reverse()))
	if r := results[0]; r.Conflicts > 0 {
		t.Errorf("%sof\n%s", outcomes(r), p.Append(nil))
	}
	if text := differences(t, saved(t, d), a); text != "" {
		t.Error(text)
	}
}

// What is added to one of several sheets is not there already because a sheet that the patch
// removes holds the same.
func TestAddedAsInRemovedSheet(t *testing.T) {
	kept := under(of("Items", "id", 1, "name", "kept"), of("Item", "v", 1))
	more := under(of("Items", "id", 1, "name", "kept"), of("Item", "v", 1), of("Item", "id", 7))
	gone := under(of("Items", "id", 1), of("Item", "id", 7))
	a, b := open(t, gone, kept), open(t, more)
	text := "lorefs-patch 1\n" +
		"@- /Items[@id=1][1]\n-<Items id=\"1\">\n-    <Item id=\"7\" />\n-</Items>\n" +
		"@+ /Items[@id=1] after Item[@v=1]\n+<Item id=\"7\" />\n"
	p, err := patch.Parse("mod", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d, results := apply(t, a, p)
	if r := results[0]; r.Applied != 2 {
		t.Error(outcomes(r))
	}
	if text := differences(t, saved(t, d), b); text != "" {
		t.Error(text)
	}
}

func sheetRows(n int, name string) (rows []*dctest.Node) {
	for i := range n {
		rows = append(rows, of(name, "v", i))
	}
	return rows
}

// A node that got the id of another one is not taken for that, even if it is equal to it by now: neither
// when it is changed nor when a node is removed, or is added below it or behind it. A node that only
// changed is still known.
func TestIDsGivenToOthers(t *testing.T) {
	type item struct {
		id, level int
		name      string
	}
	file := func(items ...item) *datacenter.File {
		s := of("Items")
		for _, it := range items {
			s.Children = append(s.Children, under(keyed(of("Item", "id", it.id, "level", it.level, "name", it.name), "id"), of("Part", "v", 1)))
		}
		return open(t, s)
	}
	old := []item{{4, 1, "a"}, {5, 1, "b"}, {6, 1, "c"}, {7, 1, "d"}}
	var shifted []item
	for _, it := range old {
		shifted = append(shifted, item{it.id + 1, it.level, it.name})
	}
	f := file(old...)
	five := spots(t, f)[3].number
	for name, edits := range map[string][]edit.Edit{
		"changed":  {{Op: edit.SetAttribute, Node: five, Name: "level", Value: datacenter.IntValue(9)}},
		"below":    {{Op: edit.SetAttribute, Node: five + 4, Name: "v", Value: datacenter.IntValue(9)}},
		"removed":  {{Op: edit.RemoveNode, Node: five}},
		"added to": {{Op: edit.AddNode, Node: 1000, Parent: five, Name: "New"}},
		"behind":   {{Op: edit.AddNode, Node: 1000, Parent: 1, Name: "Item", Ordinal: 60, Rank: 2*edit.RankGap + 1}},
	} {
		d, err := edit.NewDraft(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range edits {
			if edits[i].Op == edit.AddNode {
				edits[i].Node = d.NewNumber()
			}
		}
		if err := d.Apply(t.Context(), edits...); err != nil {
			t.Fatal(err)
		}
		p := makeDraft(t, d, "")
		if _, results := apply(t, f, p, p); results[0].Applied != 1 || results[1].Already != 1 {
			t.Errorf("%s: %s%s", name, outcomes(results[0]), outcomes(results[1]))
		}
		if _, results := apply(t, file(shifted...), p); results[0].Conflicts != 1 || !strings.Contains(outcomes(results[0]), "is another node than") {
			t.Errorf("%s, with other ids: %sof\n%s", name, outcomes(results[0]), p.Append(nil))
		}
		// The one before it has got its id and holds the same by now.
		twins := file(item{5, 1, "b"}, item{6, 1, "b"}, item{7, 1, "e"}, item{8, 1, "d"})
		if _, results := apply(t, twins, p); results[0].Conflicts != 1 {
			t.Errorf("%s, with the id given to a twin: %sof\n%s", name, outcomes(results[0]), p.Append(nil))
		}
		renamed := slices.Clone(old)
		renamed[1].name, renamed[3].name = "other", "another"
		if _, results := apply(t, file(renamed...), p); (results[0].Applied != 1) != (name == "removed") {
			t.Errorf("%s, with another name: %sof\n%s", name, outcomes(results[0]), p.Append(nil))
		}
	}
}
