package patch_test

import (
	"strings"
	"testing"

	"lorefs/datacenter/patch"
)

// What is rejected of a node that has another key now is found by that.
func TestRejectsOfAnotherKey(t *testing.T) {
	p := parse(t, "mod", "@ /Items/Item[@id=1]\n-id int 1\n+id int 9\n-level int 13\n+level int 30\n@+ /Items/Item[@id=1]\n+<Sub />\n@ /Items/Item[@id=1]/Sub\n+v int 1\n")
	d, results := apply(t, shop(t), p)
	want := "mod:4: /Items/Item[@id=1]: applied\nmod:6: /Items/Item[@id=1]: level is int 14; want int 13 or int 30\n" +
		"mod:8: /Items/Item[@id=1]: applied\nmod:11: /Items/Item[@id=1]/Sub: there is no such node\n"
	if got := outcomes(results[0]); got != want {
		t.Fatalf("%swant\n%s", got, want)
	}
	text := string(patch.Rejects(results[0]).Append(nil))
	fixed, err := patch.Parse("fixed", []byte(strings.Replace(text, "-level int 13", "-level int 14", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, results = apply(t, saved(t, d), fixed); results[0].Conflicts > 0 {
		t.Errorf("%sof\n%s", outcomes(results[0]), text)
	}
}

// A node that has the key that the patch gives to another one is not changed: only what is
// as after the patch is there already.
func TestKeyOfAnother(t *testing.T) {
	p := parse(t, "mod", "@ /Items/Item[@id=7]\n-id int 7\n+id int 2\n-level int 20\n+level int 21\n@+ /Items/Item[@id=7]\n+<Sub />\n")
	_, results := apply(t, shop(t), p)
	const none = "there is no such node, but one of the values that the patch gives it"
	want := "mod:4: /Items/Item[@id=7]: already there\nmod:6: /Items/Item[@id=7]: " + none + "; of that, level is int 20; want int 21\n" +
		"mod:8: /Items/Item[@id=7]: no place to add it: " + none + "\n"
	if got := outcomes(results[0]); got != want {
		t.Errorf("%swant\n%s", got, want)
	}
}

// A patch is a set: of blocks that want different things, one is applied, and the others
// are conflicts with their lines. None of them keeps the rest from being applied.
func TestContradictions(t *testing.T) {
	const item = "<Item id=\"1\" level=\"14\" name=\"a\" dc:keys=\"id\" />\n"
	for _, tt := range []struct{ name, blocks, want string }{
		{
			"one value twice", "@ /Items/Item[@id=1]\n-level int 14\n+level int 15\n@ /Items/Item[@name='a']\n-level int 14\n+level int 16\n",
			"mod:4: /Items/Item[@id=1]: applied\nmod:7: /Items/Item[@name='a']: level is to be int 16, and by another block of the patch int 15\n",
		},
		{
			"one value, and what it is", "@ /Items/Item[@id=1]\n-level int 1\n+level int 14\n@ /Items/Item[@id=1]\n-level int 14\n+level int 16\n",
			"mod:4: /Items/Item[@id=1]: already there\nmod:7: /Items/Item[@id=1]: level is to be int 16, and by another block of the patch int 14\n",
		},
		{
			"the same twice", "@ /Items/Item[@id=1]\n-level int 14\n+level int 15\n@ /Items/Item[@id=1]\n-level int 14\n+level int 15\n",
			"mod:4: /Items/Item[@id=1]: applied\nmod:7: /Items/Item[@id=1]: applied\n",
		},
		{
			"changed and removed", "@ /Items/Item[@id=1]\n-level int 14\n+level int 15\n@- /Items/Item[@id=1]\n-" + item,
			"mod:4: /Items/Item[@id=1]: line 6 of the patch removes it\nmod:6: /Items/Item[@id=1]: applied\n",
		},
		{
			"below what is removed",
			"@- /Twins\n-<Twins>\n-<T v=\"1\" />\n-<T v=\"1\" />\n-<T v=\"1\" />\n-</Twins>\n@- /Twins/T[2]\n-<T v=\"1\" />\n@ /Twins/T[1]\n-v int 1\n+v int 2\n@+ /Twins\n+<T v=\"5\" />\n",
			"mod:3: /Twins: applied\nmod:9: /Twins/T[2]: applied\nmod:12: /Twins/T[1]: line 3 of the patch removes it\nmod:14: /Twins: no place to add it: line 3 of the patch removes that\n",
		},
		{
			"one node twice", "@+ /Items after Item[@id=1]\n+<Item id=\"7\" dc:keys=\"id\" />\n@+ /Items after Item[@id=2]\n+<Item id=\"7\" dc:keys=\"id\" />\n",
			"mod:3: /Items: applied\nmod:5: /Items: line 3 of the patch adds the same\n",
		},
		{
			"added and changed", "@+ /Items after Item[@id=1]\n+<Item id=\"7\" dc:keys=\"id\" />\n@ /Items/Item[@id=7]\n+v int 1\n",
			"mod:3: /Items: applied\nmod:6: /Items/Item[@id=7]: there is no such node\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, results := apply(t, shop(t), parse(t, "mod", tt.blocks))
			if got := outcomes(results[0]); got != tt.want {
				t.Errorf("%swant\n%s", got, tt.want)
			}
		})
	}
}
