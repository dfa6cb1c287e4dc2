package dcsave

import (
	"context"
	"errors"

	"lorefs/cmd/internal/save"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/patch"
	"lorefs/internal/journal"
	"lorefs/internal/source"
)

// DraftOf returns a draft of the data center dc with the unsaved edits of a journal. dc is what is
// at path, on which the edits were made. Nothing is locked or written.
func DraftOf(ctx context.Context, dc *datacenter.File, j *save.Journal, path string) (*edit.Draft, error) {
	d, err := edit.NewDraft(dc, nil)
	if err != nil {
		return nil, err
	}
	return d, j.Unsaved(path, func(_ string, record []byte) error { return d.Replay(ctx, record) })
}

// withDraft calls use with a draft with the unsaved edits of a journal, which were made on the data
// center at the path base. If the journal is damaged, these are the edits before the damage, and the
// error says so.
func withDraft(j *save.Journal, base string, keys []datacenter.Key, use func(*edit.Draft) error) (err error) {
	ctx := context.Background()
	src, err := source.Open(base)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dc, err := datacenter.Open(ctx, src, src.Size(), datacenter.Options{Keys: keys})
	if err != nil {
		return err
	}
	d, err := DraftOf(ctx, dc, j, base)
	if err != nil && !errors.Is(err, journal.ErrDamaged) {
		return err
	}
	return errors.Join(use(d), err)
}

// countLeft counts the edits that are left of those in a journal, see [save.Kind].
func countLeft(j *save.Journal, base string) (left int, err error) {
	err = withDraft(j, base, nil, func(d *edit.Draft) error {
		left = int(d.Pending())
		return nil
	})
	if errors.Is(err, journal.ErrDamaged) {
		err = nil // the list says so
	}
	return left, err
}

// patchOf makes a patch of the unsaved edits of a journal, which were made on the data center at the
// path base.
func patchOf(j *save.Journal, base string, keys []datacenter.Key, name string) (p *patch.Patch, err error) {
	err = withDraft(j, base, keys, func(d *edit.Draft) (err error) {
		p, err = makePatch(d, name)
		return err
	})
	return p, err
}

// makePatch makes a patch of the edits of a draft.
func makePatch(d *edit.Draft, name string) (*patch.Patch, error) {
	s := d.View()
	defer s.Close()
	return patch.MakeDraft(context.Background(), s, name)
}
