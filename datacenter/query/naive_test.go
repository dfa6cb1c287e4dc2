package query_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lorefs/datacenter"
)

// The model is a whole tree in memory, and a query is a tree of functions that follow the
// definition of XPath: each step makes a list of a list, each predicate makes it shorter.
// It shares only the grammar with the package.

type modelNode struct {
	name    string
	ordinal int
	attrs   []*modelAttr
	kids    []*modelNode
	parent  *modelNode
	order   int
}

type modelAttr struct {
	name, typ, text string
	of              *modelNode
	order           int
}

// modelOf reads a file whole.
func modelOf(t testing.TB, f *datacenter.File) *modelNode {
	t.Helper()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	order := 0
	m, err := modelNodeOf(root, nil, &order)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func modelNodeOf(n datacenter.Node, parent *modelNode, order *int) (*modelNode, error) {
	m := &modelNode{name: n.Name(), parent: parent, order: *order}
	*order++
	for a, err := range n.Attributes() {
		if err != nil {
			return nil, err
		}
		text, err := a.AppendText(nil)
		if err != nil {
			return nil, err
		}
		m.attrs = append(m.attrs, &modelAttr{a.Name(), a.Type().String(), string(text), m, *order})
		*order++
	}
	seen := map[string]int{}
	for c, err := range n.Children() {
		if err != nil {
			return nil, err
		}
		k, err := modelNodeOf(c, m, order)
		if err != nil {
			return nil, err
		}
		k.ordinal = seen[k.name]
		seen[k.name]++
		m.kids = append(m.kids, k)
	}
	return m, nil
}

func (m *modelNode) path() string {
	if m.parent == nil {
		return ""
	}
	s := m.name
	if m.ordinal > 0 {
		s += "." + strconv.Itoa(m.ordinal)
	}
	return strings.TrimPrefix(m.parent.path()+"/"+s, "/")
}

func (a *modelAttr) path() string {
	s := a.name
	if slices.ContainsFunc(a.of.kids, func(k *modelNode) bool { return k.name == a.name }) {
		s = "@" + s
	}
	return strings.TrimPrefix(a.of.path()+"/"+s, "/")
}

// below returns a node and all below it.
func (m *modelNode) below() []*modelNode {
	all := []*modelNode{m}
	for _, k := range m.kids {
		all = append(all, k.below()...)
	}
	return all
}

// found is a set of nodes and attributes.
type found struct {
	nodes []*modelNode
	attrs []*modelAttr
}

// paths are in the order of the file, each once.
func (f found) paths() []string {
	type at struct {
		order int
		path  string
	}
	var all []at
	for _, n := range f.nodes {
		all = append(all, at{n.order, n.path()})
	}
	for _, a := range f.attrs {
		all = append(all, at{a.order, a.path()})
	}
	slices.SortFunc(all, func(x, y at) int { return cmp.Compare(x.order, y.order) })
	paths := []string{}
	for _, x := range slices.Compact(all) {
		paths = append(paths, x.path)
	}
	return paths
}

// modelStep is a step: its spelling, and what it finds from a list of nodes.
type modelStep struct {
	text string
	find func(from []*modelNode) found
}

// modelCondition is a predicate.
type modelCondition struct {
	text  string
	holds func(n *modelNode, position, last int) bool
}

var modelNames = []string{"A", "B", "C", "몬스터", "*"}

func drawPath(t *rapid.T, depth int, relative bool) modelStep {
	var p modelStep
	count := rapid.IntRange(1, 3).Draw(t, "steps")
	finds := make([]func([]*modelNode) found, 0, count)
	for i := range count {
		deep := rapid.IntRange(0, 2).Draw(t, "deep") == 0
		sep := "/"
		switch {
		case i == 0 && relative:
			sep, deep = "", false
		case deep:
			sep = "//"
		}
		var s modelStep
		if i == count-1 && rapid.Bool().Draw(t, "attribute") {
			s = drawAttributeStep(t)
		} else {
			s = drawNodeStep(t, depth)
		}
		p.text += sep + s.text
		finds = append(finds, func(from []*modelNode) found {
			if deep {
				var all []*modelNode
				for _, n := range from {
					all = append(all, n.below()...)
				}
				from = distinct(all)
			}
			return s.find(from)
		})
	}
	p.find = func(from []*modelNode) (f found) {
		f.nodes = from
		for _, find := range finds {
			f = find(f.nodes)
		}
		return f
	}
	return p
}

// drawNth is a path in parentheses, a place, and a step.
func drawNth(t *rapid.T) modelStep {
	inner, last := drawNodeStep(t, 3), drawNodeStep(t, 3)
	sep := rapid.SampledFrom([]string{"/", "//"}).Draw(t, "separator")
	n := rapid.IntRange(1, 6).Draw(t, "place")
	return modelStep{fmt.Sprintf("(//%s)[%d]%s%s", inner.text, n, sep, last.text), func(from []*modelNode) (f found) {
		f = inner.find(distinct(from[0].below()))
		if n > len(f.nodes) {
			return found{}
		}
		from = f.nodes[n-1 : n]
		if sep == "//" {
			from = from[0].below()
		}
		return last.find(from)
	}}
}

func distinct(nodes []*modelNode) []*modelNode {
	slices.SortFunc(nodes, func(x, y *modelNode) int { return cmp.Compare(x.order, y.order) })
	return slices.Compact(nodes)
}

func drawAttributeStep(t *rapid.T) modelStep {
	name := rapid.SampledFrom([]string{"a", "B", "id", "*", "__value__"}).Draw(t, "attribute name")
	text := "@" + name
	if name == "__value__" {
		text = rapid.SampledFrom([]string{"text()", "@__value__", "@{__value__}"}).Draw(t, "text")
	}
	return modelStep{text, func(from []*modelNode) (f found) {
		for _, n := range from {
			for _, a := range n.attrs {
				if name == "*" || a.name == name {
					f.attrs = append(f.attrs, a)
				}
			}
		}
		return f
	}}
}

func drawNodeStep(t *rapid.T, depth int) modelStep {
	name := rapid.SampledFrom(modelNames).Draw(t, "name")
	s := modelStep{text: name}
	var conditions []modelCondition
	counts := []int{0, 0, 1, 1, 2, 3}
	if depth > 4 {
		counts = counts[:1]
	}
	for range rapid.SampledFrom(counts).Draw(t, "predicates") {
		c := drawPredicate(t, depth+1)
		s.text += "[" + c.text + "]"
		conditions = append(conditions, c)
	}
	s.find = func(from []*modelNode) (f found) {
		for _, n := range from {
			var list []*modelNode
			for _, k := range n.kids {
				if name == "*" || k.name == name {
					list = append(list, k)
				}
			}
			for _, c := range conditions {
				var passed []*modelNode
				for i, k := range list {
					if c.holds(k, i+1, len(list)) {
						passed = append(passed, k)
					}
				}
				list = passed
			}
			f.nodes = append(f.nodes, list...)
		}
		f.nodes = distinct(f.nodes)
		return f
	}
	return s
}

func drawPredicate(t *rapid.T, depth int) modelCondition {
	switch rapid.IntRange(0, 4).Draw(t, "predicate") {
	case 0:
		n := rapid.IntRange(1, 3).Draw(t, "position")
		return modelCondition{strconv.Itoa(n), func(_ *modelNode, position, _ int) bool { return position == n }}
	case 1:
		return modelCondition{"last()", func(_ *modelNode, position, last int) bool { return position == last }}
	}
	return drawCondition(t, depth)
}

func drawCondition(t *rapid.T, depth int) modelCondition {
	kind := rapid.IntRange(0, 8).Draw(t, "condition")
	if depth > 2 {
		kind = max(kind, 4)
	}
	switch kind {
	case 0, 1:
		x, y := drawCondition(t, depth+1), drawCondition(t, depth+1)
		if kind == 0 {
			return modelCondition{"(" + x.text + ") and (" + y.text + ")", func(n *modelNode, p, l int) bool { return x.holds(n, p, l) && y.holds(n, p, l) }}
		}
		return modelCondition{x.text + " or " + y.text, func(n *modelNode, p, l int) bool { return x.holds(n, p, l) || y.holds(n, p, l) }}
	case 2:
		x := drawCondition(t, depth+1)
		return modelCondition{"not(" + x.text + ")", func(n *modelNode, p, l int) bool { return !x.holds(n, p, l) }}
	case 3:
		op := rapid.SampledFrom(operators).Draw(t, "operator")
		if rapid.Bool().Draw(t, "to last") {
			return modelCondition{"position()" + op + "last()", func(_ *modelNode, p, l int) bool { return compares(op, float64(p), float64(l)) }}
		}
		return modelCondition{"2" + op + "position()", func(_ *modelNode, p, _ int) bool { return compares(op, 2, float64(p)) }}
	case 4, 5:
		p := drawPath(t, depth+1, true)
		return modelCondition{p.text, func(n *modelNode, _, _ int) bool {
			f := p.find([]*modelNode{n})
			return len(f.nodes)+len(f.attrs) > 0
		}}
	case 6:
		p := drawPath(t, depth+1, true)
		name, has := "contains", strings.Contains
		if rapid.Bool().Draw(t, "starts-with") {
			name, has = "starts-with", strings.HasPrefix
		}
		part := rapid.SampledFrom([]string{"", "a", "1", "x'y"}).Draw(t, "part")
		return modelCondition{fmt.Sprintf("%s( %s , \"%s\")", name, p.text, part), func(n *modelNode, _, _ int) bool {
			return slices.ContainsFunc(p.values(n), func(a *modelAttr) bool { return has(a.text, part) })
		}}
	}
	return drawComparison(t, depth)
}

// values returns what a path finds; a node stands for its text.
func (s modelStep) values(n *modelNode) []*modelAttr {
	f := s.find([]*modelNode{n})
	for _, k := range f.nodes {
		for _, a := range k.attrs {
			if a.name == "__value__" {
				f.attrs = append(f.attrs, a)
			}
		}
	}
	return f.attrs
}

var operators = []string{"=", "!=", "<", "<=", ">", ">="}

func drawComparison(t *rapid.T, depth int) modelCondition {
	p := drawPath(t, depth+1, true)
	op := rapid.SampledFrom(operators).Draw(t, "operator")
	value := rapid.SampledFrom([]string{"0", "1", "2.5", "-1", "0.1", "true", "false", "abc", "", "x'y", "1e0"}).Draw(t, "value")
	_, err := strconv.ParseFloat(value, 64)
	bare := err == nil && rapid.Bool().Draw(t, "bare")
	text := value
	if word := value == "true" || value == "false"; !bare && (!word || rapid.Bool().Draw(t, "quoted")) {
		text = "'" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	return modelCondition{p.text + " " + op + " " + text, func(n *modelNode, _, _ int) bool {
		return slices.ContainsFunc(p.values(n), func(a *modelAttr) bool { return a.compares(op, value, bare) })
	}}
}

// compares follows the text of the package's documentation.
func (a *modelAttr) compares(op, value string, bare bool) bool {
	y, err := strconv.ParseFloat(value, 64)
	isNumber := err == nil
	ordering := op != "=" && op != "!="
	asText := func() bool {
		return !ordering && (a.text == value) == (op == "=")
	}
	switch a.typ {
	case "int", "float", "bool":
		if !isNumber {
			return asText()
		}
		x, _ := strconv.ParseFloat(a.text, 32)
		if a.typ == "float" {
			return compares(op, x, float64(float32(y)))
		}
		if a.typ == "bool" {
			x = map[string]float64{"true": 1, "false": 0}[a.text]
		}
		return compares(op, x, y)
	}
	if !bare && !ordering {
		return asText()
	}
	x, err := strconv.ParseFloat(a.text, 64)
	if err != nil || !isNumber {
		return op == "!="
	}
	return compares(op, x, y)
}

func compares(op string, x, y float64) bool {
	return map[string]bool{"=": x == y, "!=": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op]
}
