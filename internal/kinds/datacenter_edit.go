package kinds

import (
	"context"
	"errors"

	"lorefs/datacenter"
	"lorefs/internal/journal"
	"lorefs/internal/save"
	"lorefs/internal/save/dcsave"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/dctree"
	"lorefs/nodes/overlay"
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
func (d *DataCenter) edit(ctx context.Context, o EditOptions) (editors []Editor, mounts []nodes.Mount, err error) {
	e, err := d.editor(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	editors = []Editor{e}
	w, err := d.editWorld(ctx, o)
	if err == nil {
		var world nodes.Tree
		if w != nil {
			editors, world = append(editors, w), w.tree
		} else if d.world != nil {
			world = d.world.tree
		}
		mounts, err = d.mountsWith(e.tree, e.sheets, world)
	}
	if err != nil {
		return nil, nil, errors.Join(err, closeEditors(editors))
	}
	return editors, mounts, nil
}

// editor makes the file editable.
func (d *DataCenter) editor(ctx context.Context, o EditOptions) (_ *dataCenterEditor, err error) {
	saved := blockcache.New(baseCache)
	s, err := dcsave.Open(ctx, d.file, d.dc, dcsave.Options{
		Write: datacenter.WriteOptions{Layout: o.Layout}, NoBackup: o.NoBackup, Salvage: o.Salvage, Logger: o.Logger,
		Reopen: func() datacenter.Options {
			opts := datacenter.Options{
				Keys: []datacenter.Key{d.dc.Key()}, Blocks: saved.View(), Logger: o.Logger,
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
	e := &dataCenterEditor{file: d.file.Path(), session: s, saved: saved, layout: o.Layout}
	e.tree = dctree.NewEditable(tree, s.Draft(), dctree.EditOptions{Sync: s.Sync, Check: d.CheckFile})
	e.sheets = sheettree.NewEditable(d.sheetTree(), s.Draft(), sheettree.EditOptions{
		Sync: s.Sync, Check: d.CheckFile, MaxRecord: journal.MaxPayload, Logger: o.Logger,
	})
	return e, nil
}

func (e *dataCenterEditor) Path() string    { return e.file }
func (e *dataCenterEditor) Pending() int64  { return e.session.Draft().Pending() }
func (e *dataCenterEditor) Journal() string { return e.session.Journal() }
func (e *dataCenterEditor) Replayed() int   { return e.session.Replayed() }
func (e *dataCenterEditor) Close() error    { return e.session.Close() }

func (e *dataCenterEditor) Converts() string {
	if e.session.Converts() {
		return e.layout.String()
	}
	return ""
}

func (e *dataCenterEditor) Refused() []overlay.Refused {
	return refusedIn("sheets/", e.sheets.Refused())
}

func (e *dataCenterEditor) Loose() overlay.Loose {
	tree, sheets := looseIn("tree/", e.tree.Loose()), looseIn("sheets/", e.sheets.Loose())
	return overlay.Loose{
		Scratch: append(tree.Scratch, sheets.Scratch...), Strays: append(tree.Strays, sheets.Strays...),
	}
}

// refusedIn and looseIn put a directory of the mount in front of paths.
func refusedIn(dir string, texts []overlay.Refused) []overlay.Refused {
	for i := range texts {
		texts[i].Path = dir + texts[i].Path
	}
	return texts
}

func looseIn(dir string, l overlay.Loose) overlay.Loose {
	for _, list := range [][]string{l.Scratch, l.Strays} {
		for i := range list {
			list[i] = dir + list[i]
		}
	}
	return l
}

func (e *dataCenterEditor) Notices() []string { return e.sheets.Notices() }

func (e *dataCenterEditor) KeepText(changed error) string { return e.session.KeepText(changed) }

// Save saves the draft. An attribute that an editor has renamed to a scratch file, to write it
// anew, goes only if nobody is in the middle of that: if the process died before it is written,
// all of it would be lost with the scratch file.
func (e *dataCenterEditor) Save(ctx context.Context, last bool) (save.Report, error) {
	if last {
		err := e.sheets.RemoveHidden(ctx)
		if err == nil {
			err = e.tree.RemoveHidden(ctx)
		}
		if err != nil {
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
