package identity_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/internal/align"
)

// node is a node in no file, like those of a sheet that was just parsed.
type node struct {
	name  string
	attrs []attr
	kids  []*node
}

type attr struct{ name, text string }

type parsed struct{}

func (parsed) Attributes(n *node, visit func(name string, typ datacenter.Type, text []byte)) error {
	for _, a := range n.attrs {
		visit(a.name, 0, []byte(a.text))
	}
	return nil
}

func (parsed) Children(n *node, visit func(name string, child *node)) error {
	for _, k := range n.kids {
		visit(k.name, k)
	}
	return nil
}

func (parsed) Run(*node) (datacenter.Run, bool) { return datacenter.Run{}, false }

// row makes a node from attributes such as id=1 and children, each in parentheses.
func row(text string) *node {
	n := &node{name: "Row"}
	for word := range strings.FieldsSeq(text) {
		if inner, ok := strings.CutPrefix(word, "("); ok {
			n.kids = append(n.kids, row(strings.TrimSuffix(inner, ")")))
			continue
		}
		name, value, _ := strings.Cut(word, "=")
		n.attrs = append(n.attrs, attr{name, value})
	}
	return n
}

func rows(texts []string) identity.Siblings[*node] {
	s := identity.Siblings[*node]{Contents: identity.NewContents(parsed{})}
	for _, text := range texts {
		s.Nodes = append(s.Nodes, row(text))
	}
	return s
}

func none(n int) []int32 { return slices.Repeat([]int32{align.None}, n) }

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		name string
		keys []string
		p, q []string
		want []int32
	}{
		{"keys", []string{"k"}, []string{"k=1 v=1", "k=2 v=2", "k=3"}, []string{"k=3", "k=1 v=9", "k=4 v=2"}, []int32{1, -1, 0}},
		{"several of one key", []string{"k"}, []string{"k=1 v=1", "k=1 v=2"}, []string{"k=1 v=3", "k=1 v=4", "k=1"}, []int32{0, 1}},
		{"one of two keys", []string{"k", "l"}, []string{"k=1 l=1"}, []string{"k=1 l=2"}, []int32{-1}},
		{"an id", nil, []string{"id=1 v=1", "id=2 v=2"}, []string{"id=2 v=1", "id=3 v=2"}, []int32{-1, 0}},
		{"an id twice", nil, []string{"id=1 v=1", "id=1 v=2"}, []string{"id=1 v=2", "id=1 v=1"}, []int32{1, 0}},
		{"equal ones that moved", nil, []string{"v=1", "v=2", "v=3"}, []string{"v=3", "v=1", "v=2"}, []int32{1, 2, 0}},
		{"equal ones below", nil, []string{"(v=1) v=1", "(v=2) v=1"}, []string{"(v=2) v=1", "(v=1) v=1"}, []int32{1, 0}},
		{"the same values by other names", nil, []string{"v=1 w=2", "v=2 w=1"}, []string{"v=2 w=1", "v=8 w=9"}, []int32{-1, 0}},
		{"another spelling", nil, []string{"v=1 w=a", "v=2 w=a"}, []string{"v=2.0 w=a", "v=01 w=a"}, []int32{1, 0}},
		{"a name", nil, []string{"name=a v=1", "name=b v=2", "name=c v=3"}, []string{"name=c v=9", "name=a v=8", "name=b v=7"}, []int32{1, 2, 0}},
		{"two names", nil, []string{"xId=1 yId=1 v=1", "xId=1 yId=2 v=2", "xId=2 yId=1 v=3"}, []string{"xId=2 yId=1 v=9", "xId=1 yId=1 v=8", "xId=1 yId=2 v=7"}, []int32{1, 2, 0}},
		{"another name", nil, []string{"name=a v=1", "name=b v=2"}, []string{"name=x v=1", "name=b v=2"}, []int32{0, 1}},
		{"values that are for nothing", nil, []string{"v=1", "v=2", "v=3"}, []string{"v=4", "v=2", "v=1 w=1"}, []int32{0, 1, 2}},
		{"the place", nil, []string{"v=1", "v=2"}, []string{"v=3", "v=4", "v=5"}, []int32{0, 1}},
		{"nothing", nil, nil, []string{"v=3"}, nil},
	} {
		to := none(len(tt.p))
		if err := identity.Match(rows(tt.p), rows(tt.q), tt.keys, to); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(to, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, to, tt.want)
		}
	}
}

// TestMatchIsOneToOne checks that each node has one match at most, that matches which were
// given stay, and that of equal nodes none is left over on both sides.
func TestMatchIsOneToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"id", "k", "name", "v"}), 0, 4, rapid.ID).Draw(t, "names")
			for i := range names {
				names[i] += fmt.Sprint("=", rapid.IntRange(0, 3).Draw(t, "value"))
			}
			slices.Sort(names)
			return strings.Join(names, " ")
		}), 0, 12)
		p, q := draw.Draw(t, "p"), draw.Draw(t, "q")
		keys := rapid.SampledFrom([][]string{nil, {"k"}, {"k", "name"}}).Draw(t, "keys")
		to := none(len(p))
		known := len(p) > 0 && len(q) > 0 && rapid.Bool().Draw(t, "known")
		if known {
			to[0] = int32(len(q) - 1)
		}
		if err := identity.Match(rows(p), rows(q), keys, to); err != nil {
			t.Fatal(err)
		}
		if known && to[0] != int32(len(q)-1) {
			t.Fatalf("%v: the first is not what it was", to)
		}
		taken := map[int32]bool{}
		for _, j := range to {
			if j != align.None && taken[j] {
				t.Fatalf("%v: %d comes twice", to, j)
			}
			taken[j] = true
		}
		for i, j := range to {
			for k := range q {
				if j == align.None && !taken[int32(k)] && p[i] == q[k] {
					t.Fatalf("%v: %q is left over on both sides", to, p[i])
				}
			}
		}
	})
}
