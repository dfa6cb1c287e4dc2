package patch

import (
	"context"
	"fmt"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/query"
)

// Paths finds the paths of what was edited in a draft, as patches spell them. It is for one
// goroutine, and fast if it is asked for numbers that ascend.
type Paths struct {
	reader *edit.Reader
	view   *view
	base   *identity.FilePaths
}

// NewPaths makes one, which works until ctx ends or the Snapshot is closed.
func NewPaths(ctx context.Context, r *edit.Reader) (*Paths, error) {
	changed, err := r.ChangedAttributes()
	if err != nil {
		return nil, err
	}
	base, err := identity.NewFilePaths(ctx, r.Base(), func(number uint32) []string { return changed[edit.Number(number)] })
	return &Paths{reader: r, view: newView(ctx, r.First(), r), base: base}, err
}

// Base returns the path of a node of the base, by its number there.
func (p *Paths) Base(number edit.Number) (string, error) {
	way, err := p.base.Find(uint32(number))
	if err != nil {
		return "", err
	}
	return p.base.Expr(way)
}

// Node returns the path of a node of the draft. That of a node that the base has is the path
// in the base; to that of another one lead the path of its parent, and its keys or its id or
// else its place.
func (p *Paths) Node(n edit.Number) (string, error) {
	number, err := p.reader.Number(n)
	if err != nil {
		return "", err
	}
	if number <= datacenter.MaxEntries {
		return p.Base(number)
	}
	info, ok := p.reader.Node(n)
	if !ok {
		return "", fmt.Errorf("node %d: %w", n, edit.ErrGone)
	}
	path, err := p.Node(info.Parent)
	if err != nil {
		return "", err
	}
	if path == "/" {
		path = ""
	}
	step, err := p.step(n, &info)
	return path + "/" + string(step.Append(nil)), err
}

// step returns the step to a node from its parent.
func (p *Paths) step(n edit.Number, info *edit.Node) (s query.PlainStep, err error) {
	s.Name = info.Name
	list, err := p.view.attributes(node{number: n, touched: true})
	if err != nil {
		return s, err
	}
	if s.Conditions = given(info.Keys, list); len(s.Conditions) > 0 {
		return s, nil
	}
	place, siblings := 0, 0
	err = p.view.Children(node{number: info.Parent, touched: true}, func(name string, c node) {
		if name == info.Name {
			siblings++
		}
		if c.number == n {
			place = siblings
		}
	})
	if siblings > 1 {
		s.Nth = place
	}
	return s, err
}
