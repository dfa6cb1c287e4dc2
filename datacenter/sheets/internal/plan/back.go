package plan

import (
	"cmp"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/internal/align"
	"lorefs/datacenter/sheets/internal/vocab"
)

// Nodes that were removed from the sheet, and that the text has again: somebody takes a removal back
// in an editor, or puts an earlier text in the sheet.

// removedKid is a child that was removed and can come back, with its place in the base.
type removedKid struct {
	oldKid
	slot
}

// removedKids returns the children that were removed from a node, in their order.
func (p *planner) removedKids(x oldNode) (map[vocab.NameID][]removedKid, error) {
	if x.removed || !x.touched {
		return nil, nil //nolint:nilnil // they are as the base has them
	}
	entries := p.draft.Removed(x.number)
	slices.SortStableFunc(entries, func(a, b edit.Entry) int { return cmp.Compare(a.Rank, b.Rank) })
	kids := map[vocab.NameID][]removedKid{}
	for i := range entries {
		e := &entries[i]
		o, err := p.oldNode(e.Number, e.Addr, true)
		if err != nil {
			return nil, err
		}
		name := p.names.stored(e.NameIndex, e.Name)
		kids[name] = append(kids[name], removedKid{oldKid{name, o}, slot{ordinal: e.Ordinal, rank: e.Rank}})
	}
	return kids, nil
}

// identityKey tells siblings apart: a hash of their keys, of their id, or of all they have.
type identityKey struct {
	isWhole bool
	hash    uint64
}

// identityOf returns the identity of a node.
func (p *planner) identityOf(y newRef, keys datacenter.KeyDefinition) (identityKey, error) {
	if len(keys) == 0 {
		keys = datacenter.KeyDefinition{"id"}
	}
	h, has, err := identity.HashValues(tree{p}, y, keys)
	if err != nil || has {
		return identityKey{hash: h}, err
	}
	h, err = p.contents.Hash(y)
	return identityKey{true, h}, err
}

// returning finds out which removed siblings come back.
type returning struct {
	p *planner
	*siblings
	keys   datacenter.KeyDefinition
	places map[edit.Number]slot
	// from is the inverse of to. there has the identities of the siblings that match nothing so far,
	// and gone the removed siblings.
	from  []int32
	there map[identityKey]bool
	gone  map[identityKey][]removedKid
}

// bringBack matches nodes of the text with removed nodes that have the same identity, unless a node that
// is there has it, too.
func (p *planner) bringBack(s *siblings, keys datacenter.KeyDefinition) error {
	removed, err := s.removed()
	if err != nil || len(removed[s.name]) == 0 {
		return err
	}
	r := returning{
		p: p, siblings: s, keys: keys, from: make([]int32, len(s.ys)),
		there: map[identityKey]bool{}, gone: map[identityKey][]removedKid{},
	}
	if r.places, err = p.places(s); err != nil {
		return err
	}
	if err := r.identify(removed[s.name]); err != nil {
		return err
	}
	back, err := r.match()
	if err == nil && len(back) > 0 {
		err = r.keepOrder(back)
	}
	return err
}

// identify fills in from, there and gone.
func (r *returning) identify(removed []removedKid) error {
	for j := range r.from {
		r.from[j] = align.None
	}
	for i, x := range r.xs {
		if j := r.to[i]; j != align.None {
			r.from[j] = int32(i)
			continue
		}
		k, err := r.p.identityOf(newRef{at: -1, old: x.oldNode}, r.keys)
		if err != nil {
			return err
		}
		r.there[k] = true
	}
	for _, x := range removed {
		k, err := r.p.identityOf(newRef{at: -1, old: x.oldNode}, r.keys)
		if err != nil {
			return err
		}
		r.gone[k] = append(r.gone[k], x)
	}
	return nil
}

// match matches removed siblings, and returns the places in ys of those that come back. Of several that
// are alike, the first one comes back that keeps the order.
func (r *returning) match() (back []int, err error) {
	low := uint64(0)
	for j, y := range r.ys {
		if i := r.from[j]; i != align.None {
			low = r.places[r.xs[i].number].rank
			continue
		}
		k, err := r.p.identityOf(y.newRef, r.keys)
		if err != nil {
			return nil, err
		}
		alike := r.gone[k]
		if r.there[k] || len(alike) == 0 {
			continue
		}
		n := max(slices.IndexFunc(alike, func(x removedKid) bool { return x.rank > low }), 0)
		x := alike[n]
		r.gone[k] = slices.Delete(alike, n, n+1)
		r.from[j], low, back = int32(len(r.xs)), x.rank, append(back, j)
		r.xs, r.to = append(r.xs, x.oldKid), append(r.to, int32(j))
		r.p.restore(x.oldNode, r.parent.number)
	}
	return back, nil
}

// keepOrder makes nodes that are equal change places, so that none has to move that need not. back
// are the places in ys of those that come back.
func (r *returning) keepOrder(back []int) error {
	groups, isBack := map[uint64][]int{}, make([]bool, len(r.ys))
	for _, j := range back {
		isBack[j] = true
		x, y, err := r.hashes(j)
		if err != nil {
			return err
		}
		if x == y {
			groups[y] = append(groups[y], j)
		}
	}
	for j, y := range r.ys {
		if y.at >= 0 || r.from[j] == align.None || len(groups) == 0 || isBack[j] {
			continue
		}
		h, err := r.p.contents.Hash(y.newRef)
		if err != nil {
			return err
		}
		if len(groups[h]) > 0 {
			groups[h] = append(groups[h], j)
		}
	}
	for _, group := range groups {
		slices.Sort(group)
		xs := make([]int32, len(group))
		for n, j := range group {
			xs[n] = r.from[j]
		}
		slices.SortFunc(xs, func(a, b int32) int {
			return cmp.Compare(r.places[r.xs[a].number].rank, r.places[r.xs[b].number].rank)
		})
		for n, j := range group {
			r.from[j], r.to[xs[n]] = xs[n], int32(j)
		}
	}
	return nil
}

// hashes returns the hashes of a node of the text and of what belongs to it.
func (r *returning) hashes(j int) (x, y uint64, err error) {
	x, err = r.p.contents.Hash(newRef{at: -1, old: r.xs[r.from[j]].oldNode})
	if err == nil {
		y, err = r.p.contents.Hash(r.ys[j].newRef)
	}
	return x, y, err
}
