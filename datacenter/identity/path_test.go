package identity_test

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/query"
	"lorefs/internal/testneeds"
)

func open(t testing.TB, sheets ...*dctest.Node) *datacenter.File {
	t.Helper()
	return dctest.Open(t, dctest.Build(dctest.Doc{Root: dctest.Root(sheets...)}, dctest.Options{}))
}

func pathsOf(t testing.TB, f *datacenter.File) *identity.Paths[datacenter.Node] {
	t.Helper()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	return identity.NewPaths(identity.NewFile(t.Context()), root)
}

// steps parses a path below the tree/ of a mount: Item.3 is the fourth Item.
func steps(path string) (list []identity.Step) {
	for name := range strings.SplitSeq(path, "/") {
		name, place, _ := strings.Cut(name, ".")
		s := identity.Step{Name: name}
		s.Place, _ = strconv.Atoi(place)
		list = append(list, s)
	}
	return list
}

// finds returns the paths of the nodes that an expression finds in a file.
func finds(t testing.TB, f *datacenter.File, expr string) (paths []string) {
	t.Helper()
	q, err := query.Compile(expr)
	if err != nil {
		t.Fatal(err)
	}
	for m, err := range q.Run(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, m.Path)
	}
	return paths
}

func of(name string, attrs ...any) *dctest.Node {
	n := &dctest.Node{Name: name}
	for i := 0; i < len(attrs); i += 2 {
		n.Attrs = append(n.Attrs, dctest.Attr{Name: attrs[i].(string), Value: attrs[i+1]})
	}
	return n
}

func under(n *dctest.Node, kids ...*dctest.Node) *dctest.Node {
	n.Children = append(n.Children, kids...)
	return n
}

func keyed(n *dctest.Node, keys ...string) *dctest.Node {
	n.Keys = keys
	return n
}

func TestPaths(t *testing.T) {
	f := open(
		t,
		under(of("Zone", "zoneId", 3), keyed(of("Npc", "tid", 7, "name", "a"), "tid"), keyed(of("Npc", "tid", 7, "name", "b"), "tid"), keyed(of("Npc", "tid", 8), "tid")),
		under(of("Zone", "zoneId", 4), of("Npc", "x", 1)),
		under(of("Shop"), under(of("Item", "id", 1), of("Part"), of("Stat", "id", 9)), of("Item", "id", 2)),
		under(of("Shop"), of("Item", "id", 3), of("Odd", "v", float32(1))),
		under(of("Shop"), of("Item", "id", 4), of("Odd", "v", float32(1)), of("Odd", "v", float32(2))),
		under(of("Text"), of("S", "s", "it's"), of("S", "s", `"`), of("S", "s", `'"`), of("S", "s", "a\nb"), of("S", "s", "07"), of("S", "s", "7")),
		under(of("Many"), of("R", "a", 1, "b", 1, "c", 1), of("R", "a", 1, "b", 2, "c", 1), of("R", "a", 2, "b", 1, "c", 1), of("R", "a", 2, "b", 2, "c", 1), of("R", "a", 2, "b", 2, "c", 2)),
		under(of("Mixed"), of("R", "a", 1), of("R", "a", "1"), of("R", "a", true), of("R", "a", 2)),
		under(of("Twins"), of("R"), of("R"), under(of("R"), of("X")), of("R")),
	)
	p := pathsOf(t, f)
	for path, want := range map[string]string{
		"Zone":             "/Zone[@zoneId=3]",
		"Zone/Npc":         "/Zone[@zoneId=3]/Npc[@name='a']",
		"Zone/Npc.2":       "/Zone[@zoneId=3]/Npc[@tid=8]",
		"Zone.1/Npc":       "/Zone[@zoneId=4]/Npc",
		"Shop.1/Item":      "/Shop/Item[@id=3]",
		"Shop.1":           "/Shop[2]",
		"Shop/Item/Stat":   "/Shop/Item[@id=1]/Stat[@id=9]",
		"Shop/Item/Part":   "/Shop/Item[@id=1]/Part",
		"Shop.2/Odd.1":     "(/Shop/Odd)[3]",
		"Text/S":           `/Text/S[@s="it's"]`,
		"Text/S.1":         `/Text/S[@s='"']`,
		"Text/S.2":         `/Text/S[@s="'"""]`,
		"Text/S.3":         "/Text/S[4]",
		"Text/S.4":         "/Text/S[@s='07']",
		"Text/S.5":         "/Text/S[@s='7']",
		"Many/R":           "/Many/R[@a=1 and @b=1]",
		"Many/R.3":         "/Many/R[@a=2 and @b=2 and @c=1]",
		"Many/R.4":         "/Many/R[@c=2]",
		"Mixed/R.1":        "/Mixed/R[2]",
		"Twins/R.2":        "/Twins/R[3]",
		"Twins/R.2/X":      "/Twins/R[3]/X",
		"Shop.2/Item/Part": "",
	} {
		got, err := p.Find(steps(path))
		if want == "" {
			if !errors.Is(err, identity.ErrNoNode) {
				t.Errorf("%s: %s, %v", path, got, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if found := finds(t, f, got); !slices.Equal(found, []string{path}) {
			t.Errorf("%s: %s finds %s", path, got, found)
		}
	}
}

// TestPathsWithoutWhatChanges checks that paths do not use attributes that are about to
// change, except for keys and ids.
func TestPathsWithoutWhatChanges(t *testing.T) {
	p := pathsOf(t, open(t, under(of("S"), of("R", "name", "a", "v", 1), of("R", "name", "b", "v", 2), of("I", "id", 1), of("I", "id", 2))))
	for _, tt := range []struct {
		step identity.Step
		want string
	}{
		{identity.Step{Name: "R"}, "/S/R[@name='a']"},
		{identity.Step{Name: "R", Changing: []string{"name"}}, "/S/R[@v=1]"},
		{identity.Step{Name: "R", Place: 1, Changing: []string{"name", "v"}}, "/S/R[2]"},
		{identity.Step{Name: "I", Place: 1, Changing: []string{"id"}}, "/S/I[@id=2]"},
	} {
		if got, err := p.Find([]identity.Step{{Name: "S"}, tt.step}); err != nil || got != tt.want {
			t.Errorf("%+v: %s, %v: want %s", tt.step, got, err, tt.want)
		}
	}
}

// TestTooManyToTellApart checks a small file whose nodes would not fit into memory.
func TestTooManyToTellApart(t *testing.T) {
	testneeds.Slow(t, "makes a large file")
	many := slices.Repeat([]*dctest.Node{of("R")}, 65_535)
	f := open(t, slices.Repeat([]*dctest.Node{under(of("S"), many...)}, 17)...)
	p := pathsOf(t, f)
	if got, err := p.Find(steps("S/R")); !errors.Is(err, identity.ErrTooMany) {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := p.Find(steps("S.16")); err != nil || got != "/S[17]" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestPathsFindOneNode checks that the path of every node finds this node only.
func TestPathsFindOneNode(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var draw func(depth int) *dctest.Node
		draw = func(depth int) *dctest.Node {
			n := &dctest.Node{Name: rapid.SampledFrom([]string{"A", "B"}).Draw(rt, "name")}
			for _, name := range []string{"id", "xId", "name", "v", "w"} {
				if rapid.IntRange(0, 2).Draw(rt, "has") == 0 {
					n.Attrs = append(n.Attrs, dctest.Attr{Name: name, Value: rapid.SampledFrom([]any{
						1, 2, 1, 2, 1, "1", "01", "x", "x'y", "", "\x01", float32(1), float32(0.1), true, float32(0), dctest.Raw{Type: 2, Value: 1 << 31}, dctest.Raw{Type: 2, Value: 0x7fc00000},
					}).Draw(rt, "value")})
				}
			}
			n.Keys = rapid.SampledFrom([][]string{nil, nil, {"xId"}, {"xId", "w"}, {"v"}}).Draw(rt, "keys")
			if depth < 3 {
				for range rapid.IntRange(0, 4).Draw(rt, "children") {
					n.Children = append(n.Children, draw(depth+1))
				}
			}
			return n
		}
		root := dctest.Root()
		for range rapid.IntRange(1, 5).Draw(rt, "sheets") {
			root.Children = append(root.Children, draw(0))
		}
		f := dctest.Open(t, dctest.Build(dctest.Doc{Root: root}, dctest.Options{}))
		p := pathsOf(t, f)
		for _, path := range finds(t, f, "//*") {
			list := steps(path)
			for i := range list {
				list[i].Changing = rapid.SampledFrom([][]string{nil, {"name"}, {"v", "w"}}).Draw(rt, "changing")
			}
			expr, err := p.Find(list)
			if err != nil {
				rt.Fatal(err)
			}
			if found := finds(t, f, expr); !slices.Equal(found, []string{path}) {
				rt.Fatalf("%s: %s finds %s", path, expr, found)
			}
			if placed := regexp.MustCompile(`^/[AB]\[\d+\]/`); placed.MatchString(expr) {
				rt.Fatalf("%s: a sheet is told by its place in %s", path, expr)
			}
		}
	})
}

// BenchmarkPaths finds paths of 100,000 nodes anywhere in a real data center.
func BenchmarkPaths(b *testing.B) {
	data, err := os.ReadFile(testneeds.Fixture(b, "datacenter/p100_x64.dat"))
	if err != nil {
		b.Fatal(err)
	}
	f := dctest.Open(b, data)
	root, err := f.Root()
	if err != nil {
		b.Fatal(err)
	}
	sheets := childrenOf(b, root)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same nodes each time
	all := make([][]identity.Step, 100_000)
	for i := range all {
		number := random.Uint32N(sheets[len(sheets)-1].end)
		top, _ := slices.BinarySearchFunc(sheets, number, func(c childAt, n uint32) int { return cmp.Compare(c.end, n+1) })
		all[i] = stepsTo(b, []identity.Step{sheets[top].step}, sheets[top].node, number-sheets[top].begin)
	}
	for b.Loop() {
		p := identity.NewPaths(identity.NewFile(b.Context()), root)
		longest := time.Duration(0)
		for _, s := range all {
			begin := time.Now()
			if _, err := p.Find(s); err != nil {
				b.Fatal(err)
			}
			longest = max(longest, time.Since(begin))
		}
		b.ReportMetric(float64(longest.Milliseconds()), "ms-longest")
	}
}

// childAt is a child, the step to it, and the numbers of the entries in it and below it.
type childAt struct {
	node       datacenter.Node
	step       identity.Step
	begin, end uint32
}

func childrenOf(b *testing.B, n datacenter.Node) (list []childAt) {
	next, places := uint32(0), map[string]int{}
	for c, err := range n.Children() {
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, childAt{c, identity.Step{Name: c.Name(), Place: places[c.Name()]}, next, next + c.Entries()})
		next += c.Entries()
		places[c.Name()]++
	}
	return list
}

// stepsTo appends the steps from n to the node that is, or has, the entry with a number.
func stepsTo(b *testing.B, list []identity.Step, n datacenter.Node, number uint32) []identity.Step {
	if number <= uint32(n.AttributeCount()) {
		return list
	}
	number -= 1 + uint32(n.AttributeCount())
	for _, c := range childrenOf(b, n) {
		if number < c.end {
			return stepsTo(b, append(list, c.step), c.node, number-c.begin)
		}
	}
	return list
}
