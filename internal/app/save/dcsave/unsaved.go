package dcsave

import (
	"context"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/internal/app/save"
)

// DraftOf returns a draft of the data center dc with the unsaved edits of a journal. dc is what is
// at path, on which the edits were made. Nothing is locked or written.
func DraftOf(ctx context.Context, dc *datacenter.File, j *save.Journal, path string) (*edit.Draft, error) {
	d, err := edit.NewDraft(dc, nil)
	if err != nil {
		return nil, err
	}
	return d, j.UnsavedOf(path, func(string, []byte) {}, func(_ string, record []byte) error {
		return d.Replay(ctx, record)
	})
}
