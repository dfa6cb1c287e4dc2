package dctree

import (
	"context"
	"fmt"
	"math"

	"lorefs/datacenter"
	"lorefs/nodes"
)

// exchange swaps two nodes, or two attributes.
func (e *Editable) exchange(ctx context.Context, from, to *place) error {
	var err error
	switch {
	case from.IsDir() && to.IsDir():
		err = e.exchangeDirs(ctx, from, to)
	case from.IsDir() || to.IsDir() || e.isScratchFile(from) || e.isScratchFile(to):
		return fmt.Errorf("%w: only two nodes or two attributes can be exchanged", nodes.ErrInvalid)
	default:
		err = e.exchangeFiles(ctx, from, to)
	}
	return err
}

// asideOrdinal is where a node waits while another takes its place. No file
// has so many siblings, and childFile lets nobody ask for it.
const asideOrdinal = math.MaxInt32 + 1

func (e *Editable) exchangeDirs(ctx context.Context, from, to *place) error {
	fromName, fromOrdinal, err := e.childFile(from.Name)
	if err != nil {
		return err
	}
	toName, toOrdinal, err := e.childFile(to.Name)
	if err != nil {
		return err
	}
	move := func(n, parent datacenter.Number, name string, ordinal uint32) datacenter.Edit {
		return datacenter.Edit{Op: datacenter.MoveNode, Node: n, Parent: parent, Name: name, Ordinal: ordinal}
	}
	return refusal(e.apply(
		ctx,
		move(to.number(), to.dir, toName, asideOrdinal),
		move(from.number(), to.dir, toName, toOrdinal),
		move(to.number(), from.dir, fromName, fromOrdinal),
	))
}

// swapped is one side of an exchange of attributes.
type swapped struct {
	c      *content
	name   string
	marked bool
	value  datacenter.Value
}

func (e *Editable) exchangeFiles(ctx context.Context, from, to *place) error {
	f, err := e.swap(ctx, from, to)
	if err != nil {
		return err
	}
	t, err := e.swap(ctx, to, from)
	if err != nil {
		e.unswap(f)
		return err
	}
	set := func(n datacenter.Number, name string, s *swapped) datacenter.Edit {
		return datacenter.Edit{Op: datacenter.SetAttribute, Node: n, Name: name, Value: s.value, Attr: s.c.number}
	}
	err = e.apply(
		ctx,
		datacenter.Edit{Op: datacenter.RemoveAttribute, Node: from.dir, Name: f.name},
		datacenter.Edit{Op: datacenter.RemoveAttribute, Node: to.dir, Name: t.name},
		set(to.dir, t.name, f), set(from.dir, f.name, t),
	)
	if err != nil {
		e.unswap(f, t)
		return refusal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.marked[f.c.number], e.marked[t.c.number] = t.marked, f.marked
	f.c.dir, f.c.name, t.c.dir, t.c.name = to.dir, to.Name, from.dir, from.Name
	for _, s := range []*swapped{f, t} {
		s.c.typ = 0
		e.show(s.c, s.value)
		e.settle(s.c)
	}
	return nil
}

// swap looks at the attribute of one place, and reads the value that it has at
// another.
func (e *Editable) swap(ctx context.Context, at, other *place) (*swapped, error) {
	s := &swapped{}
	var err error
	if s.name, s.marked, err = e.attributeFile(at.Name); err != nil {
		return nil, err
	}
	if s.c, err = e.leave(ctx, at); err != nil {
		return nil, err
	}
	name, _, err := e.attributeFile(other.Name)
	var own datacenter.Type
	if err == nil {
		own, err = e.ownType(s.c)
	}
	if err == nil {
		s.value, err = e.valueAt(s.c, own, attributeKey{other.dir, name})
	}
	if err != nil {
		e.unswap(s)
	}
	return s, err
}

// unswap is the end of swap if nothing is swapped.
func (e *Editable) unswap(sides ...*swapped) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range sides {
		e.settle(s.c)
	}
}
