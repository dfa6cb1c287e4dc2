package main

import (
	"context"
	"errors"
	"fmt"

	"lorefs/datacenter"
	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/save"
	"lorefs/internal/save/dcsave"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/dctree"
	"lorefs/nodes/editing"
	"lorefs/nodes/sheettree"
)

// dataCenterEditor is a data center that is being edited.
type dataCenterEditor struct {
	file    string
	session *dcsave.Session
	tree    *dctree.Editable
	sheets  *sheettree.Editable
	// saved are the blocks of files that were saved. The last of them stays open.
	saved *blockcache.Cache
	// layout is the one to write.
	layout datacenter.Layout
}

// edit makes the data center editable.
func (d *dataCenter) edit(ctx context.Context, o editOptions) (editors []sourceEditor, mounts []nodes.Mount, err error) {
	e, err := d.editor(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	editors = []sourceEditor{e}
	w, err := d.editWorld(ctx, o)
	if err == nil {
		var world nodes.Tree
		if w != nil {
			editors, world = append(editors, w), w.tree
		} else if d.world != nil {
			world = d.world.tree
		}
		mounts, err = d.showWith(e.tree, e.sheets, world)
	}
	if err != nil {
		return nil, nil, errors.Join(err, closeEditors(editors))
	}
	return editors, mounts, nil
}

// editor makes the file editable.
func (d *dataCenter) editor(ctx context.Context, o editOptions) (_ *dataCenterEditor, err error) {
	saved := blockcache.New(baseCache)
	s, err := dcsave.Open(ctx, d.file, d.dc, dcsave.Options{
		Write: datacenter.WriteOptions{Layout: o.layout}, NoBackup: o.noBackup, Salvage: o.salvage, Logger: o.log,
		Reopen: func() datacenter.Options {
			opts := datacenter.Options{
				Keys: []datacenter.Key{d.dc.Key()}, Blocks: saved.View(), Logger: o.log,
			}
			if d.index != nil { // the next mount is of the new file
				opts.Index = d.index
			}
			return opts
		},
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	tree, err := d.tree()
	if err != nil {
		return nil, err
	}
	if err := d.makeSheets(s.Draft()); err != nil {
		return nil, err
	}
	e := &dataCenterEditor{file: d.file.Path(), session: s, saved: saved, layout: o.layout}
	e.tree = dctree.NewEditable(tree, s.Draft(), dctree.EditOptions{Sync: s.Sync, Check: d.unchangedNow})
	e.sheets = sheettree.NewEditable(d.sheetTree(), s.Draft(), sheettree.EditOptions{
		Editor: e.tree, Sync: s.Sync, Check: d.unchangedNow, MaxRecord: journal.MaxPayload, Logger: o.log,
	})
	return e, nil
}

func (e *dataCenterEditor) path() string    { return e.file }
func (e *dataCenterEditor) pending() int64  { return e.session.Draft().Pending() }
func (e *dataCenterEditor) journal() string { return e.session.Journal() }
func (e *dataCenterEditor) replayed() int   { return e.session.Replayed() }
func (e *dataCenterEditor) Close() error    { return e.session.Close() }

func (e *dataCenterEditor) converts() string {
	if e.session.Converts() {
		return e.layout.String()
	}
	return ""
}

func (e *dataCenterEditor) refused() []editing.Refused {
	return refusedIn("sheets/", e.sheets.Refused())
}

func (e *dataCenterEditor) loose() editing.Loose {
	tree, sheets := looseIn("tree/", e.tree.Loose()), looseIn("sheets/", e.sheets.Loose())
	return editing.Loose{
		Scratch: append(tree.Scratch, sheets.Scratch...), Strays: append(tree.Strays, sheets.Strays...),
	}
}

// refusedIn and looseIn put a directory of the mount in front of paths.
func refusedIn(dir string, texts []editing.Refused) []editing.Refused {
	for i := range texts {
		texts[i].Path = dir + texts[i].Path
	}
	return texts
}

func looseIn(dir string, l editing.Loose) editing.Loose {
	for _, list := range [][]string{l.Scratch, l.Strays} {
		for i := range list {
			list[i] = dir + list[i]
		}
	}
	return l
}

func (e *dataCenterEditor) notices() []string { return e.sheets.Notices() }

func (e *dataCenterEditor) keepText(changed error) string { return e.session.KeepText(changed) }

// save saves the draft. An attribute that an editor has renamed to a scratch file, to write it
// anew, goes only if nobody is in the middle of that: if the process died before it is written,
// all of it would be lost with the scratch file.
func (e *dataCenterEditor) save(ctx context.Context, last bool) (save.Report, error) {
	if last {
		if err := e.sheets.RemoveHidden(ctx); err != nil {
			return save.Report{}, err
		}
	}
	defer e.saved.SetBudget(e.saved.SetBudget(reopenCache))
	return e.session.Save(ctx)
}

const (
	// reopenCache is for reading back, once and in order, what was saved.
	reopenCache = 64 << 20
	// baseCache is for what of that is read when it is edited: little, in one place.
	baseCache = 4 << 20
)

// isUnsupported tells of an error whether it is about a journal of a later version.
func isUnsupported(err error) bool {
	_, ok := errors.AsType[*journal.UnsupportedError](err)
	return ok
}

// explainSession says what can be done about a source that can't be edited.
func explainSession(err error) error {
	if _, told := errors.AsType[*commandError](err); told {
		return err
	}
	switch {
	case errors.Is(err, save.ErrStale):
		hint := "to have them back, put the file back that they were made on"
		if stale, ok := errors.AsType[*save.StaleError](err); ok && stale.Backup != "" {
			hint += ", which is " + stale.Backup
		}
		return &commandError{code: exitUnsaved, err: err, hint: hint + "; to give them up, use lorefs journal drop"}
	case errors.Is(err, filelock.ErrLocked):
		return &commandError{
			code: exitBusy, err: fmt.Errorf("somebody edits it already: %w", err),
			hint: "after umount(8) it is being saved for some seconds; lorefs unmount waits for that",
		}
	case isUnsupported(err):
		return &commandError{code: exitUnsaved, err: err, hint: "a later version of lorefs wrote the journal, which is kept: use that one"}
	case errors.Is(err, journal.ErrDamaged):
		return &commandError{code: exitUnsaved, err: err, hint: "all of it is kept; lorefs journal replay --salvage saves what lies before the damage, " +
			"and keeps the rest beside the journal; lorefs journal drop gives all up"}
	}
	return &commandError{code: exitSource, err: err}
}
