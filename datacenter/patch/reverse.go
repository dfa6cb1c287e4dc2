package patch

import (
	"slices"

	"lorefs/datacenter/query"
)

// Reverse gives the patch that takes back what p does.
func (p *Patch) Reverse() *Patch {
	r := &Patch{Name: p.Name, Header: p.Header, Notes: p.Notes}
	renamed := p.renamed()
	for i := range p.Blocks {
		b := p.Blocks[i]
		b.rename(renamed)
		b.Contexts = slices.Clone(b.Contexts)
		for k := range b.Contexts {
			b.Contexts[k].reverse()
		}
		switch b.Kind {
		case Change:
			b.Lines = slices.Clone(b.Lines)
			for k := range b.Lines {
				b.Lines[k].Old, b.Lines[k].New = b.Lines[k].New, b.Lines[k].Old
			}
		case Add:
			b.unadd()
		case Remove:
			b.unremove()
		}
		b.respell()
		r.Blocks = append(r.Blocks, b)
	}
	return r
}

// rename gives the steps of a block the values that they have once the patch is applied.
func (b *Block) rename(renamed map[string]query.PlainStep) {
	old, beside := b.Path.Steps, b.besidePath()
	b.Path.Steps = slices.Clone(old)
	for k := range old {
		if s, ok := renamed[string(query.AppendPlain(nil, old[:k+1]))]; ok {
			b.Path.Steps[k] = s
		}
	}
	if s, ok := renamed[beside]; ok {
		b.Beside.Step = s
	}
}

// besidePath returns the path of the sibling, or "" if none is known.
func (b *Block) besidePath() string {
	if b.Beside.Text == "" {
		return ""
	}
	parent := b.Path.Steps
	if b.Kind == Remove {
		parent = parent[:len(parent)-1]
	}
	return string(query.AppendPlain(nil, append(slices.Clone(parent), b.Beside.Step)))
}

// respell spells the path and the sibling by their steps.
func (b *Block) respell() {
	b.Path.Text = "/"
	if len(b.Path.Steps) > 0 {
		b.Path.Text = string(query.AppendPlain(nil, b.Path.Steps))
	}
	if b.Beside.Text != "" {
		b.Beside.Text = string(b.Beside.Step.Append(nil))
	}
}

// unadd makes of a block that adds a node one that removes it. What was the context of the node is that of
// its place.
func (b *Block) unadd() {
	s := query.PlainStep{Name: b.Node.Name, Conditions: given(b.Node.Keys, b.Node.Attributes)}
	last := len(b.Path.Steps)
	b.Contexts = slices.DeleteFunc(b.Contexts, func(c Context) bool { return c.At == BesideStep && c.Of == 0 })
	if c := b.contextOf(AddedNode); c != nil && c.N > 0 {
		s, c.Step = c.Step, query.PlainStep{}
		if c.At = last; last == 1 {
			s.NthOfAll = c.N
		} else {
			s.Nth = c.N
		}
		b.sortContexts()
	}
	b.Kind = Remove
	b.Path.Steps = append(b.Path.Steps, s)
}

// unremove makes of a block that removes a node one that adds it.
func (b *Block) unremove() {
	last := len(b.Path.Steps) - 1
	if c := b.contextOf(last); c != nil {
		if placeOf(&b.Path.Steps[last]) > 0 {
			s := b.Path.Steps[last]
			s.Nth, s.NthOfAll = 0, 0
			c.At, c.Step = AddedNode, s
		} else {
			b.Contexts = slices.DeleteFunc(b.Contexts, func(c Context) bool { return c.At == last })
		}
		b.sortContexts()
	}
	b.Kind = Add
	b.Path.Steps = b.Path.Steps[:last]
}

// sortContexts brings the contexts in their order.
func (b *Block) sortContexts() {
	order := func(c *Context) int {
		if c.At < 0 {
			return len(b.Path.Steps) + 1 - c.At
		}
		return c.At
	}
	slices.SortStableFunc(b.Contexts, func(x, y Context) int { return order(&x) - order(&y) })
}
