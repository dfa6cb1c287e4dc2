package main

import (
	"context"
	"errors"
	"log/slog"

	"lorefs/datacenter"
	"lorefs/internal/save"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// editable is an archive that can be edited.
type editable interface {
	// edit begins, and makes edits again that a crash has left behind. The mounts
	// are those of show, of trees that can be changed. Each editor saves its own; the
	// first is the source's.
	edit(ctx context.Context, o editOptions) ([]sourceEditor, []nodes.Mount, error)
}

// sourceEditor is a source that is being edited, or a part of it that is a source by
// itself.
type sourceEditor interface {
	// path is where what is saved lies.
	path() string
	// pending is how many edits are not saved yet, journal where they are: empty if
	// there are none.
	pending() int64
	journal() string
	// replayed is how many edits a crash had left behind.
	replayed() int
	// converts is the layout that saving makes of the source, empty if it stays.
	converts() string
	// refused are the texts that are nowhere else, as they were refused or could not be
	// written to the journal, and loose the other files that can't be saved: all by their
	// paths in the mount.
	refused() []editing.Refused
	loose() editing.Loose
	// save saves all edits. last tells that nobody is in the middle of some.
	save(ctx context.Context, last bool) (save.Report, error)
	Close() error
}

// editOptions are what edit is told.
type editOptions struct {
	// layout is that of the data center to write.
	layout   datacenter.Layout
	noBackup bool
	// salvage takes what is whole of a damaged journal.
	salvage bool
	// quality is that of compression, 0 for the best.
	quality int
	log     *slog.Logger
}

const helpQuality = "`quality` of the compression of edited zones and areas, 1 to 11 (default: 11, which takes up to half a minute for a zone)"

func checkQuality(quality int) error {
	if quality < 0 || quality > 11 {
		return usageErrorf("--quality %d: want 1 to 11", quality)
	}
	return nil
}

// closeEditors closes all.
func closeEditors(editors []sourceEditor) error {
	var errs []error
	for _, e := range editors {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}

// replayed is how many edits of all editors a crash had left behind.
func (s *opened) replayed() (count int) {
	for _, e := range s.editors {
		count += e.replayed()
	}
	return count
}

// edit makes what was opened editable.
func (s *opened) edit(ctx context.Context, o editOptions) error {
	a, ok := s.archive.(editable)
	if !ok {
		return usageErrorf("--rw: sources of the kind %s can't be edited", s.kind)
	}
	editors, mounts, err := a.edit(ctx, o)
	if err != nil {
		return explainSession(err)
	}
	s.editors = editors
	return s.mux(mounts)
}
