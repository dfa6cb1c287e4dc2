package dckind

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"lorefs/cmd/internal/kinds"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/internal/journal"
	"lorefs/internal/source"
)

// Reversed returns the patches that take back what patches do, the last one first.
func Reversed(patches []*patch.Patch) []*patch.Patch {
	reversed := make([]*patch.Patch, 0, len(patches))
	for _, p := range slices.Backward(patches) {
		reversed = append(reversed, p.Reverse())
	}
	return reversed
}

// Patching says which patches to apply, and how.
type Patching struct {
	// Patches are in the order in which they are applied.
	Patches []*patch.Patch
	// Prefer decides where patches want different things. What it leaves open is decided by nobody: then
	// nothing is changed.
	Prefer patch.Preference
	// Open applies the patches although they want different things: what comes later conflicts.
	Open bool
	// DryRun changes nothing.
	DryRun bool
}

// Patched is what came of patches.
type Patched struct {
	// Results are those of the patches. There are none if patches want different things, and nobody decides.
	Results []*patch.Result
	// Settlement says what patches share.
	*patch.Settlement
}

// ApplyPatches applies patches to a data center that is being edited, one after the other.
// Each is an edit: nobody else edits between its judgement and its last change, and the
// journal has all of it or nothing. If a patch can't be applied, the results are those of the
// patches before it, which were.
func ApplyPatches(ctx context.Context, s *kinds.Source, p *Patching) (*Patched, error) {
	if s.Sessions == nil {
		return nil, kinds.ErrReadOnly
	}
	e, ok := s.Sessions[0].(*dataCenterSession)
	if !ok {
		return nil, kinds.ErrNoPatch
	}
	if p.DryRun {
		base, second, err := e.second(ctx)
		if err != nil {
			return nil, err
		}
		return p.apply(ctx, base, second, e.second, math.MaxInt64)
	}
	done, err := p.apply(ctx, e.first, e.dc.Draft(), e.second, journal.MaxPayload)
	return done, errors.Join(err, e.dc.Sync())
}

// copier makes a draft of a file with the edits that another draft has.
type copier func(context.Context) (*datacenter.File, *edit.Draft, error)

// apply applies patches to a draft of a file, of which second makes copies. The record of a patch has most
// bytes at most.
func (p *Patching) apply(ctx context.Context, f *datacenter.File, d *edit.Draft, second copier, most int64) (*Patched, error) {
	done := &Patched{Settlement: &patch.Settlement{}}
	thin := p.Patches
	if len(p.Patches) > 1 {
		var err error
		copies := func() (*datacenter.File, *edit.Draft, error) { return second(ctx) }
		if done.Settlement, err = patch.Settle(ctx, copies, p.Patches, &p.Prefer); err != nil {
			return done, err
		}
		if done.Contested > 0 && !p.Open {
			return done, nil
		}
		thin = make([]*patch.Patch, len(p.Patches))
		for i, whole := range p.Patches {
			thin[i] = done.Thin(i, whole)
		}
	}
	results, err := applyPatches(ctx, f, d, thin, most)
	for i, r := range results {
		if len(p.Patches) > 1 {
			r = done.Whole(i, p.Patches[i], r)
		}
		done.Results = append(done.Results, r)
	}
	return done, err
}

// applyPatches applies patches to a draft of a file. The record of a patch has most bytes at
// most.
func applyPatches(ctx context.Context, f *datacenter.File, d *edit.Draft, patches []*patch.Patch, most int64) (results []*patch.Result, err error) {
	applier := patch.NewApplier(f, d)
	for _, p := range patches {
		var r *patch.Result
		err := d.ApplyPlan(ctx, nil, func() (edits []edit.Edit, err error) {
			if r, err = applier.Plan(ctx, p); err == nil {
				edits = r.Edits
			}
			if size := edit.RecordBound(edits); size > most {
				err = fmt.Errorf("it takes %d bytes of the journal, which has room for %d at once: apply it with --out, or in parts: %w",
					size, most, datacenter.ErrTooLarge)
			}
			return edits, err
		})
		if err != nil {
			return results, fmt.Errorf("%s: %w", p.Name, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// second returns a draft with the same edits as the one that is edited.
func (s *dataCenterSession) second(ctx context.Context) (*datacenter.File, *edit.Draft, error) {
	snapshot := s.dc.Draft().View()
	defer snapshot.Close()
	same, err := patch.MakeDraft(ctx, snapshot, "")
	if err != nil {
		return nil, nil, err
	}
	base := snapshot.Reader().Base()
	second, err := edit.NewDraft(base, nil)
	if err != nil {
		return nil, nil, err
	}
	results, err := applyPatches(ctx, base, second, []*patch.Patch{same}, math.MaxInt64)
	if err == nil && results[0].Conflicts > 0 {
		err = errors.New("patches can't be tried on these edits: commit them first")
	}
	return base, second, err
}

// Patched returns a draft of the file with patches applied, one after the other. Nothing is
// written.
func (d *DataCenter) Patched(ctx context.Context, p *Patching) (*edit.Draft, *Patched, error) {
	fresh := func(context.Context) (*datacenter.File, *edit.Draft, error) {
		draft, err := edit.NewDraft(d.dc, nil)
		return d.dc, draft, err
	}
	_, draft, err := fresh(ctx)
	if err != nil {
		return nil, nil, err
	}
	done, err := p.apply(ctx, d.dc, draft, fresh, math.MaxInt64)
	return draft, done, err
}

// CheckUnedited returns an error if somebody edits the data center, or if it has edits that
// are not saved.
func (d *DataCenter) CheckUnedited() error {
	if _, ok := d.file.(*source.File); !ok {
		return nil // nobody can edit it
	}
	return kinds.CheckUnedited(d.file.Path())
}
