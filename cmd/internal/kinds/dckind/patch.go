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

// ApplyPatches applies patches to a data center that is being edited, one after the other.
// Each is an edit: nobody else edits between its judgement and its last change, and the
// journal has all of it or nothing. With dryRun nothing is changed. If a patch can't be
// applied, the results are those of the patches before it, which were.
func ApplyPatches(ctx context.Context, s *kinds.Source, patches []*patch.Patch, dryRun bool) ([]*patch.Result, error) {
	if s.Sessions == nil {
		return nil, kinds.ErrReadOnly
	}
	e, ok := s.Sessions[0].(*dataCenterSession)
	if !ok {
		return nil, kinds.ErrNoPatch
	}
	if dryRun {
		return e.judgePatches(ctx, patches)
	}
	results, err := applyPatches(ctx, e.first, e.dc.Draft(), patches, journal.MaxPayload)
	return results, errors.Join(err, e.dc.Sync())
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

// judgePatches finds out what applying patches would do. Each is judged against what those
// before it would leave, so they are applied to a second draft with the same edits.
func (s *dataCenterSession) judgePatches(ctx context.Context, patches []*patch.Patch) ([]*patch.Result, error) {
	snapshot := s.dc.Draft().View()
	defer snapshot.Close()
	same, err := patch.MakeDraft(ctx, snapshot, "")
	if err != nil {
		return nil, err
	}
	base := snapshot.Reader().Base()
	second, err := edit.NewDraft(base, nil)
	if err != nil {
		return nil, err
	}
	results, err := applyPatches(ctx, base, second, []*patch.Patch{same}, math.MaxInt64)
	if err == nil && results[0].Conflicts > 0 {
		err = errors.New("a dry run can't be made of these edits: commit them first")
	}
	if err != nil {
		return nil, err
	}
	return applyPatches(ctx, base, second, patches, math.MaxInt64)
}

// Patched returns a draft of the file with patches applied, one after the other. Nothing is
// written.
func (d *DataCenter) Patched(ctx context.Context, patches []*patch.Patch) (*edit.Draft, []*patch.Result, error) {
	draft, err := edit.NewDraft(d.dc, nil)
	if err != nil {
		return nil, nil, err
	}
	results, err := applyPatches(ctx, d.dc, draft, patches, math.MaxInt64)
	return draft, results, err
}

// CheckUnedited returns an error if somebody edits the data center, or if it has edits that
// are not saved.
func (d *DataCenter) CheckUnedited() error {
	if _, ok := d.file.(*source.File); !ok {
		return nil // nobody can edit it
	}
	return kinds.CheckUnedited(d.file.Path())
}
