package nodetest

import (
	"context"
	"path"
	"testing"

	"lorefs/internal/testneeds"
	"lorefs/nodes"
)

// DefaultLimit is the number of nodes that are checked unless [Limit] says otherwise. Where
// [testneeds.Quick] is true it is a fifth of that.
const DefaultLimit = 5000

// Option changes how Run and RunMounted work.
type Option func(*options)

type options struct{ limit int }

// Limit sets the number of nodes to check. The sample has a share of each directory's entries:
// the first, the last and some between. So it also has nodes that are deep or late in the tree.
func Limit(n int) Option { return func(o *options) { o.limit = n } }

func parse(opts []Option) options {
	o := options{limit: DefaultLimit}
	if testneeds.Quick() {
		o.limit /= 5
	}
	for _, f := range opts {
		f(&o)
	}
	return o
}

// sampled is one node of the sample.
type sampled struct {
	path   string
	parent nodes.ID
	entry  nodes.Entry
	// attr is the result of Attr.
	attr nodes.Attr
}

// The share of a directory is a fraction of the limit, so that neither a wide root nor a wide
// level uses up the limit before the sample reaches files.
const (
	shareOfLimit = 16
	minShare     = 4
)

// sampler collects up to limit nodes.
type sampler struct {
	t     testing.TB
	tree  nodes.Tree
	limit int
	out   []sampled
	// dirs has the sampled directories that are not listed yet. rest has the entries beyond the
	// shares of their directories.
	dirs []sampled
	rest []leftover
	// deep says that the newest directory is next, else it is the oldest.
	deep bool
}

type leftover struct {
	dir     sampled
	entries []nodes.Entry
}

// sample returns up to limit nodes: first the share of each directory, then other entries up to
// the limit.
func sample(t testing.TB, tree nodes.Tree, limit int) []sampled {
	t.Helper()
	s := &sampler{t: t, tree: tree, limit: limit, dirs: []sampled{{entry: nodes.Entry{ID: nodes.Root, Kind: nodes.Dir}}}}
	for more := true; more && len(s.out) < limit; {
		more = s.step()
	}
	s.needFile()
	return s.out
}

// step samples one waiting directory, by turns the oldest and the newest, so that the sample
// grows wide and deep.
func (s *sampler) step() bool {
	s.deep = !s.deep
	switch last := len(s.dirs) - 1; {
	case last >= 0 && s.deep:
		d := s.dirs[last]
		s.dirs = s.dirs[:last]
		s.list(d)
	case last >= 0:
		d := s.dirs[0]
		s.dirs = s.dirs[1:]
		s.list(d)
	case len(s.rest) > 0:
		r := s.rest[0]
		s.rest = s.rest[1:]
		s.take(r)
	default:
		return false
	}
	return true
}

func (s *sampler) list(d sampled) {
	entries, err := list(context.Background(), s.tree, d.entry.ID)
	if err != nil {
		s.t.Errorf("ReadDir of %q: %v", d.path, err)
		return
	}
	s.take(leftover{d, entries})
}

// take samples a share of entries and keeps the others for later.
func (s *sampler) take(from leftover) {
	picked, others := pick(from.entries, max(s.limit/shareOfLimit, minShare))
	if len(others) > 0 {
		s.rest = append(s.rest, leftover{from.dir, others})
	}
	for _, e := range picked {
		if len(s.out) == s.limit {
			return
		}
		s.add(from.dir, e)
	}
}

func (s *sampler) add(dir sampled, e nodes.Entry) {
	n := sampled{path: path.Join(dir.path, e.Name), parent: dir.entry.ID, entry: e}
	var err error
	if n.attr, err = s.tree.Attr(context.Background(), e.ID); err != nil {
		s.t.Errorf("Attr of %q: %v", n.path, err)
		return
	}
	if e.Size == nodes.UnknownSize {
		n.entry.Size = n.attr.Size
	}
	s.out = append(s.out, n)
	if e.Kind == nodes.Dir {
		s.dirs = append(s.dirs, n)
	}
}

// needFile fails the test if the tree has files but the sample has none, because the checks of
// content would check nothing.
func (s *sampler) needFile() {
	s.t.Helper()
	for _, n := range s.out {
		if n.entry.Kind == nodes.File {
			return
		}
	}
	for e, err := range nodes.Walk(context.Background(), s.tree, nodes.Root) {
		if err != nil {
			s.t.Fatal(err)
		}
		if e.Kind == nodes.File {
			s.t.Fatalf("none of %d sampled nodes is a file, but %q is one", len(s.out), e.Path)
		}
	}
}

// pick splits entries into n, evenly spaced and with the first and the last, and the others.
func pick(entries []nodes.Entry, n int) (picked, others []nodes.Entry) {
	if len(entries) <= n {
		return entries, nil
	}
	picked = make([]nodes.Entry, 0, n)
	others = make([]nodes.Entry, 0, len(entries)-n)
	for i, e := range entries {
		if i == len(picked)*(len(entries)-1)/(n-1) {
			picked = append(picked, e)
		} else {
			others = append(others, e)
		}
	}
	return picked, others
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
