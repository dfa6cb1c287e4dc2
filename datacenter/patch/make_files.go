package patch

import (
	"context"
	"fmt"

	"lorefs/datacenter"
	"lorefs/datacenter/diff"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/sheets"
)

// Make makes the patch that turns one data center into another one. base is what the header
// calls the first.
func Make(ctx context.Context, a, b *datacenter.File, base string) (*Patch, error) {
	return MakePart(ctx, a, b, base, Parts{})
}

// Parts tells which of two data centers are parts of others: all sheets of a name that they have none of are left
// alone.
type Parts = diff.Parts

// MakePart is Make for data centers that may be parts.
func MakePart(ctx context.Context, a, b *datacenter.File, base string, parts Parts) (*Patch, error) {
	m, err := newMaker(ctx, newView(ctx, a, nil), newView(ctx, b, nil))
	if err != nil {
		return nil, err
	}
	if err := diff.Visit(ctx, a, b, parts, fileVisitor{m}); err != nil {
		return nil, err
	}
	return m.patch(a, base)
}

// patch makes the patch of what was noted, with its header.
func (m *maker) patch(f *datacenter.File, base string) (*Patch, error) {
	p, err := m.blocks()
	if err == nil && base != "" {
		p.Header = append(p.Header, Field{"base", fmt.Sprintf("%s revision %d", base, f.Header().Revision)})
	}
	return p, err
}

// fileVisitor notes what differs between two files.
type fileVisitor struct{ *maker }

// way makes a way of nodes that are known by their numbers.
func (fileVisitor) way(w *view, from diff.Way) (way, error) {
	parent, err := w.file.Root()
	if err != nil {
		return nil, err
	}
	number := uint32(0)
	list := make(way, len(from))
	for i, s := range from {
		number = identity.NumberBelow(number, parent, s.Node)
		list[i] = wayStep{s.Node.Name(), s.Place, node{number: edit.Number(number), stored: s.Node}}
		parent = s.Node
	}
	return list, nil
}

// both gives two ways to what notes them.
func (v fileVisitor) both(a, b diff.Way, note func(old, now way) error) error {
	old, err := v.way(v.old.view, a)
	if err != nil {
		return err
	}
	now, err := v.way(v.now.view, b)
	if err != nil {
		return err
	}
	return note(old, now)
}

// Changed implements [diff.Visitor].
func (v fileVisitor) Changed(a, b diff.Way) error { return v.both(a, b, v.changed) }

// Removed implements [diff.Visitor].
func (v fileVisitor) Removed(a, parent diff.Way) error { return v.both(a, parent, v.removed) }

// Added implements [diff.Visitor].
func (v fileVisitor) Added(parent, b diff.Way) error { return v.both(parent, b, v.added) }

// Moved implements [diff.Visitor].
func (v fileVisitor) Moved(a, b diff.Way) error { return v.both(a, b, v.moved) }

// ElementOf returns a node of a file with all below it, as the block that removes it has it. It fails with
// [datacenter.ErrTooLarge] if that is more than a block can have.
func ElementOf(ctx context.Context, f *datacenter.File, n datacenter.Node) (*sheets.Element, error) {
	v, room := newView(ctx, f, nil), maxNode
	return v.element(n.Name(), node{stored: n}, &room)
}
