package patch

import (
	"context"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
)

// Preference says whose value counts where patches want different ones. Without one nothing is decided.
type Preference struct {
	// Order has numbers of patches, [First] and [Last]. The first of them that decides counts.
	Order []int
	// Values are the numbers of patches for single values, by [Shared.String]. They precede Order.
	Values map[string]int
}

// First and Last prefer the first and the last of the patches that want something.
const (
	First = -1
	Last  = -2
)

// Settlement says what several patches have to do with the same values and nodes, and whose counts.
type Settlement struct {
	// Shared has all values and nodes that two patches or more are about, in the order of the first of them.
	Shared []Shared
	// Contested counts those of them that nothing decides.
	Contested int
	// yielded are the parts of each patch that another one's stand for, and why.
	yielded []map[part]string
}

// part is a part of a patch, as that of an [Item].
type part struct{ block, line int }

// Settle finds out what patches share that are to be applied one after the other, and decides where they want
// different things. newDraft makes drafts of a file, as what the patches are applied to; they are changed.
//
// Patches agree if they want the same, or if one expects what one before it leaves. A value that none of the
// patches finds as it expects it is not decided here: to apply them tells that.
func Settle(ctx context.Context, newDraft func() (*datacenter.File, *edit.Draft, error), patches []*Patch, prefer *Preference) (*Settlement, error) {
	s := &settling{patches: patches, prefer: prefer, yielded: make([]map[part]string, len(patches)), pairs: map[int]map[int][]int{}}
	for i := range s.yielded {
		s.yielded[i] = map[part]string{}
	}
	// Only what patches add is added for the next ones: so each is judged by the file, but finds the nodes of the others.
	results, err := applyAll(ctx, newDraft, patches, (*Result).unpaired)
	if err != nil {
		return nil, err
	}
	if err := removeAlone(ctx, newDraft, results); err != nil {
		return nil, err
	}
	for i, r := range results {
		s.gather(i, r)
	}
	s.chain()
	if s.anyShared() {
		// They may get on with each other in this order: one may move a node that the next one changes.
		if results, err = applyAll(ctx, newDraft, patches, func(r *Result) []edit.Edit { return r.Edits }); err != nil {
			return nil, err
		}
		s.conflicts = conflictsOf(results)
	}
	s.settleRemovals()
	s.settleValues()
	return s.settlement(), nil
}

// applyAll plans patches one after the other, and makes some of the edits of each before the next.
func applyAll(ctx context.Context, newDraft func() (*datacenter.File, *edit.Draft, error), patches []*Patch, edits func(*Result) []edit.Edit) ([]*Result, error) {
	f, d, err := newDraft()
	if err != nil {
		return nil, err
	}
	a := NewApplier(f, d)
	results := make([]*Result, len(patches))
	for i, p := range patches {
		err := d.ApplyPlan(ctx, nil, func() ([]edit.Edit, error) {
			r, err := a.Plan(ctx, p)
			if err != nil {
				return nil, err
			}
			results[i] = r
			return edits(r), nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return results, nil
}

// removeAlone judges what patches remove by the file alone, if it is another one only because of what others add to it.
func removeAlone(ctx context.Context, newDraft func() (*datacenter.File, *edit.Draft, error), results []*Result) error {
	for _, r := range results {
		refused := func(it Item) bool { return r.Patch.Blocks[it.Block].Kind == Remove && it.Outcome == Conflict }
		if !slices.ContainsFunc(r.Items, refused) {
			continue
		}
		alone, err := applyAll(ctx, newDraft, []*Patch{r.Patch}, func(*Result) []edit.Edit { return nil })
		if err != nil {
			return err
		}
		for i, it := range alone[0].Items { // which are those of the same parts
			if refused(r.Items[i]) && it.Node == r.Items[i].Node {
				r.Items[i] = it
			}
		}
	}
	return nil
}

// conflictsOf returns the parts of each patch that conflict.
func conflictsOf(results []*Result) []map[part]bool {
	all := make([]map[part]bool, len(results))
	for i, r := range results {
		all[i] = map[part]bool{}
		for _, it := range r.Items {
			if it.Outcome == Conflict {
				all[i][part{it.Block, it.Line}] = true
			}
		}
	}
	return all
}

// choose returns which of several sides counts, each of them the numbers of its patches, and the patch because of
// which it does. It returns -1 if nothing decides.
func (p *Preference) choose(value string, sides [][]int) (side, patch int) {
	if p == nil {
		return -1, -1
	}
	order := p.Order
	if of, ok := p.Values[value]; ok {
		order = append([]int{of}, order...)
	}
	for _, want := range order {
		switch want {
		case First:
			want = slices.Min(slices.Concat(sides...))
		case Last:
			want = slices.Max(slices.Concat(sides...))
		}
		if i := slices.IndexFunc(sides, func(side []int) bool { return slices.Contains(side, want) }); i >= 0 {
			return i, want
		}
	}
	return -1, -1
}

// Thin returns the i-th patch without the parts that another one's stand for.
func (s *Settlement) Thin(i int, p *Patch) *Patch {
	if len(s.yielded[i]) == 0 {
		return p
	}
	thin := *p
	thin.Blocks = nil
	for k, b := range p.Blocks {
		if b.Kind == Change {
			b.Lines = nil
			for l := range p.Blocks[k].Lines {
				if s.yielded[i][part{k, l}] == "" {
					b.Lines = append(b.Lines, p.Blocks[k].Lines[l])
				}
			}
		}
		if b.Kind == Change && b.Lines != nil || b.Kind != Change && s.yielded[i][part{k, 0}] == "" {
			thin.Blocks = append(thin.Blocks, b)
		}
	}
	return &thin
}

// Whole returns the result for the i-th patch, of what came of it without the parts that yielded.
func (s *Settlement) Whole(i int, p *Patch, thin *Result) *Result {
	if len(s.yielded[i]) == 0 {
		return thin
	}
	items := make([]Item, 0, len(thin.Items)+len(s.yielded[i]))
	rest := thin.Items // in the order of the blocks and their lines
	for k := range p.Blocks {
		parts := 1
		if p.Blocks[k].Kind == Change {
			parts = len(p.Blocks[k].Lines)
		}
		for l := range parts {
			it := Item{Outcome: Yielded, Reason: s.yielded[i][part{k, l}]}
			if it.Reason == "" && len(rest) > 0 {
				it, rest = rest[0], rest[1:]
			}
			it.Block, it.Line = k, l
			it.At = p.LineOf(&it)
			items = append(items, it)
		}
	}
	whole := NewResult(p, items)
	whole.Edits = thin.Edits
	return whole
}
