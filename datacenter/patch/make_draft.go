package patch

import (
	"context"
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/internal/align"
)

// MakeDraft makes the patch that does to the base of a draft, the file that was saved last,
// what the draft did to it when the Snapshot was taken. name is what the header calls the
// base.
func MakeDraft(ctx context.Context, s *edit.Snapshot, name string) (*Patch, error) {
	r := s.Reader()
	m, err := newMaker(ctx, newView(ctx, own(r.Base()), nil), newView(ctx, own(r.First()), r))
	if err != nil {
		return nil, err
	}
	if r.Base() == r.First() {
		m.now.hashes.Share(m.old.hashes)
	}
	x, err := m.old.view.root()
	if err != nil {
		return nil, err
	}
	y, err := m.now.view.root()
	if err != nil {
		return nil, err
	}
	v := draftVisitor{m, r}
	if err := v.node(x, y, nil, nil); err != nil {
		return nil, err
	}
	return m.patch(r.Base(), name)
}

// own returns a file for one goroutine, which reads it faster.
func own(f *datacenter.File) *datacenter.File { return f.Private(datacenter.MostPrivate / 2).File }

// draftVisitor notes what differs between the base of a draft and the draft.
type draftVisitor struct {
	*maker
	snapshot *edit.Reader
}

// node looks at a node of the file and at what became of it.
func (v draftVisitor) node(x, y node, old, now way) error {
	if !y.touched {
		return nil
	}
	before := len(v.list)
	if err := v.changed(old, now); err != nil {
		return err
	}
	if d := v.list[len(v.list)-1]; len(d.lines) == 0 {
		v.list = v.list[:before]
	}
	xs, err := v.byName(v.old.view, x)
	if err != nil {
		return err
	}
	ys, err := v.byName(v.now.view, y)
	if err != nil {
		return err
	}
	var names []string
	for name := range xs {
		names = append(names, name)
	}
	for name := range ys {
		if xs[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := v.siblings(xs[name], ys[name], old, now); err != nil {
			return err
		}
	}
	return nil
}

// byName gives the children of a node by their names.
func (v draftVisitor) byName(w *view, n node) (map[string][]wayStep, error) {
	m := map[string][]wayStep{}
	err := w.Children(n, func(name string, c node) {
		m[name] = append(m[name], wayStep{name, len(m[name]), c})
	})
	return m, err
}

// siblings looks at the children of one name, in the order in which they are now.
func (v draftVisitor) siblings(xs, ys []wayStep, old, now way) error {
	if same, err := v.same(xs, ys); !same || err != nil {
		if err == nil {
			err = v.others(xs, ys, old, now)
		}
		return err
	}
	for i, x := range xs {
		if ys[i].node.touched {
			if err := v.node(x.node, ys[i].node, old.child(x), now.child(ys[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// same reports whether siblings are the same nodes in the same order.
func (v draftVisitor) same(xs, ys []wayStep) (bool, error) {
	if len(xs) != len(ys) {
		return false, nil
	}
	for i := range xs {
		if n, err := v.snapshot.Number(ys[i].node.number); n != xs[i].node.number || err != nil {
			return false, err
		}
	}
	return true, nil
}

// others looks at siblings that are not the same nodes as before.
func (v draftVisitor) others(xs, ys []wayStep, old, now way) error {
	of, err := v.match(xs, ys)
	if err != nil {
		return err
	}
	if err := v.untwine(xs, ys, of); err != nil {
		return err
	}
	to := slices.Repeat([]int32{align.None}, len(ys)) // its inverse
	for i, j := range of {
		if j != align.None {
			to[j] = int32(i)
		}
	}
	stays, err := v.stays(xs, ys, to)
	if err != nil {
		return err
	}
	v.pair(xs, ys, to, stays)
	for i, x := range xs {
		if of[i] == align.None {
			if err := v.removed(old.child(x), now); err != nil {
				return err
			}
		}
	}
	for j, y := range ys {
		var err error
		switch {
		case to[j] == align.None:
			err = v.added(old, now.child(y))
		case stays[j]:
			x := xs[to[j]]
			err = v.node(x.node, y.node, old.child(x), now.child(y))
		default:
			err = v.moved(old.child(xs[to[j]]), now.child(y))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// match tells which of ys belongs to each of xs: that which has its number in the base, and
// of what is new that which package identity takes for the same.
func (v draftVisitor) match(xs, ys []wayStep) ([]int32, error) {
	places := make(map[edit.Number]int32, len(ys))
	for j, y := range ys {
		number, err := v.snapshot.Number(y.node.number)
		if err != nil {
			return nil, err
		}
		places[number] = int32(j)
	}
	to := make([]int32, len(xs))
	for i, x := range xs {
		to[i] = align.None
		if j, ok := places[x.node.number]; ok {
			to[i] = j
		}
	}
	if len(xs) == 0 || len(ys) == 0 {
		return to, nil
	}
	keys := v.old.view.Keys(xs[0].node)
	if len(keys) == 0 {
		keys = v.now.view.Keys(ys[0].node)
	}
	nodes := func(list []wayStep) (nodes []node) {
		for _, s := range list {
			nodes = append(nodes, s.node)
		}
		return nodes
	}
	p := identity.Siblings[node]{Contents: identity.NewContents[node](v.old.view), Nodes: nodes(xs)}
	q := identity.Siblings[node]{Contents: identity.NewContents[node](v.now.view), Nodes: nodes(ys)}
	return to, identity.Match(p, q, keys, to)
}

// untwine gives equal nodes that passed each other the partners that have their order: nobody
// could tell afterwards whether such a move was applied.
func (v draftVisitor) untwine(xs, ys []wayStep, of []int32) error {
	if !slices.Contains(align.Ascending(of), false) {
		return nil
	}
	before, err := hashesOf(v.old, xs)
	if err != nil {
		return err
	}
	after, err := hashesOf(v.now, ys)
	if err != nil {
		return err
	}
	if slices.Equal(before, after) {
		for i := range of {
			of[i] = int32(i)
		}
		return nil
	}
	equal, partners := map[uint64][]int{}, map[uint64][]int32{}
	for i, j := range of {
		if h := before[i]; j != align.None && after[j] == h {
			equal[h], partners[h] = append(equal[h], i), append(partners[h], j)
		}
	}
	for h, list := range partners {
		slices.Sort(list)
		for k, i := range equal[h] {
			of[i] = list[k]
		}
	}
	return nil
}

// hashesOf returns the hashes of what siblings hold.
func hashesOf(r *resolver, list []wayStep) ([]uint64, error) {
	hashes := make([]uint64, len(list))
	for i, s := range list {
		var err error
		if hashes[i], err = r.hashes.Hash(s.node); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// stays tells which siblings no other has passed. Keys order siblings with different ones, so
// only those count that have equal keys, now or before: where keys change, those from before no
// longer tell how equal ones were ordered, which the patch reversed has to know.
func (v draftVisitor) stays(xs, ys []wayStep, to []int32) ([]bool, error) {
	stays := make([]bool, len(ys))
	before, after := make([]string, len(ys)), make([]string, len(ys))
	for j, y := range ys {
		if stays[j] = to[j] != align.None; !stays[j] {
			continue
		}
		var err error
		if before[j], err = keysOf(v.old.view, xs[to[j]].node); err != nil {
			return nil, err
		}
		if after[j], err = keysOf(v.now.view, y.node); err != nil {
			return nil, err
		}
	}
	for _, keys := range [][]string{after, before} {
		keepAscending(keys, to, stays)
	}
	return stays, nil
}

// pair notes which siblings belong together where those that stay have another order now.
func (v draftVisitor) pair(xs, ys []wayStep, to []int32, stays []bool) {
	var staying []int32
	for j := range ys {
		if stays[j] {
			staying = append(staying, to[j])
		}
	}
	if slices.IsSorted(staying) {
		return
	}
	for j, y := range ys {
		if stays[j] {
			v.partners[xs[to[j]].node.number] = y.node.number
		}
	}
}

// keysOf spells the keys of a node with their values.
func keysOf(w *view, n node) (string, error) {
	var text strings.Builder
	for _, name := range w.Keys(n) {
		value, err := w.attribute(n, name)
		if err != nil {
			return "", err
		}
		text.WriteString(name + "\x00" + value.Type().String() + value.Text() + "\x00")
	}
	return text.String(), nil
}

// keepAscending leaves, of the siblings that stay and have equal keys, those that no other one
// has passed.
func keepAscending(keys []string, to []int32, stays []bool) {
	classes := map[string][]int{}
	for j := range keys {
		if stays[j] {
			classes[keys[j]] = append(classes[keys[j]], j)
		}
	}
	for _, places := range classes {
		part := make([]int32, len(places))
		for k, j := range places {
			part[k] = to[j]
		}
		for k, ok := range align.Ascending(part) {
			stays[places[k]] = ok
		}
	}
}
