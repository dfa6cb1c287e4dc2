package patch_test

import (
	"strings"
	"testing"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
)

// settle settles patches and applies them. It returns what they share and what conflicts.
func settle(t *testing.T, f *datacenter.File, order []int, patches ...*patch.Patch) (text string) {
	t.Helper()
	fresh := func() (*datacenter.File, *edit.Draft, error) {
		d, err := edit.NewDraft(f, nil)
		return f, d, err
	}
	s, err := patch.Settle(t.Context(), fresh, patches, &patch.Preference{Order: order})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var thin []*patch.Patch
	for i, p := range patches {
		names = append(names, p.Name)
		thin = append(thin, s.Thin(i, p))
	}
	for i := range s.Shared {
		text += s.Shared[i].Describe(names) + ": " + s.Shared[i].Sharing.String()
		if w := s.Shared[i].Winner; w >= 0 {
			text += " " + names[w]
		}
		text += "\n"
	}
	_, results := apply(t, f, thin...)
	for i, r := range results {
		whole := s.Whole(i, patches[i], r)
		if n := whole.Applied + whole.Already + whole.Conflicts + whole.Yielded; n != len(whole.Items) || whole.Conflicts != r.Conflicts {
			t.Errorf("%s: %+v", names[i], whole)
		}
		text += conflicts(whole)
	}
	return text
}

func TestSettle(t *testing.T) {
	level := func(old, now string) string {
		return "@ /Items/Item[@id=1]\n-level int " + old + "\n+level int " + now + "\n"
	}
	const (
		whole   = "<Item id=\"1\" level=\"14\" name=\"a\" dc:keys=\"id\" />\n"
		removed = "@- /Items/Item[@id=1]\n-" + whole
		moved   = removed + "@+ /Items after Item[@id=5]\n+" + whole
		added   = "@+ /Items after Item[@id=5]\n+<Item id=\"6\" level=\"1\" dc:keys=\"id\" />\n"
		child   = "@+ /Items/Item[@id=1]\n+<Effect v=\"1\" />\n"
		twins   = "@- /Twins\n-<Twins>\n-    <T v=\"1\" />\n-    <T v=\"1\" />\n-    <T v=\"1\" />\n-</Twins>\n@+ /\n+<Twins>\n+    <T v=\"2\" />\n+</Twins>\n"
	)
	const x, y = " of /Items/Item[@id=1]: ", "/Items/Item[@id=1]: "
	for _, tt := range []struct {
		name    string
		patches []string
		// open, first and last are what is shared, and what conflicts, without a preference and with one.
		open, first, last string
	}{
		{
			"values",
			[]string{level("14", "52"), level("14", "58"), level("14", "59")},
			"level" + x + "a 52, b 58, c 59: contested\nb: level is int 52\nc: level is int 52\n",
			"level" + x + "a 52, b 58, c 59: preferred a\n", "level" + x + "a 52, b 58, c 59: preferred c\n",
		},
		{"types", []string{level("14", "5"), strings.ReplaceAll(level("14", "5"), "+level int 5", "+level string \"5\"")}, "level" + x + "a int 5, b string \"5\": contested\nb: level is int 5\n", "level" + x + "a int 5, b string \"5\": preferred a\n", "level" + x + "a int 5, b string \"5\": preferred b\n"},
		{"the same", []string{level("14", "52"), level("14", "52")}, "level" + x + "a 52, b 52: agreed b\n", "", ""},
		{"one on the other", []string{level("14", "52"), level("52", "53"), level("53", "14")}, "level" + x + "a 52, b 53, c 14: agreed c\n", "", ""},
		{
			"one on the other beside one",
			[]string{level("14", "52"), level("14", "58"), level("52", "53")},
			"level" + x + "a 52, b 58, c 53: contested\nb: level is int 52\n",
			"level" + x + "a 52, b 58, c 53: preferred c\n", "level" + x + "a 52, b 58, c 53: preferred c\n",
		},
		{"there already", []string{level("13", "14"), level("14", "15")}, "level" + x + "a 14, b 15: agreed b\n", "", ""},
		{"one does not fit", []string{level("14", "15"), level("7", "8")}, "level" + x + "a 15, b 8 (which does not fit): agreed a\nb: level is int 15\n", "", ""},
		{"none fits", []string{level("7", "15"), level("7", "8")}, "level" + x + "a 15 (which does not fit), b 8 (which does not fit): unfit\na: level is int 14\nb: level is int 14\n", "", ""},
		{
			"removed, then changed",
			[]string{removed, level("14", "15")},
			y + "a removed, b changed: contested\nb: there is no such node\n",
			y + "a removed, b changed: preferred a\n", y + "a removed, b changed: preferred b\n",
		},
		{
			"changed, then removed",
			[]string{level("14", "15"), level("14", "16"), removed},
			y + "a changed, b changed, c removed: contested\nlevel" + x + "a 15, b 16: contested\nb: level is int 15\nc: Item level is int 15\n",
			y + "a changed, b changed, c removed: preferred a\nlevel" + x + "a 15, b 16: preferred a\n",
			y + "a changed, b changed, c removed: preferred c\nlevel" + x + "a 15, b 16: preferred c\n",
		},
		{"added below what is removed", []string{child, removed}, y + "a changed, b removed: contested\nb: Item has 1 children\n", y + "a changed, b removed: preferred a\n", y + "a changed, b removed: preferred b\n"},
		{"both remove", []string{removed, removed}, y + "a removed, b removed: agreed b\n", "", ""},
		{"moved, then changed", []string{moved, level("14", "15")}, y + "a removed, b changed: agreed a\n", "", ""},
		{"changed, then moved", []string{level("14", "15"), moved}, y + "a changed, b removed: contested\nb: Item level is int 15\nb: there is one already\n", y + "a changed, b removed: preferred a\n", y + "a changed, b removed: preferred b\n"},
		{"both add", []string{added, added}, "/Items/Item[@id=6]: a added, b added: agreed b\n", "", ""},
		{"both add another", []string{added, strings.ReplaceAll(added, "level=\"1\"", "level=\"2\""), strings.ReplaceAll(added, "level=\"1\"", "level=\"2\"")}, "/Items/Item[@id=6]: a added, b added, c added: contested\nb: there is one already\nc: there is one already\n", "/Items/Item[@id=6]: a added, b added, c added: preferred a\n", "/Items/Item[@id=6]: a added, b added, c added: preferred c\n"},
		{
			"changes of what one adds",
			[]string{added, "@ /Items/Item[@id=6]\n-level int 1\n+level int 2\n", "@ /Items/Item[@id=6]\n-level int 1\n+level int 3\n"},
			"level of /Items/Item[@id=6]: b 2, c 3: contested\nc: level is int 2\n", "level of /Items/Item[@id=6]: b 2, c 3: preferred b\n", "level of /Items/Item[@id=6]: b 2, c 3: preferred c\n",
		},
		{
			"both replace a sheet",
			[]string{twins, strings.ReplaceAll(twins, "v=\"2\"", "v=\"3\"")},
			"/Twins: a removed, b removed: agreed b\n/Twins: a added, b added: contested\nb: Twins has 1 children\nb: a sheet that the patch replaces\n",
			"/Twins: a removed, b removed: agreed b\n/Twins: a added, b added: preferred a\n", "/Twins: a removed, b removed: agreed b\n/Twins: a added, b added: preferred b\n",
		},
		{"nothing shared", []string{level("14", "15"), "", "@ /Items/Item[@id=2]\n-level int 20\n+level int 21\n"}, "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var patches []*patch.Patch
			for i, blocks := range tt.patches {
				patches = append(patches, parse(t, string(rune('a'+i)), blocks))
			}
			for _, try := range []struct {
				order []int
				want  string
			}{{nil, tt.open}, {[]int{patch.First}, tt.first}, {[]int{patch.Last}, tt.last}} {
				if try.want == "" {
					try.want = tt.open
				}
				got := settle(t, shop(t), try.order, patches...)
				if !alike(got, try.want) {
					t.Errorf("preferring %v:\n%swant\n%s", try.order, got, try.want)
				}
			}
		})
	}
}

// alike reports whether each line of a text has what a line of another one begins with and ends with.
func alike(got, want string) bool {
	lines, wants := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(lines) != len(wants) {
		return false
	}
	for i, w := range wants {
		patchName, what, _ := strings.Cut(w, ": ")
		if lines[i] != w && (!strings.HasPrefix(lines[i], patchName+":") || !strings.Contains(lines[i], what)) {
			return false
		}
	}
	return true
}
