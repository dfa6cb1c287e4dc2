package query

import (
	"context"
	"iter"

	"lorefs/datacenter"
	"lorefs/datacenter/treepath"
)

// Query is a compiled expression. It is safe for parallel use.
type Query struct{ paths []path }

// Compile parses an expression, whose names and texts are WTF-8. The error is a
// [SyntaxError].
func Compile(expr string) (*Query, error) {
	paths, err := parse(expr)
	if err != nil {
		return nil, err
	}
	return &Query{paths: paths}, nil
}

// Kind says whether a Match is a node or an attribute.
type Kind uint8

// The kinds of matches.
const (
	Node Kind = iota
	Attribute
)

// String returns "node" or "attribute".
func (k Kind) String() string {
	if k == Attribute {
		return "attribute"
	}
	return "node"
}

// Match is one node or attribute that a query found.
type Match struct {
	Kind Kind
	// Path is its path below the tree/ of a mount: ItemData.3/Item.41/rank.
	Path string
	// Steps lead to Node. Each has a name and a place.
	Steps []PlainStep
	// Node is the node or, for an attribute, the node that has it.
	Node datacenter.Node
	// Attribute is the attribute, if Kind says so.
	Attribute datacenter.Attribute
}

// XPath returns a query that finds only this match: /ItemData[4]/Item[42]/@rank.
func (m *Match) XPath() string {
	x := AppendPlain(nil, m.Steps)
	if m.Kind == Attribute {
		x = AppendName(append(x, "/@"...), m.Attribute.Name())
	}
	return string(x)
}

// Run yields what q finds in f, in the order of a walk: a node, its attributes, its
// children. An error comes last: of ctx, of the file, or because two names of the file are
// the same text.
func (q *Query) Run(ctx context.Context, f *datacenter.File) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		if err := q.run(ctx, f, yield); err != nil {
			yield(Match{}, err)
		}
	}
}

func (q *Query) run(ctx context.Context, f *datacenter.File, yield func(Match, error) bool) error {
	names, err := treepath.NewNames(f)
	if err != nil {
		return err
	}
	root, err := f.Root()
	if err != nil {
		return err
	}
	r := &evaluation{ctx: ctx, file: f, names: names, memos: maxMemos}
	s := r.searcher(q.paths)
	s.path = treepath.NewPath(names)
	s.onNode = func(n datacenter.Node) bool {
		s.found++
		return yield(Match{Path: s.path.Node(), Steps: s.way(), Node: n}, nil)
	}
	s.onAttribute = func(n datacenter.Node, a datacenter.Attribute) bool {
		s.found++
		m := Match{Kind: Attribute, Steps: s.way(), Node: n, Attribute: a}
		if m.Path, r.err = s.path.Attribute(n, a.NameIndex()); r.err != nil {
			return false
		}
		return yield(m, nil)
	}
	s.start(root)
	return r.err
}

// way returns the steps to the current place.
func (s *searcher) way() []PlainStep {
	steps := make([]PlainStep, s.path.Depth())
	for i := range steps {
		name, ordinal := s.path.Level(i)
		steps[i] = PlainStep{Name: s.file.Names()[name-1], Nth: ordinal + 1}
	}
	return steps
}
