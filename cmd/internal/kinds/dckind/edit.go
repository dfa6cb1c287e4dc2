package dckind

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/save"
	"lorefs/cmd/internal/save/dcsave"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/internal/journal"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/dctree"
	"lorefs/nodes/keytree"
	"lorefs/nodes/overlay"
	"lorefs/nodes/sheettree"
)

// dataCenterSession is a data center that is being edited.
type dataCenterSession struct {
	file string
	// first is the file as it was when it was opened.
	first *datacenter.File
	dc    *dcsave.Session
	draftTrees
	// names says which sheets a folder of sheets/ holds.
	names *sheets.Source
	// layout is the layout to write.
	layout datacenter.Layout
}

// BeginEdits implements [kinds.Archive].
func (d *DataCenter) BeginEdits(ctx context.Context, o kinds.EditOptions) (sessions []kinds.Session, mounts []nodes.Mount, err error) {
	s, err := d.session(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	sessions = []kinds.Session{s}
	o.Source = "" // the geometry has a journal of its own
	w, err := d.editWorld(ctx, o)
	if err == nil {
		var world nodes.Tree
		if w != nil {
			sessions, world = append(sessions, w), w.Tree
		} else if d.world != nil {
			world = d.world.Tree
		}
		mounts, err = d.mountsWith(s.tree, s.sheets, world, s.keys)
	}
	if err != nil {
		return nil, nil, errors.Join(err, kinds.CloseSessions(sessions))
	}
	return sessions, mounts, nil
}

// session locks the file, and opens it for edits.
func (d *DataCenter) session(ctx context.Context, o kinds.EditOptions) (_ *dataCenterSession, err error) {
	file, ok := d.file.(*source.File)
	if !ok {
		return nil, kinds.Errorf("%s: %w", d.file.Path(), kinds.ErrNotLocal)
	}
	var carry func(from, to *datacenter.File, names []string) error
	if d.index != nil {
		carry = func(from, to *datacenter.File, names []string) error {
			return sheets.Carry(d.index, from, to, sheets.Conservative, names) // as makeSheets
		}
	}
	dc, err := dcsave.Open(ctx, file, d.dc, dcsave.Options{
		Carry: carry,
		Write: datacenter.WriteOptions{Layout: o.Layout}, NoBackup: o.NoBackup, Salvage: o.Salvage, Source: o.Source, Logger: o.Logger,
		Keys: d.keys, Spare: kinds.Sparing(d.blocks, d.dc.Size()),
		Reopen: func() datacenter.Options {
			opts := datacenter.Options{
				Keys: []datacenter.Key{d.dc.Key()}, Blocks: d.blocks.View(), Logger: o.Logger,
			}
			if d.index != nil { // the next mount opens the new file
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
			err = errors.Join(err, dc.Close())
		}
	}()
	trees, err := d.treesOf(dc.Draft(), dc.Sync, o.Logger)
	if err != nil {
		return nil, err
	}
	return &dataCenterSession{
		file: d.file.Path(), first: d.dc, dc: dc, draftTrees: trees, names: d.sheets, layout: o.Layout,
	}, nil
}

// Try shows the data center with edits that nobody logs or saves, and returns the draft that has them.
func (d *DataCenter) Try(s *kinds.Source) (*edit.Draft, error) {
	draft, err := edit.NewDraft(d.dc, nil)
	if err != nil {
		return nil, err
	}
	t, err := d.treesOf(draft, func() error { return nil }, d.log)
	if err != nil {
		return nil, err
	}
	mounts, err := d.mountsWith(t.tree, t.sheets, nil, t.keys)
	if err != nil {
		return nil, err
	}
	return draft, s.Show(mounts)
}

// draftTrees show a draft.
type draftTrees struct {
	tree   *dctree.Editable
	sheets *sheettree.Editable
	keys   *keytree.Tree
}

// treesOf makes the trees of a draft. sync syncs the journal of its edits.
func (d *DataCenter) treesOf(draft *edit.Draft, sync func() error, log *slog.Logger) (t draftTrees, err error) {
	tree, err := d.tree()
	if err != nil {
		return t, err
	}
	if err := d.makeSheets(draft); err != nil {
		return t, err
	}
	if t.keys, err = d.keyTree(draft); err != nil {
		return t, err
	}
	t.tree = dctree.NewEditable(tree, draft, dctree.EditOptions{Sync: sync, Check: d.CheckFile})
	t.sheets = sheettree.NewEditable(d.sheetTree(), draft, sheettree.EditOptions{
		EditOptions: overlay.EditOptions{Sync: sync, Check: d.CheckFile, Logger: log}, MaxRecord: journal.MaxPayload,
	})
	return t, nil
}

// ShowUnsaved implements [kinds.Archive].
func (d *DataCenter) ShowUnsaved(ctx context.Context) error {
	j, err := kinds.UnsavedOf(d.file.Path())
	if err == nil && j != nil {
		d.draft, err = dcsave.DraftOf(ctx, d.dc, j, d.file.Path())
	}
	if err == nil && d.world != nil {
		err = d.world.ShowUnsaved(ctx)
	}
	return err
}

// InPlace implements [kinds.Archive].
func (d *DataCenter) InPlace() error {
	err := kinds.InPlace(d.file)
	if err == nil && d.world != nil {
		err = d.world.InPlace()
	}
	return err
}

// SaveInMemory has the data center be what a save of its draft would write, which only differs in
// what nodes and sheets are called of which there are several. Queries, for example, need a file.
func (d *DataCenter) SaveInMemory(ctx context.Context) (done bool, err error) {
	if d.draft == nil {
		return false, nil
	}
	s := d.draft.Snapshot()
	defer s.Close()
	d.draft = nil
	var file bytes.Buffer
	if _, _, err = s.Splice(ctx, datacenter.WriteOptions{}, &file); err != nil && ctx.Err() == nil {
		file.Reset()
		_, err = s.Write(ctx, datacenter.WriteOptions{}, &file)
	}
	if err != nil {
		return false, err
	}
	d.index.Wait()
	d.index = nil // which is of the file on the disk
	d.file = &inMemory{bytes.NewReader(file.Bytes()), d.file}
	d.dc, err = datacenter.Open(ctx, d.reader(), d.file.Size(), datacenter.Options{
		Keys: []datacenter.Key{d.dc.Key()}, Blocks: d.blocks.View(), ModTime: d.file.ModTime(), Logger: d.log,
	})
	return true, err
}

// inMemory holds what a save of a file would write. It does not change when the file is saved.
type inMemory struct {
	*bytes.Reader
	of kinds.Original
}

func (m *inMemory) Path() string       { return m.of.Path() }
func (m *inMemory) ModTime() time.Time { return m.of.ModTime() }
func (m *inMemory) Check() error       { return nil }
func (m *inMemory) CheckNow() error    { return nil }
func (m *inMemory) Close() error       { return m.of.Close() }

// Unsaved implements [kinds.Archive].
func (d *DataCenter) Unsaved(ctx context.Context, j *save.Journal, path string) (kinds.Lister, error) {
	draft, err := dcsave.DraftOf(ctx, d.dc, j, path)
	return draftEdits{draft, j.Source}, err
}

func (s *dataCenterSession) Path() string    { return s.file }
func (s *dataCenterSession) Dir() string     { return "" }
func (s *dataCenterSession) Pending() int64  { return s.dc.Draft().Pending() }
func (s *dataCenterSession) Journal() string { return s.dc.Journal() }
func (s *dataCenterSession) Replayed() int   { return s.dc.Replayed() }
func (s *dataCenterSession) Discard() error  { return s.dc.Discard() }
func (s *dataCenterSession) Close() error    { return s.dc.Close() }

func (s *dataCenterSession) Converts() string {
	if s.dc.Converts() {
		return s.layout.String()
	}
	return ""
}

func (s *dataCenterSession) Open() []string {
	return append(kinds.PathsIn("tree/", s.tree.Unflushed()), kinds.PathsIn("sheets/", s.sheets.Unflushed())...)
}

func (s *dataCenterSession) Refused() []overlay.Refused {
	return kinds.RefusedIn("sheets/", s.sheets.Refused())
}

func (s *dataCenterSession) Loose() overlay.Loose {
	tree, sheets := kinds.LooseIn("tree/", s.tree.Loose()), kinds.LooseIn("sheets/", s.sheets.Loose())
	return overlay.Loose{
		Scratch: append(tree.Scratch, sheets.Scratch...), Strays: append(tree.Strays, sheets.Strays...),
	}
}

func (s *dataCenterSession) Notices() []string { return s.sheets.Notices() }

func (s *dataCenterSession) KeepPatch(changed error) string { return s.dc.KeepPatch(changed) }

// Save saves the draft. Only if no program is in the middle of an edit, attributes are removed that an editor has renamed to a scratch file in order to write them
// anew: if the process died in between, their values would be lost with the scratch file.
func (s *dataCenterSession) Save(ctx context.Context, how save.How, show func(save.Progress)) (save.Report, error) {
	if how.Last {
		err := s.sheets.RemoveHidden(ctx)
		if err == nil {
			err = s.tree.RemoveHidden(ctx)
		}
		if err != nil {
			return save.Report{}, err
		}
	}
	return s.dc.Save(ctx, how, show)
}
