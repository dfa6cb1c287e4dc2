package labels_test

import (
	"os"
	"testing"

	"lorefs/datacenter/dctest"
	"lorefs/datacenter/labels"
	"lorefs/internal/testneeds"
)

// rows returns a sheet whose children have the numbers from, from+step and so on and, if text is not nil, a text.
func rows(sheet, child, attr string, from, step, n int, text func(i int) string) *dctest.Node {
	s := &dctest.Node{Name: sheet}
	for i := range n {
		c := &dctest.Node{Name: child, Attrs: []dctest.Attr{{Name: "id", Value: from + i*step}}}
		if text != nil {
			c.Attrs = append(c.Attrs, dctest.Attr{Name: attr, Value: text(i)})
		}
		s.Children = append(s.Children, c)
	}
	return s
}

func text(i int) string { return "text " + string(rune('a'+i%26)) }

// TestPairs holds what is found against what it should be: names and numbers have to fit.
func TestPairs(t *testing.T) {
	t.Parallel()
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(
		rows("ItemData", "Item", "", 1000, 17, 40, nil), rows("StrSheet_Item", "String", "string", 1000, 17, 60, text),
		rows("BoardData", "Board", "", 1, 1, 12, nil), rows("StrSheet_Board", "String", "string", 1, 1, 17, text), // dense
		rows("Combine", "One", "", 1, 1, 20, nil), rows("strsheet_combine", "String", "name", 1, 1, 21, text), // dense, and the same
		rows("Few", "One", "", 1000, 100, 5, nil), rows("StrSheet_Few", "String", "string", 1000, 100, 5, text),
		rows("Other", "One", "", 1000, 17, 40, nil), // no texts
		rows("Two", "One", "", 1000, 17, 40, nil), rows("StrSheet_Two", "A", "string", 1000, 17, 40, text), rows("StrSheet_Two", "B", "string", 1000, 17, 40, text),
		rows("Shifted", "One", "", 1000, 17, 40, nil), rows("StrSheet_Shifted", "String", "string", 1001, 17, 40, text),
	)}, dctest.Options{}))
	l := labels.New(f)
	pairs, err := l.Pairs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range pairs {
		got[p.Sheet+"/"+p.Child] = p.Strings
	}
	want := map[string]string{"ItemData/Item": "StrSheet_Item", "Combine/One": "strsheet_combine"}
	for _, m := range []map[string]string{got, want} {
		for k := range m {
			if got[k] != want[k] {
				t.Errorf("%s: %q, want %q", k, got[k], want[k])
			}
		}
	}
}

// TestText reads texts: the one that a number has, and none of two.
func TestText(t *testing.T) {
	t.Parallel()
	strings := rows("StrSheet_Item", "String", "string", 1000, 17, 40, text)
	strings.Children = append(strings.Children, &dctest.Node{Name: "String", Attrs: []dctest.Attr{{Name: "id", Value: 1017}, {Name: "string", Value: "another"}}})
	f := dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(rows("ItemData", "Item", "", 1000, 17, 41, nil), strings)}, dctest.Options{}))
	l := labels.New(f)
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	sheet, _, err := root.Child("ItemData")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for c, err := range sheet.Children() {
		if err != nil {
			t.Fatal(err)
		}
		a, _, _ := c.Attr("id")
		want := text(int(a.Int()-1000) / 17)
		if i := (a.Int() - 1000) / 17; i == 1 || i == 40 {
			want = ""
		}
		got, ok, err := l.Of(t.Context(), sheet, c)
		if err != nil || got != want || ok != (want != "") {
			t.Errorf("%d: %q, %v, %v, want %q", a.Int(), got, ok, err, want)
		}
		n++
	}
	if n != 41 {
		t.Errorf("%d items", n)
	}
}

// TestFixture lists the pairs of a real data center. Somebody has looked at each.
func TestFixture(t *testing.T) {
	testneeds.Slow(t, "reads a large file")
	data, err := os.ReadFile(testneeds.Fixture(t, "datacenter/p100_x64.dat"))
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := labels.New(dctest.Open(t, data)).Pairs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, name := range []string{
		"Abnormality/Abnormal", "CardTemplateData/CardTemplate", "CardCombineList/CombineList", "CoherentGTWeb/UIWindow", "CrestData/CrestItem",
		"EventDialog/Dialog", "HeroSkinData/HeroSkin", "ItemData/Item", "NpcData/Template", "Passivity/Passive", "Seren/String", "ServantData/Servant",
		"ServantAdventureField/Field", "SkillPolishingEffectList/SkillPolishingEffect", "SlashCommand/Command", "TradeBrokerCategory/Category",
	} {
		want[name] = true
	}
	for _, p := range pairs {
		t.Logf("%s/%s by %s: %d of %d", p.Sheet, p.Child, p.Strings, p.Named, p.Nodes)
		if name := p.Sheet + "/" + p.Child; !want[name] {
			t.Errorf("%s by %s: nobody has looked at it", name, p.Strings)
		} else {
			delete(want, name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}
