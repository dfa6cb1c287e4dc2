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
		b.Guards, b.Traits = slices.Clone(b.Guards), nil
		for k, g := range b.Guards {
			b.Guards[k] = Guard{Step: g.Step, N: g.NewN, Of: g.NewOf, NewN: g.N, NewOf: g.Of, Old: g.New, New: g.Old, Alone: ByGroup}
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

// pathPlaces counts the places in the path alone.
func (b *Block) pathPlaces() int {
	path := Block{Path: b.Path}
	return path.places()
}

// unadd makes of a block that adds a node one that removes it. What was the guard of its
// siblings is that of its place.
func (b *Block) unadd() {
	s := query.PlainStep{Name: b.Node.Name, Conditions: given(b.Node.Keys, b.Node.Attributes)}
	inPath, places := b.pathPlaces(), b.places()
	if len(b.Guards) > places && b.Guards[places].N > 0 {
		extra := b.Guards[places]
		if of, err := ParsePath("/" + extra.Step); err == nil && len(of.Steps) == 1 {
			s = of.Steps[0]
		}
		b.Guards = slices.Insert(b.Guards[:places], inPath, extra)
		if len(b.Path.Steps) == 1 {
			s.NthOfAll = extra.N
		} else {
			s.Nth = extra.N
		}
	}
	b.Kind = Remove
	b.Path.Steps = append(b.Path.Steps, s)
}

// unremove makes of a block that removes a node one that adds it.
func (b *Block) unremove() {
	last := len(b.Path.Steps) - 1
	if placeOf(&b.Path.Steps[last]) > 0 {
		if at := b.pathPlaces() - 1; at < len(b.Guards) {
			extra := b.Guards[at]
			b.Guards = append(slices.Delete(b.Guards, at, at+1), extra)
		}
	}
	b.Kind = Add
	b.Path.Steps = b.Path.Steps[:last]
}
