package main

import (
	"context"
	"errors"
	"fmt"

	"lorefs/datacenter"
	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/session"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/dctree"
)

// edit makes what was opened editable, and makes edits again that a crash has
// left behind.
func (s *opened) edit(ctx context.Context, o session.Options) error {
	d, err := s.dataCenter()
	if err != nil {
		return err
	}
	o.Reopen = func() datacenter.Options {
		opts := datacenter.Options{
			Keys: []datacenter.Key{d.dc.Key()}, Blocks: blockcache.New(reopenCache).View(), Logger: o.Logger,
		}
		if d.index != nil { // the next mount is of the new file
			opts.Index = d.index
		}
		return opts
	}
	if s.session, err = session.Open(ctx, d.file, d.dc, o); err != nil {
		return explainSession(err)
	}
	tree, err := d.tree()
	if err != nil {
		return err
	}
	s.editable = dctree.NewEditable(tree, s.session.Draft(), dctree.EditOptions{Sync: s.session.Sync})
	if err := d.makeSheets(s.session.Draft()); err != nil {
		return err
	}
	mounts, err := d.showWith(s.editable, d.sheetTree())
	if err != nil {
		return err
	}
	return s.mux(mounts)
}

// reopenCache is for reading back, once and in order, what was saved.
const reopenCache = 64 << 20

// explainSession says what can be done about a source that can't be edited.
func explainSession(err error) error {
	switch {
	case errors.Is(err, session.ErrStale):
		return &commandError{code: exitUnsaved, err: err, hint: "to have them back, put the file back that they were made on, " +
			"which may be the .bak; to give them up, use lorefs journal drop"}
	case errors.Is(err, filelock.ErrLocked):
		return &commandError{
			code: exitBusy, err: fmt.Errorf("somebody edits it already: %w", err),
			hint: "after umount(8) it is being saved for some seconds; lorefs unmount waits for that",
		}
	case errors.Is(err, journal.ErrDamaged):
		return &commandError{code: exitUnsaved, err: err, hint: "lorefs journal replay --salvage saves what lies before the damage; " +
			"lorefs journal drop gives all up"}
	}
	return &commandError{code: exitSource, err: err}
}
