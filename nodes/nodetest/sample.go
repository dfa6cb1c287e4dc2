package nodetest

import (
	"context"
	"path"
	"testing"

	"lorefs/nodes"
)

// DefaultLimit is how many nodes are checked unless [Limit] says otherwise.
const DefaultLimit = 5000

// Option changes what Run and RunMounted do.
type Option func(*options)

type options struct{ limit int }

// Limit sets the number of nodes to check. The sample takes a share of each
// directory's entries, the first, the last and some between, so that deep and
// late parts are seen as well.
func Limit(n int) Option { return func(o *options) { o.limit = n } }

func parse(opts []Option) options {
	o := options{limit: DefaultLimit}
	for _, f := range opts {
		f(&o)
	}
	return o
}

// sampled is one node under test.
type sampled struct {
	path   string
	parent nodes.ID
	entry  nodes.Entry
	// attr is what the tree tells of the node itself.
	attr nodes.Attr
}

// dirShare is how many entries of a directory are looked at once the tree
// turns out larger than the limit.
const dirShare = 64

// sample collects up to limit nodes, breadth first, so that no first subtree
// uses up the limit.
func sample(t testing.TB, tree nodes.Tree, limit int) []sampled {
	t.Helper()
	ctx := context.Background()
	var out []sampled
	queue := []sampled{{path: "", entry: nodes.Entry{ID: nodes.Root, Kind: nodes.Dir}}}
	for len(queue) > 0 && len(out) < limit {
		d := queue[0]
		queue = queue[1:]
		entries, err := list(ctx, tree, d.entry.ID)
		if err != nil {
			t.Errorf("ReadDir of %q: %v", d.path, err)
			continue
		}
		for _, e := range pick(entries, max(dirShare, limit/(len(queue)+1))) {
			attr, err := tree.Attr(ctx, e.ID)
			if err != nil {
				t.Errorf("Attr of %q: %v", path.Join(d.path, e.Name), err)
				continue
			}
			s := sampled{path: path.Join(d.path, e.Name), parent: d.entry.ID, entry: e, attr: attr}
			out = append(out, s)
			if e.Kind == nodes.Dir {
				queue = append(queue, s)
			}
		}
	}
	if len(out) > limit {
		out = out[:limit]
	}
	return out
}

// pick takes n entries evenly, with the first and the last.
func pick(entries []nodes.Entry, n int) []nodes.Entry {
	if len(entries) <= n {
		return entries
	}
	out := make([]nodes.Entry, 0, n)
	for i := range n {
		out = append(out, entries[i*(len(entries)-1)/(n-1)])
	}
	return out
}

func list(ctx context.Context, tree nodes.Tree, dir nodes.ID) ([]nodes.Entry, error) {
	var entries []nodes.Entry
	for e, err := range tree.ReadDir(ctx, dir, 0) {
		if err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}
