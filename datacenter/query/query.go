package query

import (
	"context"
	"iter"
	"strconv"

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

// Kind is what a Match is.
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
	// XPath is a query that finds only this match: /ItemData[4]/Item[42]/@rank.
	XPath string
	// Node is the node or, for an attribute, the node that has it.
	Node datacenter.Node
	// Attribute is the attribute, if Kind says so.
	Attribute datacenter.Attribute
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
	r := &run{ctx: ctx, file: f, names: names, memos: maxMemos}
	s := r.searcher(q.paths)
	s.path = treepath.NewPath(names)
	s.onNode = func(n datacenter.Node) bool {
		s.found++
		return yield(Match{Path: s.path.Node(), XPath: string(s.appendXPath(nil)), Node: n}, nil)
	}
	s.onAttribute = func(n datacenter.Node, a datacenter.Attribute) bool {
		s.found++
		m := Match{Kind: Attribute, Node: n, Attribute: a}
		if m.Path, r.err = s.path.Attribute(n, a.NameIndex()); r.err != nil {
			return false
		}
		x := append(s.appendXPath(nil), "/@"...)
		m.XPath = string(AppendName(x, a.Name()))
		return yield(m, nil)
	}
	s.start(root)
	return r.err
}

// appendXPath appends the current place as an expression; the root is empty.
func (s *searcher) appendXPath(dst []byte) []byte {
	for i := range s.path.Depth() {
		name, ordinal := s.path.Level(i)
		dst = append(dst, '/')
		dst = AppendName(dst, s.file.Names()[name-1])
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(ordinal)+1, 10)
		dst = append(dst, ']')
	}
	return dst
}
